// Package jsonedit changes single values of stored JSON and leaves every other
// byte as it is: white space, forms of numbers and escapes, unknown members.
//
// It takes what decoders of stored text take: doubled names, of which the last
// one counts, text that is no Unicode, the numbers of Python's json (NaN), and a
// document that breaks off, as far as it goes.
package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
)

// ShowNUL is JSON in which each escape of U+0000 is text that shows it.
func ShowNUL(doc []byte) []byte {
	var shown []byte
	for i := 0; i < len(doc); i++ {
		if doc[i] == '\\' && i+1 < len(doc) {
			if bytes.HasPrefix(doc[i:], []byte(`\u0000`)) {
				shown = append(shown, '\\')
			}
			shown = append(shown, doc[i])
			i++
		}
		shown = append(shown, doc[i])
	}
	return shown
}

// SetValue gives the value at a JSON pointer (RFC 6901) another JSON value. An object
// that lacks the member gets it as its last one; a value of nil removes the
// member, or the element of a list. Of doubled names all get the value, so that
// readers for which the first one counts see it too. The document itself stays
// unchanged. The error is about a pointer that leads nowhere or a value that is
// no JSON.
func SetValue(doc []byte, pointer string, value []byte) ([]byte, error) {
	if value != nil && !isJSON(value) {
		return nil, fmt.Errorf("the new value of %q is no JSON", pointer)
	}
	in, name, err := findHolder(doc, pointer)
	if err != nil {
		return nil, err
	}
	switch {
	case !in.hasPart(name):
		if value == nil || in.kind != jsontext.KindBeginObject || !in.closed {
			return nil, nothingAt(pointer)
		}
		return in.addMember(doc, name, value), nil
	case value == nil && in.kind == root:
		return nil, fmt.Errorf("a document cannot lose its only value")
	case value == nil:
		return in.removeParts(doc, name), nil
	}
	return in.replaceParts(doc, name, value), nil
}

// RawValue is the stored text of the value at a JSON pointer; false when there is
// none. It is a part of doc, not a copy.
func RawValue(doc []byte, pointer string) ([]byte, bool) {
	in, name, err := findHolder(doc, pointer)
	if err != nil {
		return nil, false
	}
	at, ok := in.lastPart(name)
	return doc[at.value:at.to:at.to], ok
}

// ReplaceMembers gives members of an object other values: with returns nil for those that stay.
// What is no object stays as it is.
func ReplaceMembers(doc []byte, with func(name string, value []byte) []byte) []byte {
	masked := jsonscan.MaskNaN(doc)
	document := wholeDocument(masked)
	whole, ok := document.lastPart("")
	if !ok {
		return doc
	}
	in := readInside(masked, whole)
	if in.kind != jsontext.KindBeginObject {
		return doc
	}
	for _, p := range slices.Backward(in.parts) {
		if value := with(p.name, doc[p.value:p.to:p.to]); value != nil {
			doc = spliceBytes(doc, p.value, p.to, value)
		}
	}
	return doc
}

func nothingAt(pointer string) error {
	return fmt.Errorf("the document has no place for a value at %q", pointer)
}

// findHolder finds the innermost container on the way of a pointer, and the name that
// the value has in it.
func findHolder(doc []byte, pointer string) (in container, name string, err error) {
	if !jsontext.Pointer(pointer).IsValid() {
		return in, "", fmt.Errorf("%q is no JSON pointer", pointer)
	}
	doc = jsonscan.MaskNaN(doc)
	in = wholeDocument(doc)
	for inner := range jsontext.Pointer(pointer).Tokens() {
		at, ok := in.lastPart(name)
		if !ok {
			return in, "", nothingAt(pointer)
		}
		in, name = readInside(doc, at), inner
	}
	return in, name, nil
}

func (c *container) replaceParts(doc []byte, name string, value []byte) []byte {
	for _, p := range slices.Backward(c.parts) {
		if p.name == name {
			doc = spliceBytes(doc, p.value, p.to, value)
		}
	}
	return doc
}

