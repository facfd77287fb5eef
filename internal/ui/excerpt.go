package ui

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Excerpt is stored text on one line of at most width columns.
func Excerpt(text string, width int) string {
	text = strings.TrimSpace(text)
	whole := len(text)
	if most := 16 * width; whole > most { // no text of that many bytes is narrower
		for !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most]
	}
	line := strings.Join(strings.Fields(text), " ")
	if len(text) < whole {
		line += "…"
	}
	return Truncate(Clean(line), width)
}

// WithExcerpt is words with an excerpt of stored text behind them.
func WithExcerpt(words, text string, width int) string {
	words = Excerpt(words, width)
	if text = Excerpt(text, width); text == "" {
		return strings.TrimSuffix(words, ":")
	}
	return words + " " + text
}

// Paragraphs are the lines of stored text, each safe to print. Tabs become
// spaces, so that columns can be counted.
func Paragraphs(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", "    ")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return lines
}

// Wrapped is a whole text in lines of at most width columns; words that are
// longer are broken.
func Wrapped(text string, width int) []string {
	var lines []string
	for _, p := range Paragraphs(text) {
		lines = append(lines, strings.Split(lipgloss.Wrap(p, max(width, 8), ""), "\n")...)
	}
	return lines
}

// Pad is a text cut or filled to a number of columns.
func Pad(text string, width int) string {
	text = Truncate(text, width)
	return text + strings.Repeat(" ", max(width-lipgloss.Width(text), 0))
}

// Tail shortens a path to its end, which tells it from others.
func Tail(text string, width int) string {
	if over := lipgloss.Width(text) - width; over > 0 {
		return ansi.TruncateLeft(text, over+1, "…")
	}
	return text
}
