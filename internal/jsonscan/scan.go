// Package jsonscan reads JSON in one pass without allocating, for decoders that need few of
// the members that they pass over. It knows the usual forms alone: what it refuses may be
// sound, so that a decoder that takes all of JSON has to look at that.
package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner is a place in a JSON text. Its methods consume what they name, after white
// space, and return false both for what is no JSON and for rare forms: names with escapes,
// half a surrogate pair, deep nesting. Then the caller gives up. What they return is a part
// of the text.
type Scanner struct {
	Data []byte
	Pos  int // the offset of what comes next
	// Spaced: there was white space between values.
	Spaced bool

	depth int
	seen  uint64 // all bytes of strings in one: whether some were beyond ASCII
}

// NewScanner is a Scanner at the start of a text.
func NewScanner(data []byte) Scanner { return Scanner{Data: data} }

// IsUsualJSON reports whether a text is JSON in usual forms: false says nothing.
func IsUsualJSON(text []byte) bool {
	s := NewScanner(text)
	_, ok := s.ReadValue()
	return ok && s.IsAtEnd() && s.IsUnicode()
}

// deepest is how deep values may be nested.
const deepest = 64

// IsAtEnd reports whether only white space is left.
func (s *Scanner) IsAtEnd() bool { return s.PeekByte() == 0 && s.Pos == len(s.Data) }

// IsUnicode reports whether all strings so far were valid UTF-8. It looks at the text itself
// only where one had bytes beyond ASCII.
func (s *Scanner) IsUnicode() bool { return s.seen&highs == 0 || utf8.Valid(s.Data[:s.Pos]) }

// PeekByte is the first byte behind white space, 0 at the end. It consumes only white space.
func (s *Scanner) PeekByte() byte {
	for ; s.Pos < len(s.Data); s.Pos++ {
		if c := s.Data[s.Pos]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
		s.Spaced = true
	}
	return 0
}

func (s *Scanner) consumeByte(c byte) bool {
	if s.PeekByte() != c {
		return false
	}
	s.Pos++
	return true
}

// VisitMembers consumes an object. It calls visit behind each name, to consume the value.
func (s *Scanner) VisitMembers(visit func(name []byte) bool) bool {
	if s.depth == deepest || !s.consumeByte('{') {
		return false
	}
	if s.consumeByte('}') {
		return true
	}
	s.depth++
	for {
		name, plain, ok := s.ReadText()
		if !ok || !plain || !s.consumeByte(':') || !visit(name) {
			return false
		}
		if !s.consumeByte(',') {
			s.depth--
			return s.consumeByte('}')
		}
	}
}

// VisitElements consumes an array. It calls visit before each element, to consume it.
func (s *Scanner) VisitElements(visit func() bool) bool {
	if s.depth == deepest || !s.consumeByte('[') {
		return false
	}
	if s.consumeByte(']') {
		return true
	}
	s.depth++
	for {
		if !visit() {
			return false
		}
		if !s.consumeByte(',') {
			s.depth--
			return s.consumeByte(']')
		}
	}
}

// ReadValue consumes any value and returns its text.
func (s *Scanner) ReadValue() (raw []byte, ok bool) {
	s.PeekByte()
	from := s.Pos
	ok = s.passValue()
	return s.Data[from:s.Pos:s.Pos], ok
}

// passValue consumes any value.
func (s *Scanner) passValue() bool {
	switch c := s.PeekByte(); c {
	case '"':
		_, _, ok := s.ReadText()
		return ok
	case '{', '[':
		return s.passList(c + 2) // '{'+2 is '}', '['+2 is ']'
	case 't':
		return s.ReadWord("true")
	case 'f':
		return s.ReadWord("false")
	case 'n':
		return s.ReadWord("null")
	}
	_, _, ok := s.ReadNumber()
	return ok
}

