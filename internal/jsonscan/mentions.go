package jsonscan

import (
	"bytes"
	"slices"
)

// Mentions reports whether a document has one of some texts, which are letters and "_", be
// it with one of these escaped.
func Mentions(doc []byte, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(doc, []byte(text)) }) ||
		Behind(doc, `\u00`, func(rest []byte) bool { return len(rest) > 0 && rest[0] >= '4' && rest[0] <= '7' })
}

// Behind reports whether what comes after a text anywhere in a document is something.
func Behind(doc []byte, text string, is func(rest []byte) bool) bool {
	for {
		_, rest, found := bytes.Cut(doc, []byte(text))
		if !found || is(rest) {
			return found
		}
		doc = rest
	}
}
