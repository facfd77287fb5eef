package find

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// asciiCases keeps two letters of ASCII from being folded with U+212A and U+017F.
var asciiCases = strings.NewReplacer("k", "(?-i:[kK])", "K", "(?-i:[kK])", "s", "(?-i:[sS])", "S", "(?-i:[sS])")

// literal is a piece of a word that a store that keeps the text also has as bytes.
type literal struct {
	lower string
	at    int    // of its rarest byte
	first string // that byte, in both cases
}

// longestLiteral is so long that pieces of a file that overlap by twice as much miss none, nor an escape.
const longestLiteral = 64

// plain are the characters that JSON does not escape, and that keep their place beside each other in whatever form
// a document is written. The later ones are the rarer ones in source code and English.
const plain = " etaoinsrhldcumfpg.-_0123456789wybvkxjqz"

func isPlain(c byte) bool { return c|' ' >= 'a' && c|' ' <= 'z' || strings.IndexByte(plain, c) >= 0 }

// attachments are the names of attachments, which are not always stored.
const attachments = "image audio video document file"

func literalsOf(word string) (list []literal) {
	for _, text := range strings.FieldsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !isPlain(byte(r)) }) {
		text = strings.ToLower(strings.Trim(text, " "))
		text = strings.TrimRight(text[:min(len(text), longestLiteral)], " ")
		if len(text) < 2 { //nolint:mnd // one letter is everywhere
			continue
		}
		l := literal{lower: text}
		for i := range text {
			if strings.IndexByte(plain, text[i]) > strings.IndexByte(plain, text[l.at]) {
				l.at = i
			}
		}
		if l.first = text[l.at : l.at+1]; strings.ToUpper(l.first) != l.first {
			l.first += strings.ToUpper(l.first)
		}
		list = append(list, l)
	}
	return list
}

// findIn finds the first place in a text that has the literal in whatever case, -1 for none.
func (l *literal) findIn(text string) int {
	first := -1
	for _, c := range []byte(l.first) {
		for from := l.at; from <= len(text)-len(l.lower)+l.at; from++ {
			next := strings.IndexByte(text[from:len(text)-len(l.lower)+l.at+1], c)
			if next < 0 {
				break
			}
			if from += next; l.begins(text[from-l.at:]) {
				first = from - l.at
				text = text[:first+len(l.lower)]
				break
			}
		}
	}
	return first
}

func (l *literal) begins(text string) bool {
	for i := range len(l.lower) {
		if c, d := l.lower[i], text[i]; c != d && (c < 'a' || c > 'z' || d|' ' != c) {
			return false
		}
	}
	return true
}

// Lacks is that of store.Options: which pieces of the words are not among some stored bytes. nil
// where that tells nothing.
func (q *Query) Lacks() func(stored []byte) uint64 {
	var wanted []literal
	for _, w := range q.Words {
		wanted = append(wanted, slices.DeleteFunc(slices.Clone(w.literals), func(l literal) bool { return strings.Contains(attachments, l.lower) })...)
	}
	if len(wanted) == 0 {
		return nil
	}
	wanted = wanted[:min(len(wanted), 64)] //nolint:mnd // bits
	return func(stored []byte) (lacking uint64) {
		text := unsafe.String(unsafe.SliceData(stored), len(stored))
		for i := range wanted {
			if wanted[i].findIn(text) < 0 {
				lacking |= 1 << i
			}
		}
		if lacking != 0 && hidesPlain(text) {
			return 0
		}
		return lacking
	}
}

// hidesPlain reports whether a text may have plain characters in another form: JSON may escape
// each of them, and a backslash; NUL bytes that a crash left in a file are passed over.
func hidesPlain(text string) bool {
	const escape = `\u00`
	for rest := text; ; {
		at := strings.Index(rest, escape)
		if at < 0 {
			return strings.IndexByte(text, 0) >= 0
		}
		rest = rest[at+len(escape):]
		if c, err := strconv.ParseUint(rest[:min(2, len(rest))], 16, 8); err == nil && (c == '\\' || isPlain(byte(c))) { //nolint:mnd // digits
			return true
		}
	}
}
