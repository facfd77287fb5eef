package dockeragent

import (
	"bytes"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// form says what the text of a call's arguments is. It is looked at as it is
// stored, escaped; what is no object in that look is left to encoding/json, as
// messages are.
func (d *decoder) form(arguments literal) session.ArgsForm {
	s := escapedScanner{scanner{data: arguments.inner()}}
	if len(s.data) == 0 || s.next() == '{' && s.value(0) && s.next() == 0 && s.pos == len(s.data) {
		return session.ArgsObject
	}
	return session.FormOf(string(d.unquote(arguments)))
}

// escapedScanner reads JSON that stands in a literal without unescaping it:
// there a quotation mark is \" and a backslash is \\.
type escapedScanner struct{ scanner }

// next is the first byte behind white space, that of an escape for a quotation
// mark; 0 at the end and before any other escape.
func (s *escapedScanner) next() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == ' ':
			s.pos++
		case c != '\\':
			return c
		case strings.IndexByte("ntr", s.data[s.pos+1]) >= 0:
			s.pos += 2
		case s.data[s.pos+1] == '"':
			return '"'
		default:
			return 0
		}
	}
	return 0
}

func (s *escapedScanner) value(depth int) bool {
	switch first := s.next(); {
	case depth > maxDepth:
		return false
	case first == '{':
		return s.members('}', depth)
	case first == '[':
		return s.members(']', depth)
	case first == '"':
		return s.text()
	case first == 't':
		return s.word("true")
	case first == 'f':
		return s.word("false")
	case first == 'n':
		return s.word("null")
	}
	_, _, ok := s.number()
	return ok
}

// members consumes an object or a list, up to its end.
func (s *escapedScanner) members(end byte, depth int) bool {
	s.pos++
	if s.consume(end) {
		return true
	}
	for {
		if end == '}' && (s.next() != '"' || !s.text() || !s.consume(':')) || !s.value(depth+1) {
			return false
		}
		if !s.consume(',') {
			return s.consume(end)
		}
	}
}

func (s *escapedScanner) consume(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

// text consumes a string.
func (s *escapedScanner) text() bool {
	s.pos += len(`\"`)
	for {
		at := bytes.IndexByte(s.data[s.pos:], '\\')
		if at < 0 {
			return false
		}
		s.pos += at
		switch rest := s.data[s.pos:]; rest[1] {
		case '"':
			s.pos += 2
			return true
		case 'u': // a character that docker agent escapes
			if !bytes.HasPrefix(rest, []byte(`\u00`)) || rest[4] > '1' {
				s.pos += 6
				continue
			}
			return false // a control
		case '\\':
			size := escapeWithin(rest[2:])
			if size == 0 {
				return false
			}
			s.pos += 2 + size
		default: // a control
			return false
		}
	}
}

// escapeWithin measures what follows the backslash of an escape, 0 when it is
// none.
func escapeWithin(b []byte) int {
	switch {
	case len(b) >= 2 && b[0] == '\\' && (b[1] == '"' || b[1] == '\\'):
		return 2
	case len(b) >= 1 && strings.IndexByte("ntrbf/", b[0]) >= 0:
		return 1
	case len(b) >= 5 && b[0] == 'u' && isHex(b[1]) && isHex(b[2]) && isHex(b[3]) && isHex(b[4]):
		return 5
	}
	return 0
}
