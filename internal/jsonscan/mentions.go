package jsonscan

import (
	"bytes"
	"slices"
	"strings"
)

// Mentions reports whether a document has one of some texts, which are letters and "_", be
// it with one of these escaped.
func Mentions(doc []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return HasText(doc, text) }) ||
		HasTextWhere(doc, `\u00`, func(rest []byte) bool { return len(rest) > 0 && rest[0] >= '4' && rest[0] <= '7' })
}

// HasText reports whether a document has a text.
func HasText(doc []byte, text string) bool {
	return HasTextWhere(doc, text, func([]byte) bool { return true })
}

// HasTextWhere reports whether what comes after a text anywhere in a document is something. It looks
// for a byte of the text that is rare where people and programs write: the first one is mostly
// common, and ends a search again and again.
func HasTextWhere(doc []byte, text string, is func(rest []byte) bool) bool {
	rare := max(0, strings.IndexAny(text, "xbfv0dN"))
	for at := rare; at < len(doc); at++ {
		n := bytes.IndexByte(doc[at:], text[rare])
		if n < 0 {
			break
		}
		at += n
		if rest, found := bytes.CutPrefix(doc[at-rare:], []byte(text)); found && is(rest) {
			return true
		}
	}
	return false
}
