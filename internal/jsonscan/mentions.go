package jsonscan

import (
	"bytes"
	"slices"
	"strings"
)

// Mentions reports whether a document has one of some texts, which are letters and "_", be
// it with one of these escaped.
func Mentions(doc []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return index(doc, text) >= 0 }) ||
		Behind(doc, `\u00`, func(rest []byte) bool { return len(rest) > 0 && rest[0] >= '4' && rest[0] <= '7' })
}

// Behind reports whether what comes after a text anywhere in a document is something.
func Behind(doc []byte, text string, is func(rest []byte) bool) bool {
	for {
		at := index(doc, text)
		if at < 0 {
			return false
		}
		if doc = doc[at+len(text):]; is(doc) {
			return true
		}
	}
}

// index is that of bytes, by a byte of the text that is rare in what people and programs
// write: the first one is mostly common, and ends every search anew.
func index(doc []byte, text string) int {
	rare := max(0, strings.IndexAny(text, "xbf0dN"))
	for from := rare; from < len(doc); from++ {
		n := bytes.IndexByte(doc[from:], text[rare])
		if n < 0 {
			break
		}
		from += n
		if at := from - rare; len(doc)-at >= len(text) && string(doc[at:at+len(text)]) == text {
			return at
		}
	}
	return -1
}