// removeParts takes the parts of a name out, each with the comma before it, and the
// first one with the comma behind it.
func (c *container) removeParts(doc []byte, name string) []byte {
	stays := func(p part) bool { return p.name != name }
	first := slices.IndexFunc(c.parts, stays)
	for i, p := range slices.Backward(c.parts) {
		switch {
		case stays(p):
		case first < 0: // nothing stays: the white space at both ends does
			return spliceBytes(doc, c.parts[0].from, c.parts[i].to, nil)
		case i > first:
			doc = spliceBytes(doc, c.parts[i-1].to, p.to, nil)
		default:
			return spliceBytes(doc, c.parts[0].from, c.parts[first].from, nil)
		}
	}
	return doc
}

func (c *container) addMember(doc []byte, name string, value []byte) []byte {
	at, comma := c.open, ""
	if n := len(c.parts); n > 0 {
		at, comma = c.parts[n-1].to, ","
	}
	member := []byte(comma)
	member, _ = jsontext.AppendQuote(member, name) // the error is about bad UTF-8: it is replaced
	return spliceBytes(doc, at, at, slices.Concat(member, []byte(":"), value))
}

// spliceBytes is a copy of doc with other bytes in a place.
func spliceBytes(doc []byte, from, to int, with []byte) []byte {
	return slices.Concat(doc[:from], with, doc[to:])
}

// tolerant takes what RFC 8259 leaves open and RFC 7493 forbids.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func isJSON(value []byte) bool { return jsontext.Value(jsonscan.MaskNaN(value)).IsValid(tolerant) }

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

// wholeDocument is the document as the container of its value.
func wholeDocument(doc []byte) container {
	s := jsonscan.NewScanner(doc)
	if raw, usual := s.ReadValue(); usual {
		from := s.Pos - len(raw)
		return container{kind: root, closed: true, parts: []part{{from: from, value: from, to: s.Pos}}}
	}
	return decodeDocument(doc)
}

func decodeDocument(doc []byte) container {
	c := container{kind: root, closed: true}
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), tolerant)
	if from, to, _, ok := nextValue(dec, 0); ok {
		c.parts = []part{{from: from, value: from, to: to}}
	} else if kind := jsontext.Value(doc).Kind(); kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		c.parts = []part{{to: len(doc)}} // it breaks off
	}
	return c
}

// readInside reads the parts of the value of a part. A value that is neither an
// object nor a list has none.
func readInside(doc []byte, at part) container {
	if c, usual := scanInside(doc, at); usual {
		return c
	}
	return decodeInside(doc, at)
}

func decodeInside(doc []byte, at part) container {
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
		p, ok := c.nextPart(dec, at.value)
		if !ok {
			return c
		}
		c.parts = append(c.parts, p)
	}
}

// scanInside is readInside for an object in the usual forms of JSON, and several times as fast.
func scanInside(doc []byte, at part) (c container, usual bool) {
	s := jsonscan.NewScanner(doc[at.value:at.to])
	if s.PeekByte() != '{' {
		return c, false
	}
	c = container{kind: jsontext.KindBeginObject, open: at.value + s.Pos + 1}
	for closed := byte(0); closed != '}'; closed = s.PeekByte() {
		s.Pos++
		if s.PeekByte() == '}' && len(c.parts) == 0 {
			break
		}
		p := part{from: at.value + s.Pos}
		name, plain, ok := s.ReadText()
		if p.name = string(name); !ok || !plain || s.PeekByte() != ':' {
			return c, false
		}
		s.Pos++
		s.PeekByte()
		p.value = at.value + s.Pos
		_, ok = s.ReadValue()
		if p.to = at.value + s.Pos; !ok || s.PeekByte() != ',' && s.PeekByte() != '}' {
			return c, false
		}
		c.parts = append(c.parts, p)
	}
	c.closed = true
	return c, s.IsUnicode()
}

func (c *container) nextPart(dec *jsontext.Decoder, base int) (p part, ok bool) {
	var raw jsontext.Value
	p.name = strconv.Itoa(len(c.parts))
	p.from, p.to, raw, ok = nextValue(dec, base)
	p.value = p.from
	if ok && c.kind == jsontext.KindBeginObject {
		name, _ := jsontext.AppendUnquote(nil, raw) // the error is about bad UTF-8
		p.name = string(name)
		p.value, p.to, _, ok = nextValue(dec, base)
	}
	return p, ok
}

