package dockeragent

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/session"
)

// literal is a string as the JSON encoder of Go 1.22 and later writes it,
// quotes included; nil where there is none. Go writes each string in one way
// only, so equal literals are equal texts and need no unescaping to be compared.
type literal []byte

func (l literal) innerBytes() []byte {
	if len(l) == 0 {
		return nil
	}
	return l[1 : len(l)-1]
}

// quoteText makes the literal of a text: Go's encoder defines the form.
func quoteText(text string) literal {
	if text == "" {
		return nil
	}
	l, _ := json.Marshal(text) // never fails on a string
	return l
}

// digest tells literals apart. It is not the digest of the unescaped text.
func (l literal) digest() session.Digest { return session.DigestOf(l.innerBytes()) }

// escapedSpaces are the white space characters that Go's encoder escapes.
var escapedSpaces = [...]string{`\n`, `\t`, `\r`, `\f`, `\u000b`, `\u2028`, `\u2029`}

func (l literal) isEmpty() bool { return len(l.innerBytes()) == 0 }

// isBlank reports whether the text has no character beyond white space.
func (l literal) isBlank() bool {
	rest := l.innerBytes()
next:
	for len(rest) > 0 {
		if rest[0] == '\\' {
			for _, space := range escapedSpaces {
				if strings.HasPrefix(viewString(rest), space) {
					rest = rest[len(space):]
					continue next
				}
			}
			return false
		}
		r, size := utf8.DecodeRune(rest)
		if !unicode.IsSpace(r) {
			return false
		}
		rest = rest[size:]
	}
	return true
}

// endsInSpace reports whether the last character is white space.
func (l literal) endsInSpace() bool {
	rest := l.innerBytes()
	for _, space := range escapedSpaces {
		if before, ok := bytes.CutSuffix(rest, []byte(space)); ok {
			return (len(before)-len(bytes.TrimRight(before, `\`)))%2 == 0 // else the text has a backslash there
		}
	}
	r, _ := utf8.DecodeLastRune(rest)
	return unicode.IsSpace(r)
}

// form is what a string contains.
type form uint8

const (
	escaped   form = 1 << iota // an escape
	irregular                  // something that Go's encoder writes in another way
	wide                       // perhaps a byte beyond ASCII, not checked for UTF-8
)

// readString consumes a string and gives it with its quotes. It looks at eight bytes
// at a time and skips the two-byte escapes, which are most of them, in a run.
func (s *scanner) readString() (raw []byte, f form, ok bool) {
	if s.PeekByte() != '"' {
		return nil, 0, false
	}
	data, i := s.Data, s.Pos+1
	var seen uint64
	for {
		for i+8 <= len(data) {
			word := binary.LittleEndian.Uint64(data[i:])
			seen |= word
			mask := markSpecial(word)
			if mask == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(mask) / 8
			run := i
			for i+1 < len(data) && data[i] == '\\' && shortEscape[data[i+1]] {
				i += 2
			}
			if i == run {
				break
			}
			f |= escaped
		}
		for i < len(data) && classes[data[i]] == ordinary {
			seen |= uint64(data[i])
			i++
		}
		if i >= len(data) {
			return nil, 0, false
		}
		switch classes[data[i]] {
		case quotation:
			if seen&highBits != 0 {
				f |= wide
			}
			s.met |= f
			raw = data[s.Pos : i+1]
			s.Pos = i + 1
			return raw, f, true
		case backslash:
			size, regular := measureEscape(data[i:])
			if size == 0 {
				return nil, 0, false
			}
			f |= escaped
			if !regular {
				f |= irregular
			}
			i += size
		case html:
			f |= irregular
			i++
		default:
			return nil, 0, false
		}
	}
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// markSpecial marks the bytes of a word that end a run of ordinary characters, by
// their highest bit. Only the lowest mark is reliable: a borrow may set others
// above it. One bit tells < from > and " from &, so that one test finds both.
func markSpecial(word uint64) uint64 {
	quotes := (word | 0x04*lowBits) ^ '&'*lowBits
	angles := (word | 0x02*lowBits) ^ '>'*lowBits
	slashes := word ^ '\\'*lowBits
	mask := (word-' '*lowBits)&^word | (quotes-lowBits)&^quotes |
		(angles-lowBits)&^angles | (slashes-lowBits)&^slashes
	return mask & highBits
}

// The classes of bytes within a string.
const (
	ordinary = iota
	quotation
	backslash
	html    // Go's encoder escapes it
	control // not allowed
)

var classes = func() (table [256]uint8) {
	for c := range ' ' {
		table[c] = control
	}
	table['"'], table['\\'] = quotation, backslash
	table['<'], table['>'], table['&'] = html, html, html
	return table
}()

// shortEscape are the escapes of two bytes that Go's encoder writes.
var shortEscape = [256]bool{'n': true, 't': true, '"': true, '\\': true, 'r': true, 'b': true, 'f': true}

// measureEscape measures the escape at the start of b, 0 when it is none. It is
// regular when Go's encoder writes that character so.
func measureEscape(b []byte) (size int, regular bool) {
	switch {
	case len(b) >= 2 && shortEscape[b[1]]:
		return 2, true
	case len(b) >= 2 && b[1] == '/':
		return 2, false
	case len(b) >= 6 && b[1] == 'u' && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]):
		return 6, isRegular(b[2:6])
	}
	return 0, false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// isRegular knows the characters that Go's encoder writes as four digits. The
// controls with a short form are not among them: Go before 1.22 wrote two of
// those (\b and \f) as digits, so both ways exist and only one may be regular.
func isRegular(digits []byte) bool {
	switch string(digits) {
	case "003c", "003e", "0026", "2028", "2029":
		return true
	case "0008", "0009", "000a", "000c", "000d":
		return false
	}
	if digits[0] != '0' || digits[1] != '0' || digits[2] > '1' {
		return false
	}
	return digits[3] <= '9' || digits[3] >= 'a'
}

// readLiteral consumes a string that is a literal.
func (s *scanner) readLiteral(to *literal) bool {
	raw, f, ok := s.readString()
	if !ok || f&irregular != 0 {
		return false
	}
	if f&wide != 0 && (!utf8.Valid(raw) || hasLineSeparator(raw)) {
		return false
	}
	*to = raw
	return true
}

// isGoEncoded reports whether Go's encoder writes what was consumed as it is.
func (s *scanner) isGoEncoded() bool {
	return !s.Spaced && s.met&irregular == 0 && (s.met&wide == 0 || !hasLineSeparator(s.Data))
}

func hasLineSeparator(raw []byte) bool {
	return bytes.Contains(raw, lineSeparator) || bytes.Contains(raw, paragraphSeparator)
}

// The two characters beyond ASCII that Go's encoder escapes.
var (
	lineSeparator      = []byte("\u2028")
	paragraphSeparator = []byte("\u2029")
)

// readPlain consumes a string without escapes, which is its own text.
func (s *scanner) readPlain(to *[]byte) bool {
	raw, f, ok := s.readString()
	if !ok || f&escaped != 0 || f&wide != 0 && !utf8.Valid(raw) {
		return false
	}
	*to = raw[1 : len(raw)-1]
	return true
}
