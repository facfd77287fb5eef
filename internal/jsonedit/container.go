package jsonedit

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tolerant takes what RFC 8259 leaves open and RFC 7493 forbids.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// container is an object or a list of a document, or the document around its
// only value.
type container struct {
	kind   jsontext.Kind
	open   int    // the offset behind the opening bracket
	parts  []part // as far as they can be read
	closed bool   // the closing bracket was found
}

// root is the kind of the document itself. Its part has no name.
const root = jsontext.KindInvalid

// part is a member of an object, or an element of a list: its name is then its
// index. All offsets are in the document.
type part struct {
	name            string
	from, value, to int // where the part begins, where its value begins, where both end
}

// whole is the document as the container of its value.
func whole(doc []byte) container {
	c := container{kind: root, closed: true}
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), tolerant)
	if from, to, _, ok := next(dec, 0); ok {
		c.parts = []part{{from: from, value: from, to: to}}
	} else if kind := jsontext.Value(doc).Kind(); kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		c.parts = []part{{to: len(doc)}} // it breaks off
	}
	return c
}

// inside reads the parts of the value of a part. A value that is neither an
// object nor a list has none.
func inside(doc []byte, at part) container {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc[at.value:at.to:at.to]), tolerant)
	c := container{kind: dec.PeekKind()}
	if c.kind != jsontext.KindBeginObject && c.kind != jsontext.KindBeginArray {
		return c
	}
	if _, err := dec.ReadToken(); err != nil {
		return c
	}
	c.open = at.value + int(dec.InputOffset())
	for {
		switch dec.PeekKind() {
		case jsontext.KindEndObject, jsontext.KindEndArray:
			_, err := dec.ReadToken()
			c.closed = err == nil
			return c
		}
		p, ok := c.next(dec, at.value)
		if !ok {
			return c
		}
		c.parts = append(c.parts, p)
	}
}

func (c *container) next(dec *jsontext.Decoder, base int) (p part, ok bool) {
	var raw jsontext.Value
	p.name = strconv.Itoa(len(c.parts))
	p.from, p.to, raw, ok = next(dec, base)
	p.value = p.from
	if ok && c.kind == jsontext.KindBeginObject {
		name, _ := jsontext.AppendUnquote(nil, raw) // the error is about bad UTF-8
		p.name = string(name)
		p.value, p.to, _, ok = next(dec, base)
	}
	return p, ok
}

// next is where the next value or name is, counted from base.
func next(dec *jsontext.Decoder, base int) (from, to int, raw jsontext.Value, ok bool) {
	raw, err := dec.ReadValue()
	to = base + int(dec.InputOffset())
	return to - len(raw), to, raw, err == nil
}

func (c *container) has(name string) bool {
	_, ok := c.last(name)
	return ok
}

// last is the part of a name that counts.
func (c *container) last(name string) (p part, ok bool) {
	for i := len(c.parts) - 1; i >= 0; i-- {
		if c.parts[i].name == name {
			return c.parts[i], true
		}
	}
	return p, false
}
