// Package jsonedit changes single values of stored JSON and leaves every other
// byte as it is: white space, forms of numbers and escapes, unknown members.
//
// It takes what decoders of stored text take: doubled names, of which the last
// one counts, text that is no Unicode, and a document that breaks off, as far as
// it goes.
package jsonedit

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Set gives the value at a JSON pointer (RFC 6901) another JSON value. An object
// that lacks the member gets it as its last one; a value of nil removes the
// member, or the element of a list. Of doubled names all get the value, so that
// readers for which the first one counts see it too. The document itself stays
// unchanged. The error is about a pointer that leads nowhere or a value that is
// no JSON.
func Set(doc []byte, pointer string, value []byte) ([]byte, error) {
	if value != nil && !jsontext.Value(value).IsValid(tolerant) {
		return nil, fmt.Errorf("the new value of %q is no JSON", pointer)
	}
	in, name, err := holder(doc, pointer)
	if err != nil {
		return nil, err
	}
	switch {
	case !in.has(name):
		if value == nil || in.kind != jsontext.KindBeginObject || !in.closed {
			return nil, nothingAt(pointer)
		}
		return in.add(doc, name, value), nil
	case value == nil && in.kind == root:
		return nil, fmt.Errorf("a document cannot lose its only value")
	case value == nil:
		return in.remove(doc, name), nil
	}
	return in.replace(doc, name, value), nil
}

// Raw is the stored text of the value at a JSON pointer; false when there is
// none. It is a part of doc, not a copy.
func Raw(doc []byte, pointer string) ([]byte, bool) {
	in, name, err := holder(doc, pointer)
	if err != nil {
		return nil, false
	}
	at, ok := in.last(name)
	return doc[at.value:at.to:at.to], ok
}

func nothingAt(pointer string) error {
	return fmt.Errorf("the document has no place for a value at %q", pointer)
}

// holder is the innermost container on the way of a pointer, and the name that
// the value has in it.
func holder(doc []byte, pointer string) (in container, name string, err error) {
	if !jsontext.Pointer(pointer).IsValid() {
		return in, "", fmt.Errorf("%q is no JSON pointer", pointer)
	}
	in = whole(doc)
	for inner := range jsontext.Pointer(pointer).Tokens() {
		at, ok := in.last(name)
		if !ok {
			return in, "", nothingAt(pointer)
		}
		in, name = inside(doc, at), inner
	}
	return in, name, nil
}

func (c *container) replace(doc []byte, name string, value []byte) []byte {
	for _, p := range slices.Backward(c.parts) {
		if p.name == name {
			doc = splice(doc, p.value, p.to, value)
		}
	}
	return doc
}

// remove takes the parts of a name out, each with the comma before it, and the
// first one with the comma behind it.
func (c *container) remove(doc []byte, name string) []byte {
	stays := func(p part) bool { return p.name != name }
	first := slices.IndexFunc(c.parts, stays)
	for i, p := range slices.Backward(c.parts) {
		switch {
		case stays(p):
		case first < 0: // nothing stays: the white space at both ends does
			return splice(doc, c.parts[0].from, c.parts[i].to, nil)
		case i > first:
			doc = splice(doc, c.parts[i-1].to, p.to, nil)
		default:
			return splice(doc, c.parts[0].from, c.parts[first].from, nil)
		}
	}
	return doc
}

func (c *container) add(doc []byte, name string, value []byte) []byte {
	at, comma := c.open, ""
	if n := len(c.parts); n > 0 {
		at, comma = c.parts[n-1].to, ","
	}
	member := []byte(comma)
	member, _ = jsontext.AppendQuote(member, name) // the error is about bad UTF-8: it is replaced
	return splice(doc, at, at, slices.Concat(member, []byte(":"), value))
}

// splice is a copy of doc with other bytes in a place.
func splice(doc []byte, from, to int, with []byte) []byte {
	return slices.Concat(doc[:from], with, doc[to:])
}
