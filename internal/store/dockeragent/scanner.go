package dockeragent

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// scanner reads JSON in one pass without allocating. Its methods consume what
// they name, after white space, and return false both for what is no JSON and
// for forms that they leave to the exact path; the caller gives up at once.
type scanner struct {
	data []byte
	pos  int
}

// next is the first byte behind white space, 0 at the end.
func (s *scanner) next() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.pos++
	}
	return 0
}

func (s *scanner) atEnd() bool { return s.next() == 0 && s.pos == len(s.data) }

func (s *scanner) consume(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

// members calls visit behind each key of an object, to consume the value. Keys
// with escapes are left to the exact path.
func (s *scanner) members(visit func(key []byte) bool) bool {
	if !s.consume('{') {
		return false
	}
	if s.consume('}') {
		return true
	}
	for {
		key, form, ok := s.str()
		if !ok || form&escaped != 0 || !s.consume(':') || !visit(key[1:len(key)-1]) {
			return false
		}
		if !s.consume(',') {
			return s.consume('}')
		}
	}
}

// elements calls visit before each element of an array, to consume it.
func (s *scanner) elements(visit func() bool) bool {
	if !s.consume('[') {
		return false
	}
	if s.consume(']') {
		return true
	}
	for {
		if !visit() {
			return false
		}
		if !s.consume(',') {
			return s.consume(']')
		}
	}
}

// strictBase64 takes each sequence of bytes in one form only.
var strictBase64 = base64.StdEncoding.Strict()

// base64 consumes a string in the one form of base64 that Go writes. It is tried
// out in pieces of 1 KB.
func (s *scanner) base64(to *[]byte) bool {
	if !s.plain(to) {
		return false
	}
	rest := *to
	var buf [768]byte
	for len(rest) > 1024 {
		if n, err := strictBase64.Decode(buf[:], rest[:1024]); err != nil || n < len(buf) {
			return false
		}
		rest = rest[1024:]
	}
	_, err := strictBase64.Decode(buf[:], rest)
	return err == nil
}

func (s *scanner) word(w string) bool {
	if s.next() == 0 || len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *scanner) boolean(to *bool) bool {
	*to = s.next() == 't'
	return *to && s.word("true") || s.word("false")
}

// number consumes a number; a whole one has neither fraction nor exponent.
func (s *scanner) number() (raw []byte, whole, ok bool) {
	s.next()
	start := s.pos
	s.accept("-")
	if !s.accept("0") && !s.digits() {
		return nil, false, false
	}
	whole = true
	if s.accept(".") {
		whole = false
		if !s.digits() {
			return nil, false, false
		}
	}
	if s.accept("eE") {
		whole = false
		s.accept("+-")
		if !s.digits() {
			return nil, false, false
		}
	}
	return s.data[start:s.pos], whole, true
}

// accept consumes one byte of the set, if one of them is next.
func (s *scanner) accept(set string) bool {
	if s.pos == len(s.data) || strings.IndexByte(set, s.data[s.pos]) < 0 {
		return false
	}
	s.pos++
	return true
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start
}

// integer consumes a whole number, short enough that it cannot overflow.
func (s *scanner) integer(to *int64) bool {
	raw, whole, ok := s.number()
	if !ok || !whole || len(raw) > 18 {
		return false
	}
	n, err := strconv.ParseInt(view(raw), 10, 64)
	*to = n
	return err == nil
}

func (s *scanner) float(to *float64) bool {
	raw, _, ok := s.number()
	if !ok {
		return false
	}
	n, err := strconv.ParseFloat(view(raw), 64)
	*to = n
	return err == nil
}
