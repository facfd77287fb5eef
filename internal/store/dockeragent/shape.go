package dockeragent

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/session"
)

// shape is the type that a value must have to decode. nil takes every value.
type shape struct {
	kind    reflect.Kind
	element *shape  // of a list
	fields  []field // of an object
}

type field struct {
	key   string
	shape *shape
}

// The shapes of the objects whose other keys are only checked.
var (
	messageShape  = shapeOf(reflect.TypeFor[chatMessage]())
	partShape     = shapeOf(reflect.TypeFor[chatMessagePart]())
	imageShape    = shapeOf(reflect.TypeFor[chatMessageImageURL]())
	fileShape     = shapeOf(reflect.TypeFor[chatMessageFile]())
	callShape     = shapeOf(reflect.TypeFor[toolsToolCall]())
	functionShape = shapeOf(reflect.TypeFor[toolsFunctionCall]())
	usageShape    = shapeOf(reflect.TypeFor[chatUsage]())

	definitionShape = shapeOf(reflect.TypeFor[toolsTool]())
)

func shapeOf(t reflect.Type) *shape {
	if t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return nil
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Slice:
		return &shape{kind: reflect.Slice, element: shapeOf(t.Elem())}
	case reflect.Struct:
		sh := &shape{kind: reflect.Struct}
		for i := range t.NumField() {
			f := t.Field(i)
			sh.fields = append(sh.fields, field{f.Tag.Get("json"), shapeOf(f.Type)})
		}
		return sh
	}
	return &shape{kind: t.Kind()}
}

// fieldShape is the shape below a key. It is false for a key that differs from a
// known one in case only: encoding/json takes the one for the other.
func (sh *shape) fieldShape(key []byte) (*shape, bool) {
	for i := range sh.fields {
		if sh.fields[i].key == string(key) {
			return sh.fields[i].shape, true
		}
	}
	for i := range sh.fields {
		if strings.EqualFold(sh.fields[i].key, viewString(key)) {
			return nil, false
		}
	}
	return nil, true
}

// skipMember consumes the value of a key that the record does not need.
func (s *scanner) skipMember(sh *shape, key []byte) bool {
	below, ok := sh.fieldShape(key)
	return ok && s.unknown(key, below)
}

// unknown consumes the value of a key that may be any.
func (s *scanner) unknown(key []byte, sh *shape) bool {
	for _, c := range key {
		if classes[c] != ordinary || c >= utf8.RuneSelf {
			s.met |= irregular
		}
	}
	return s.skipValue(sh)
}

// skipValue consumes a value of the shape. null fits everywhere: it leaves the
// decoder's zero value as it is.
func (s *scanner) skipValue(sh *shape) bool {
	first := s.PeekByte()
	if first == 'n' {
		return s.ReadWord("null")
	}
	if sh == nil {
		return s.skipAny(first)
	}
	var flag bool
	var number int64
	switch sh.kind {
	case reflect.String:
		_, _, ok := s.readString()
		return ok
	case reflect.Bool:
		return s.readBool(&flag)
	case reflect.Int64:
		return s.readInteger(&number)
	case reflect.Slice:
		return s.VisitElements(func() bool { return s.skipValue(sh.element) })
	case reflect.Struct:
		return s.VisitMembers(func(key []byte) bool { return s.skipMember(sh, key) })
	}
	return false
}

// skipAny consumes a value of any type. As encoding/json does for an interface, it
// refuses numbers that no float64 can hold.
func (s *scanner) skipAny(first byte) bool {
	switch first {
	case '"':
		_, _, ok := s.readString()
		return ok
	case '{':
		return s.VisitMembers(func(key []byte) bool { return s.unknown(key, nil) })
	case '[':
		return s.VisitElements(func() bool { return s.skipValue(nil) })
	case 't':
		return s.ReadWord("true")
	case 'f':
		return s.ReadWord("false")
	}
	var number float64
	return s.readFloat(&number)
}

// definitionCache holds the last tool definitions that were checked. They fill
// much of a store and say the same in message after message.
type definitionCache [64][]byte

// maxDefinition is the size in bytes up to which a definition is kept.
const maxDefinition = 16 << 10

// consumeDefinition consumes a tool definition. An object says itself where it ends,
// so bytes that begin with a checked one need no second look.
func (d *decoder) consumeDefinition() bool {
	s := &d.scan
	s.PeekByte()
	from, rest := s.Pos, s.Data[s.Pos:]
	start := rest[:min(len(rest), 64)]
	known := &d.definitions[uint64(session.DigestOf(start))%uint64(len(d.definitions))]
	if len(*known) > 0 && bytes.HasPrefix(rest, *known) {
		s.Pos += len(*known)
	} else if !s.skipValue(definitionShape) {
		return false
	} else if size := s.Pos - from; size <= maxDefinition {
		*known = append((*known)[:0], rest[:size]...)
	}
	d.defined = append(d.defined, [2]int{from, s.Pos})
	return true
}