// nextValue is where the next value or name is, counted from base.
func nextValue(dec *jsontext.Decoder, base int) (from, to int, raw jsontext.Value, ok bool) {
	raw, err := dec.ReadValue()
	to = base + int(dec.InputOffset())
	return to - len(raw), to, raw, err == nil
}

func (c *container) hasPart(name string) bool {
	_, ok := c.lastPart(name)
	return ok
}

// lastPart is the part of a name that counts.
func (c *container) lastPart(name string) (p part, ok bool) {
	for i := len(c.parts) - 1; i >= 0; i-- {
		if c.parts[i].name == name {
			return c.parts[i], true
		}
	}
	return p, false
}

// Index finds many values of one document: what Raw reads for each of them from the
// start, it reads once. It is not safe for concurrent use.
type Index struct {
	doc    []byte
	masked []byte // the same with numbers of JSON alone
	inside map[jsontext.Pointer]*container
}

// NewIndex is the index of a document, which must not change as long as it is used.
func NewIndex(doc []byte) *Index {
	return &Index{doc: doc, masked: jsonscan.MaskNaN(doc), inside: map[jsontext.Pointer]*container{}}
}

// Raw is what the function Raw gives for the document.
func (x *Index) Raw(pointer string) ([]byte, bool) {
	at, ok := part{}, jsontext.Pointer(pointer).IsValid()
	if ok {
		at, ok = x.findPart(jsontext.Pointer(pointer))
	}
	return x.doc[at.value:at.to:at.to], ok
}

// findPart finds where the value at a pointer is.
func (x *Index) findPart(pointer jsontext.Pointer) (part, bool) {
	if pointer == "" {
		return x.containerAt("", func() container { return wholeDocument(x.masked) }).lastPart("")
	}
	holder, name := pointer.Parent(), pointer.LastToken()
	in := x.containerAt(holder+"/", func() container {
		at, ok := x.findPart(holder)
		if !ok {
			return container{}
		}
		return readInside(x.masked, at)
	})
	if n, err := strconv.Atoi(name); err == nil && in.kind == jsontext.KindBeginArray && n >= 0 && n < len(in.parts) && in.parts[n].name == name {
		return in.parts[n], true
	}
	return in.lastPart(name)
}

// containerAt is one that is read at its first use; the key is the pointer of its value
// with a slash behind it, and "" for the document itself.
func (x *Index) containerAt(key jsontext.Pointer, read func() container) *container {
	known := x.inside[key]
	if known == nil {
		c := read()
		known = &c
		x.inside[key] = known
	}
	return known
}

// ReplaceValues gives several values of a document others while it is read once: with has
// them by the JSON pointers of what they replace, all of which are texts, numbers or
// literals that are there. Of doubled names all get the value. The error is about a
// document that is no JSON or breaks off, a pointer that leads nowhere, or a value that
// is no JSON.
func ReplaceValues(doc []byte, with map[string][]byte) ([]byte, error) {
	for pointer, value := range with {
		if !isJSON(value) {
			return nil, fmt.Errorf("the new value of %q is no JSON", pointer)
		}
	}
	var out []byte
	found, copied := map[string]bool{}, 0
	dec := jsontext.NewDecoder(bytes.NewReader(jsonscan.MaskNaN(doc)), tolerant)
	for {
		value, err := nextScalar(dec)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the document is no JSON from byte %d on", dec.InputOffset())
		}
		if value == nil {
			continue
		}
		pointer := string(dec.StackPointer())
		if other, ok := with[pointer]; ok {
			end := int(dec.InputOffset())
			out = append(append(out, doc[copied:end-len(value)]...), other...)
			found[pointer], copied = true, end
		}
	}
	for pointer := range with {
		if !found[pointer] {
			return nil, nothingAt(pointer)
		}
	}
	return append(out, doc[copied:]...), nil
}

