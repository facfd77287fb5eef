package canonical

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scrubbed is JSON with U+FFFD in place of what a reader takes for it: bytes that
// are no UTF-8 and halves of surrogate pairs. Every other byte stays.
func scrubbed(text []byte) []byte {
	var out bytes.Buffer
	for len(text) > 0 {
		var n int
		switch {
		case text[0] == '\\' && len(text) > 1 && text[1] == 'u':
			var lone bool
			if n, lone = unicodeEscape(text); lone {
				out.WriteString(`\ufffd`)
				text = text[n:]
				continue
			}
		case text[0] == '\\':
			n = min(2, len(text))
		default:
			var char rune
			if char, n = utf8.DecodeRune(text); char == utf8.RuneError && n == 1 {
				out.WriteRune(utf8.RuneError)
				text = text[1:]
				continue
			}
		}
		out.Write(text[:n])
		text = text[n:]
	}
	return out.Bytes()
}

// unicodeEscape measures the escape that a text begins with: one, or the two of
// a surrogate pair. lone says that it is one half of a pair.
func unicodeEscape(text []byte) (n int, lone bool) {
	const one = len(`\u0000`)
	first := codeUnit(text)
	if !utf16.IsSurrogate(first) {
		return min(one, len(text)), false
	}
	if second := codeUnit(text[one:]); utf16.DecodeRune(first, second) != utf8.RuneError {
		return 2 * one, false
	}
	return one, true
}

// codeUnit is the number of the escape that a text begins with, -1 when it
// begins with none.
func codeUnit(text []byte) rune {
	if len(text) < len(`\u0000`) || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
