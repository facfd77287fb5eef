package find

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// foldedPattern is the expression of a word in whatever case. An ASCII letter has two cases: the
// signs of kelvin and of ångström are other characters.
func foldedPattern(word string) string {
	var b strings.Builder
	for _, r := range word {
		if lower := r | ' '; lower >= 'a' && lower <= 'z' {
			b.WriteString("[" + string(lower) + string(lower-'a'+'A') + "]")
		} else {
			b.WriteString("(?i:" + regexp.QuoteMeta(string(r)) + ")")
		}
	}
	return b.String()
}

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

// literalsOf are the literals of a word.
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
	lacks := func(text string) (lacking uint64) {
		for i := range wanted {
			if wanted[i].findIn(text) < 0 {
				lacking |= 1 << i
			}
		}
		return lacking
	}
	return func(stored []byte) uint64 {
		text := unsafe.String(unsafe.SliceData(stored), len(stored))
		lacking := lacks(text)
		if lacking != 0 && strings.IndexByte(text, 0) >= 0 { // those that a crash left in a file are passed over
			return 0
		}
		for lacking != 0 && hidesPlain(text) {
			text = unescapeOnce(text)
			lacking &= lacks(text)
		}
		return lacking
	}
}

// escape is how the escapes of plain characters begin. JSON may escape each, and what a string holds
// may be JSON again.
const escape = `\u00`

// escaped is the plain character, or the backslash, that a text begins with the rest of such an escape of, 0 for none.
func escaped(rest string) byte {
	const digits = "0123456789abcdef"
	if len(rest) < 2 { //nolint:mnd // digits
		return 0
	}
	high, low := strings.IndexByte(digits, rest[0]|' '), strings.IndexByte(digits, rest[1]|' ')
	if c := byte(high<<4 | low); high >= 0 && low >= 0 && (isPlain(c) || c == '\\') {
		return c
	}
	return 0
}

// hidesPlain reports whether plain characters may be escaped in a text.
func hidesPlain(text string) bool {
	for {
		at := strings.Index(text, escape)
		if at < 0 {
			return false
		}
		if text = text[at+len(escape):]; escaped(text) != 0 {
			return true
		}
	}
}

// unescapeOnce is a text with the plain characters of its JSON strings as they read, and others somehow.
func unescapeOnce(text string) string {
	var b strings.Builder
	for b.Grow(len(text)); ; {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return b.String() + text
		}
		b.WriteString(text[:at])
		c, size := text[at+1], 2
		switch plain := byte(0); {
		case strings.HasPrefix(text[at:], escape):
			if plain = escaped(text[at+len(escape):]); plain != 0 {
				c, size = plain, len(escape)+2
				break
			}
			fallthrough
		case c != '\\' && isPlain(c):
			c = '\n'
		}
		b.WriteByte(c)
		text = text[at+size:]
	}
}
