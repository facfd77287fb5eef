package events

import (
	"encoding/binary"
	"math/bits"
)

// splitter finds the members of an object in one pass without allocating. Its methods
// consume what they name and return false for what is no JSON and for rare forms (escaped
// keys, surrogates, deep nesting): parser.exact decides about those.
type splitter struct {
	data []byte
	pos  int
}

// deepest is how deep values may be nested here.
const deepest = 64

// whole consumes an object that is all of the data.
func (s *splitter) whole(o *object) bool {
	if !s.byte('{') {
		return false
	}
	if s.byte('}') {
		return s.pos == len(s.data)
	}
	for {
		s.next()
		from := s.pos
		plain, ok := s.text()
		if !ok || !plain {
			return false
		}
		k, known := keys[string(s.data[from+1:s.pos-1])]
		if !s.byte(':') {
			return false
		}
		s.next()
		from = s.pos
		if !s.value(0) {
			return false
		}
		if known { // the last one counts
			o[k] = s.data[from:s.pos:s.pos]
		}
		if !s.byte(',') {
			return s.byte('}') && s.pos == len(s.data)
		}
	}
}

// next is the first byte behind white space, 0 at the end.
func (s *splitter) next() byte {
	for ; s.pos < len(s.data); s.pos++ {
		if c := s.data[s.pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *splitter) byte(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

func (s *splitter) value(depth int) bool {
	switch c := s.next(); c {
	case '"':
		_, ok := s.text()
		return ok
	case '{', '[':
		s.pos++
		return depth < deepest && s.list(c+2, depth+1) // '{'+2 is '}', '['+2 is ']'
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// list consumes what is between brackets or braces, and the one that ends it.
func (s *splitter) list(end byte, depth int) bool {
	if s.byte(end) {
		return true
	}
	for {
		if end == '}' {
			s.next()
			if _, ok := s.text(); !ok || !s.byte(':') {
				return false
			}
		}
		if !s.value(depth) {
			return false
		}
		if !s.byte(',') {
			return s.byte(end)
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// text consumes a string; a plain one has no escape. It looks at eight bytes at once:
// the lowest bit that is set is that of the first quote, backslash or control character.
func (s *splitter) text() (plain, ok bool) {
	if s.pos == len(s.data) || s.data[s.pos] != '"' {
		return false, false
	}
	s.pos++
	for plain = true; ; {
		for len(s.data)-s.pos >= 8 {
			x := binary.LittleEndian.Uint64(s.data[s.pos:])
			quote, slash := x^'"'*ones, x^'\\'*ones
			stops := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs
			if stops != 0 {
				s.pos += bits.TrailingZeros64(stops) / 8
				break
			}
			s.pos += 8
		}
		if s.pos == len(s.data) {
			return false, false
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return plain, true
		case c == '\\':
			if plain = false; !s.escape() {
				return false, false
			}
		case c < ' ':
			return false, false
		default:
			s.pos++
		}
	}
}

func (s *splitter) escape() bool {
	rest := s.data[s.pos+1:]
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		if len(rest) < 5 {
			return false
		}
		for _, c := range rest[1:5] {
			if c-'0' > 9 && c|' '-'a' > 5 {
				return false
			}
		}
		s.pos += 6
		return rest[1]|' ' != 'd' || rest[2] < '8' // others are surrogates
	}
	return false
}

func (s *splitter) word(w string) bool {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *splitter) number() bool {
	s.accept('-', '-')
	if !s.accept('0', '0') && !s.digits() {
		return false
	}
	if s.accept('.', '.') && !s.digits() {
		return false
	}
	if s.accept('e', 'E') {
		_ = s.accept('+', '-')
		return s.digits()
	}
	return true
}

func (s *splitter) accept(a, b byte) bool {
	if s.pos == len(s.data) || s.data[s.pos] != a && s.data[s.pos] != b {
		return false
	}
	s.pos++
	return true
}

func (s *splitter) digits() bool {
	from := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > from
}
