package render

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// row prints an item: what it says, and what is to be said about it. Position,
// speaker and flags stand on the first line only.
func (t *viewText) row(r *view.Row, c viewColumns) {
	lines := t.contents(r, c.text())
	first := &lines[0]
	first.mark, first.who = r.Mark(), ui.Excerpt(r.Who, c.who)
	if r.Item >= 0 {
		first.number = strconv.Itoa(r.Item)
	}
	first.right = strings.TrimSpace(strings.Join(r.Flags, ", ") + "  " + first.right)
	for _, n := range r.Notes {
		text, style := noteWords(n)
		for _, l := range ui.Wrap(text, c.text()) {
			lines = append(lines, viewLine{content: l, style: style})
		}
	}
	for _, l := range lines {
		t.put(c, l)
	}
}

// contents are the lines of what an item says, at least one.
func (t *viewText) contents(r *view.Row, width int) []viewLine {
	var lines []viewLine
	if words := substance(r); words != "" {
		if r.Text != "" && !t.opts.Full && r.Stored != nil {
			words = ui.WithExcerpt(words+":", r.Text, width)
		}
		lines = append(lines, viewLine{content: ui.Clean(words), style: &ui.Dim})
	}
	switch {
	case t.opts.Full:
		if r.Thought != "" {
			lines = append(lines, t.block("reasoning", r.Thought, width)...)
		}
		if r.Text != "" {
			lines = append(lines, wrapped(r.Text, width)...)
		}
	case r.Text != "" && r.Label == "":
		lines = append(lines, viewLine{content: ui.Excerpt(r.Text, width)})
	}
	for i := range r.Calls {
		call := &r.Calls[i]
		lines = append(lines, viewLine{content: ui.WithExcerpt(callLabel(call), call.About, width), right: answerWords(call.Answer), style: &ui.Cyan})
		if t.opts.Full {
			lines = append(lines, t.block("arguments", call.Args, width)...)
		}
		if t.opts.Full && call.Answer.Folded {
			lines = append(lines, t.block("result", call.Answer.Text, width)...)
		}
	}
	for i := range r.Results {
		result := &r.Results[i]
		about := result.Answer.Text
		if t.opts.Full {
			about = ""
		}
		lines = append(lines, viewLine{content: ui.WithExcerpt(result.Label+":", about, width), right: answerWords(result.Answer)})
		if t.opts.Full {
			lines = append(lines, t.block("result", result.Answer.Text, width)...)
		}
	}
	return lines
}

// block is a whole text below a word that says what it is.
func (t *viewText) block(what, text string, width int) []viewLine {
	if text == "" {
		return nil
	}
	lines := []viewLine{{content: "  " + what, style: &ui.Dim}}
	for _, l := range wrapped(text, width-4) {
		l.content = "    " + l.content
		lines = append(lines, l)
	}
	return lines
}

// callLabel is the call in front of its argument.
func callLabel(c *view.Call) string {
	if c.Target != "" {
		return c.Label() + ":"
	}
	return c.Label()
}

// noteWords are a note with its rule, and how they look.
func noteWords(n view.Note) (string, *lipgloss.Style) {
	switch {
	case n.Rule == "":
		return ui.Clean(n.Text), &ui.Yellow
	case n.Severity == rules.Info:
		return n.Rule + " " + ui.Clean(n.Text), &ui.Dim
	}
	return n.Rule + " " + ui.Clean(n.Text), &ui.Yellow
}

// wrapped is a whole text in lines of at most width columns.
func wrapped(text string, width int) []viewLine {
	var lines []viewLine
	for _, l := range ui.Wrapped(text, width) {
		lines = append(lines, viewLine{content: l})
	}
	return lines
}
