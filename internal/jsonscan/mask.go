package jsonscan

import "bytes"

// MaskNaN is a text in which zeros of the same length stand for the numbers that JSON does not
// have, and that Python's json writes and reads: NaN, Infinity and -Infinity. All offsets are
// those of the text. It is the text itself where it has none of them.
func MaskNaN(text []byte) []byte {
	if !HasText(text, "NaN") && !HasText(text, "Infinity") {
		return text
	}
	masked, before := bytes.Clone(text), byte('[') // before is what stands before a value
	for at := 0; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			at = pastText(text, at)
			before = c
		case startsValue(before) && bytes.HasPrefix(text[at:], []byte("NaN")):
			at += copy(masked[at:], "0e0") - 1
			before = '0'
		case (startsValue(before) || before == '-' && (at < 2 || startsValue(text[at-2]))) && bytes.HasPrefix(text[at:], []byte("Infinity")):
			at += copy(masked[at:], "0.000000") - 1
			before = '0'
		default:
			before = c
		}
	}
	return masked
}

// startsValue reports whether a value can follow a byte.
func startsValue(before byte) bool { return bytes.IndexByte([]byte(" \t\r\n,:["), before) >= 0 }

// pastText is where the string that begins at an offset ends, as far as it goes.
func pastText(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}