// passList consumes an object or an array, by the byte that ends it.
func (s *Scanner) passList(end byte) bool {
	s.Pos++
	if s.consumeByte(end) {
		return true
	}
	if s.depth++; s.depth > deepest {
		return false
	}
	for {
		if end == '}' {
			if _, _, ok := s.ReadText(); !ok || !s.consumeByte(':') {
				return false
			}
		}
		if !s.passValue() {
			return false
		}
		if !s.consumeByte(',') {
			s.depth--
			return s.consumeByte(end)
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// ReadText consumes a string and returns what is between the quotes, which is the text itself
// where it is plain, that is without an escape.
func (s *Scanner) ReadText() (inner []byte, plain, ok bool) {
	if !s.consumeByte('"') {
		return nil, false, false
	}
	from := s.Pos
	for plain = true; ; plain = false {
		switch s.passPlain() {
		case '"':
			s.Pos++
			return s.Data[from : s.Pos-1 : s.Pos-1], plain, true
		case '\\':
			if s.passEscape() {
				continue
			}
		}
		return nil, false, false
	}
}

// AppendText consumes a string and appends what it says.
func (s *Scanner) AppendText(to []byte) (_ []byte, ok bool) {
	if !s.consumeByte('"') {
		return to, false
	}
	for {
		from := s.Pos
		end := s.passPlain()
		to = append(to, s.Data[from:s.Pos]...)
		switch from = s.Pos; end {
		case '"':
			s.Pos++
			return to, true
		case '\\':
			if s.passEscape() {
				to = appendUnescaped(to, s.Data[from:s.Pos])
				continue
			}
		}
		return to, false
	}
}

// passPlain passes over the plain characters of a string and returns the one that ends them: a
// quote, a backslash or a control character, 0 at the end. It looks at eight bytes at once:
// the lowest bit that is set is that of the first one.
func (s *Scanner) passPlain() byte {
	var seen uint64
	for len(s.Data)-s.Pos >= 8 {
		x := binary.LittleEndian.Uint64(s.Data[s.Pos:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		stops := ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs
		seen |= x
		if stops != 0 {
			s.Pos += bits.TrailingZeros64(stops) / 8
			s.seen |= seen
			return s.Data[s.Pos]
		}
		s.Pos += 8
	}
	s.seen |= seen
	for ; s.Pos < len(s.Data); s.Pos++ {
		c := s.Data[s.Pos]
		if c == '"' || c == '\\' || c < ' ' {
			return c
		}
		s.seen |= uint64(c)
	}
	return 0
}

func (s *Scanner) passEscape() bool {
	rest := s.Data[s.Pos+1:]
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.Pos += 2
		return true
	case 'u':
		if !hasHexDigits(rest[1:]) {
			return false
		}
		s.Pos += 6
		if rest[1]|' ' != 'd' || rest[2] < '8' {
			return true
		}
		// The first half of a surrogate pair: the second has to follow.
		if rest[2]|' ' > 'b' || len(rest) < 11 || rest[5] != '\\' || rest[6] != 'u' || !hasHexDigits(rest[7:]) || rest[7]|' ' != 'd' || rest[8]|' ' < 'c' {
			return false
		}
		s.Pos += 6
		return true
	}
	return false
}

// meant are the characters of the short escapes.
var meant = [...]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendUnescaped appends what an escape says, or the two of a surrogate pair.
func appendUnescaped(to, escape []byte) []byte {
	if escape[1] != 'u' {
		return append(to, meant[escape[1]])
	}
	var units [2]rune
	for i := range units[:len(escape)/6] {
		for _, c := range escape[6*i+2:][:4] {
			units[i] = units[i]<<4 | rune(c&0xf+c>>6*9)
		}
	}
	if len(escape) > 6 {
		units[0] = utf16.DecodeRune(units[0], units[1])
	}
	return utf8.AppendRune(to, units[0])
}

// hasHexDigits reports whether four hexadecimal digits come first.
func hasHexDigits(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	for _, c := range text[:4] {
		if c-'0' > 9 && c|' '-'a' > 5 {
			return false
		}
	}
	return true
}

// ReadWord consumes a literal.
func (s *Scanner) ReadWord(w string) bool {
	if s.PeekByte() == 0 || len(s.Data)-s.Pos < len(w) || string(s.Data[s.Pos:s.Pos+len(w)]) != w {
		return false
	}
	s.Pos += len(w)
	return true
}

// ReadNumber consumes a number; a whole one has neither fraction nor exponent.
func (s *Scanner) ReadNumber() (raw []byte, whole, ok bool) {
	s.PeekByte()
	from := s.Pos
	s.acceptByte('-', '-')
	whole, ok = true, s.acceptByte('0', '0') || s.acceptDigits()
	if ok && s.acceptByte('.', '.') {
		whole, ok = false, s.acceptDigits()
	}
	if ok && s.acceptByte('e', 'E') {
		_ = s.acceptByte('+', '-')
		whole, ok = false, s.acceptDigits()
	}
	return s.Data[from:s.Pos], whole, ok
}

func (s *Scanner) acceptByte(a, b byte) bool {
	if s.Pos == len(s.Data) || s.Data[s.Pos] != a && s.Data[s.Pos] != b {
		return false
	}
	s.Pos++
	return true
}

func (s *Scanner) acceptDigits() bool {
	from := s.Pos
	for s.Pos < len(s.Data) && s.Data[s.Pos]-'0' <= 9 {
		s.Pos++
	}
	return s.Pos > from
}
