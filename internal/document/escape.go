package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/ui"
)

// escapeText is text on one line that a Markdown renderer shows as it is: no emphasis, link,
// image, formula or HTML.
func escapeText(text string) string {
	text = ui.Clean(text)
	var b strings.Builder
	for i, r := range text {
		before, after := text[:i], text[i+utf8.RuneLen(r):]
		switch {
		case isMention(r, before, after):
			b.WriteString(string(r) + "<!-- -->")
			continue
		case strings.ContainsRune("\\`*_[]<&~$|#", r),
			strings.ContainsRune("-+=.)>", r) && strings.Trim(before, "0123456789 ") == "", // a list, a quotation, an underline
			r == ':' && strings.HasPrefix(after, "/"),
			r == '.' && endsIn(before, "www"):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isMention reports whether GitHub would take the character with what follows it for a
// mention, a reference or an emoji. A backslash does not keep it from that, an empty
// comment between the two does.
func isMention(r rune, before, after string) bool {
	if after == "" {
		return false
	}
	next := rune(after[0])
	switch r {
	case '@':
		return true
	case '#':
		return unicode.IsDigit(next)
	case '-': // GH-26
		return unicode.IsDigit(next) && endsIn(before, "gh")
	case ':':
		return unicode.IsLetter(next) || next == '+' || next == '-'
	}
	return false
}

// endsIn reports whether a text ends in a word, in letters of either case.
func endsIn(text, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(text[len(text)-len(word):], word)
}

// codeSpan is text on one line as a code span, which no run of backticks in the text can end.
func codeSpan(text string) string {
	text = ui.Clean(text)
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.TrimSpace(text) == "" {
		text = " " + text + " "
	}
	return fence + text + fence
}

// longestRun is the length of the longest row of a byte.
func longestRun(text string, of byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != of {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// inlineMarkdown is running text as Markdown.
func inlineMarkdown(t Text) string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.asMarkdown())
	}
	return b.String()
}

func (s *Span) asMarkdown() string {
	switch s.Role {
	case Strong:
		return "**" + escapeText(s.Text) + "**"
	case Emphasis:
		return "*" + escapeText(s.Text) + "*"
	case Name, Code, Place:
		return codeSpan(s.Text)
	case Link:
		return "[" + escapeText(s.Text) + "](" + s.URL + ")"
	case Marked:
		return s.Text
	}
	return escapeText(s.Text)
}

// inCell is text in a cell of a table, where the ends of lines become breaks. A vertical
// bar would end the cell, and a code span has no escape for it that all renderers know.
func inCell(t Text) string {
	var b strings.Builder
	for _, s := range t {
		if s.Role == Code && strings.Contains(s.Text, "|") {
			b.WriteString("<code>" + escapeText(s.Text) + "</code>")
			continue
		}
		lines := []string{s.Text}
		if strings.ContainsAny(s.Text, "\r\n\t") && s.Role == Plain {
			lines = ui.CleanLines(s.Text)
		}
		for i, line := range lines {
			if i > 0 {
				b.WriteString("<br>")
			}
			b.WriteString((&Span{s.Role, line, s.URL}).asMarkdown())
		}
	}
	return b.String()
}

// mermaidText is text that a diagram shows as it is: what may mean something to Mermaid
// becomes the number of its character, as does the word that ends a block.
func mermaidText(text string) string {
	var b strings.Builder
	for i, word := range strings.Split(ui.Clean(text), " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		for n, r := range word {
			plain := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,_/()…–", r)
			if !plain || n == 0 && strings.EqualFold(word, "end") {
				fmt.Fprintf(&b, "#%d;", r)
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// participantName is a label as a name in a diagram: the end of a long one, and in quotes
// what would be no name.
func participantName(label string) string {
	const widest = 80
	if strings.TrimSpace(label) == "" {
		return strconv.Quote(label)
	}
	return ui.TruncateLeft(ui.Clean(label), widest)
}
