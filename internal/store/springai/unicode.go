package springai

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// illegible is the detail of a fault BadUnicode.
const illegible = "it has bytes that are no UTF-8, or halves of surrogate pairs"

func legible(text string) bool { return utf8.ValidString(text) }

// half stands for a lone half of a surrogate pair, which no Go text can hold: a
// byte that is part of no character.
const half = 0xff

// unquoted is the text of a JSON string with everything that is no Unicode left in
// it, as bytes that are none: decoders put U+FFFD there, and nobody could tell.
func unquoted(literal jsontext.Value) (text string, bad bool) {
	var out []byte
	rest := string(literal[1 : len(literal)-1])
	for rest != "" {
		good, odd, after := untilOdd(rest)
		out, _ = jsontext.AppendUnquote(out, `"`+good+`"`) // never fails on what has no odd places
		out, rest = append(out, odd...), after
		bad = bad || len(odd) > 0
	}
	return string(out), bad
}

// untilOdd cuts the inside of a literal at the first thing in it that is no
// Unicode.
func untilOdd(inside string) (good string, odd []byte, after string) {
	for i := 0; i < len(inside); {
		switch {
		case strings.HasPrefix(inside[i:], `\u`):
			n, lone := escape(inside[i:])
			if lone {
				return inside[:i], []byte{half}, inside[i+n:]
			}
			i += n
		case inside[i] == '\\':
			i += 2
		default:
			char, n := utf8.DecodeRuneInString(inside[i:])
			if char == utf8.RuneError && n == 1 {
				return inside[:i], []byte{inside[i]}, inside[i+1:]
			}
			i += n
		}
	}
	return inside, nil, ""
}

// escape measures the escape that a text begins with: one, or the two of a
// surrogate pair. lone says that it is one half of a pair.
func escape(text string) (n int, lone bool) {
	const one = len(`\u0000`)
	first := codeUnit(text)
	if !utf16.IsSurrogate(first) {
		return one, false
	}
	if utf16.DecodeRune(first, codeUnit(text[one:])) != utf8.RuneError {
		return 2 * one, false
	}
	return one, true
}

// codeUnit is the number of the escape that a text begins with, -1 when it begins
// with none.
func codeUnit(text string) rune {
	if len(text) < len(`\u0000`) || !strings.HasPrefix(text, `\u`) {
		return -1
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