// nextScalar reads on by one token, and gives it back where it is a value of its own;
// brackets and the names of members are none.
func nextScalar(dec *jsontext.Decoder) (jsontext.Value, error) {
	in, length := dec.StackIndex(dec.StackDepth())
	isName := in == jsontext.KindBeginObject && length%2 == 0
	switch dec.PeekKind() {
	case jsontext.KindString, jsontext.KindNumber, jsontext.KindNull, jsontext.KindTrue, jsontext.KindFalse:
		if !isName {
			return dec.ReadValue()
		}
	}
	_, err := dec.ReadToken()
	return nil, err
}

// IsWhole reports whether data is one JSON object, list or text from its first byte to its
// last: then nothing of it was lost, whatever it says. Numbers and words say nothing of
// that, and a text that is no Unicode was damaged. Names may come twice.
func IsWhole(data []byte) bool {
	value := jsontext.Value(jsonscan.MaskNaN(data))
	switch value.Kind() {
	case jsontext.KindBeginObject, jsontext.KindBeginArray, jsontext.KindString:
		return value.IsValid(jsontext.AllowDuplicateNames(true))
	}
	return false
}

// Requote is a JSON string that held one document and is to hold another one, both of
// them read already. What the documents have in common keeps its escapes: Python's
// json.dumps writes others than Go does.
func Requote(quoted, was, is []byte) []byte {
	before, after := tokenSpans(was), tokenSpans(is)
	if len(before) != len(after) { // more than single values differ
		before, after = []token{{0, len(was)}}, []token{{0, len(is)}}
	}
	at := escapeOffsets(quoted, len(was))
	text, copied := []byte{}, 0
	for i := range before {
		old, now := was[before[i].from:before[i].to], is[after[i].from:after[i].to]
		first, last := commonEdges(old, now)
		if first == len(old) && first == len(now) {
			continue
		}
		with, _ := jsontext.AppendQuote(nil, now[first:len(now)-last]) // of a document that was read
		text = append(append(text, quoted[copied:at[before[i].from+first]]...), with[1:len(with)-1]...)
		copied = at[before[i].to-last]
	}
	return append(text, quoted[copied:]...)
}

// escapeOffsets are the offsets in a JSON string of the bytes of its text, and of its end.
// All bytes of a character that is escaped have the offset of that.
func escapeOffsets(quoted []byte, length int) []int {
	at := make([]int, 0, length+1)
	for i := 1; i < len(quoted)-1; {
		next, bytes := i+1, 1
		if quoted[i] == '\\' {
			next, bytes = escapeEnd(quoted, i)
		}
		for range bytes {
			at = append(at, i)
		}
		i = next
	}
	return append(at, len(quoted)-1)
}

// escapeEnd is where the escape at an offset ends, and how many bytes it stands for.
func escapeEnd(quoted []byte, i int) (next, bytes int) {
	const unit = len(`\u0000`)
	if quoted[i+1] != 'u' {
		return i + len(`\n`), 1
	}
	text, err := jsontext.AppendUnquote(nil, append(append([]byte{'"'}, quoted[i:i+unit]...), '"'))
	if err == nil {
		return i + unit, len(text)
	}
	return i + 2*unit, utf8.UTFMax // the first half of a surrogate pair, the other one behind it
}

// token is where a token of a document is, with what stands before it.
type token struct{ from, to int }

func tokenSpans(doc []byte) (list []token) {
	dec := jsontext.NewDecoder(bytes.NewReader(jsonscan.MaskNaN(doc)), tolerant)
	from := 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return append(list, token{from, len(doc)})
		}
		to := int(dec.InputOffset())
		list, from = append(list, token{from, to}), to
	}
}

// commonEdges are how many bytes two texts have in common at their beginnings and, besides,
// at their ends, in whole characters.
func commonEdges(a, b []byte) (first, last int) {
	shorter := min(len(a), len(b))
	for first < shorter && a[first] == b[first] {
		first++
	}
	for first > 0 && (first < len(a) && !utf8.RuneStart(a[first]) || first < len(b) && !utf8.RuneStart(b[first])) {
		first--
	}
	for last < shorter-first && a[len(a)-1-last] == b[len(b)-1-last] {
		last++
	}
	for last > 0 && !utf8.RuneStart(a[len(a)-last]) {
		last--
	}
	return first, last
}
