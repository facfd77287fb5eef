package render

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// excerpt is stored text on one line of at most width columns.
func excerpt(text string, width int) string {
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
	return ui.Truncate(ui.Clean(line), width)
}

// paragraphs are the lines of stored text, each safe to print. Tabs become
// spaces, so that columns can be counted.
func paragraphs(text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\t", "    ")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = ui.Clean(lines[i])
	}
	return lines
}

// sizeWords say how long a session is: "13 items, 1 sub-session".
func sizeWords(s *view.Session) string {
	words := ui.Count(len(s.Items), "item")
	if s.Below > 0 {
		words += ", " + ui.Count(s.Below, "sub-session")
	}
	return words
}

// answerWords are the state of a call's result and its size: "ok   212 B".
func answerWords(a view.Answer) string {
	if a.State == view.Unsaid {
		return ""
	}
	if a.Item < 0 {
		return a.State.String()
	}
	return fmt.Sprintf("%s %7s", a.State, ui.Bytes(int64(a.Size)))
}

// substance is what stands in the place of a text that a row lacks; "" when its
// calls or results say enough.
func substance(r *view.Row) string {
	switch {
	case r.Label != "" || r.Text != "" || len(r.Calls) > 0 || len(r.Results) > 0:
		return r.Label
	case r.Thought != "":
		return "(only reasoning, " + ui.Bytes(int64(len(r.Thought))) + ")"
	}
	return "(no text)"
}
