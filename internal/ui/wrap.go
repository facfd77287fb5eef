package ui

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks text into lines of at most width columns, at spaces only: an id,
// a path or a `command` that is longer stays whole, so that it can be copied.
func Wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range words(text) {
		w := ansi.StringWidth(word)
		switch {
		case line == "":
			line, used = word, w
		case used+1+w <= width:
			line, used = line+" "+word, used+1+w
		default:
			lines = append(lines, line)
			line, used = word, w
		}
	}
	return append(lines, line)
}

// words parts text at its spaces, but for those of a command between backquotes.
func words(text string) (list []string) {
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return list
		}
		from := 0
		if command := strings.TrimLeft(text, "("); strings.HasPrefix(command, "`") {
			from = len(text) - len(command) + 1
			from += strings.IndexByte(text[from:], '`') + 1 // 0 where it is never closed
		}
		end := strings.IndexFunc(text[from:], unicode.IsSpace)
		if end < 0 {
			return append(list, text)
		}
		list, text = append(list, text[:from+end]), text[from+end:]
	}
}

// Hang wraps text behind a first prefix, with further lines behind another one.
// Both should be of equal width. The result ends with a line end.
func Hang(first, rest, text string, width int) string {
	lines := Wrap(text, width-ansi.StringWidth(first))
	return first + strings.Join(lines, "\n"+rest) + "\n"
}

// Truncate shortens text to width columns and ends it with "…" if it was longer.
func Truncate(text string, width int) string { return ansi.Truncate(text, width, "…") }
