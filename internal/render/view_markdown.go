package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// viewMarkdown prints a view as nested lists, to be pasted into an issue. What
// stored text could render as is escaped, and whole texts stand in code blocks.
func viewMarkdown(v *view.View, opts ViewOptions) error {
	m := &markdown{full: opts.Full}
	s := v.Shown
	m.line("# " + escaped(title(s.Title)))
	m.line("")
	facts := []string{code(s.ID)}
	if s.Parent != "" {
		facts = append(facts, "sub-session of "+code(s.Parent))
	}
	if s.Agent != "" {
		facts = append(facts, "agent "+escaped(s.Agent))
	}
	facts = append(facts, sizeWords(s))
	if day := date(s.Created); day != "" {
		facts = append(facts, day)
	}
	m.line(strings.Join(facts, " · "))
	m.line("")
	switch {
	case v.Visibility != nil:
		m.visibility(v)
	case v.Borders != nil:
		m.borders(v)
	case v.Request != nil:
		m.request(v.Request)
		m.findings(v)
	default:
		m.notes(s.Notes)
		m.rows(s, false)
		m.findings(v)
	}
	_, err := io.WriteString(opts.Screen.Plain(), m.out.String())
	return err
}

type markdown struct {
	full  bool
	depth int // of lists
	out   strings.Builder
}

// excerptColumns is the length of an excerpt where no screen limits it.
const excerptColumns = 100

// line prints a line inside the lists that are open.
func (m *markdown) line(text string) {
	if text != "" {
		m.out.WriteString(strings.Repeat("  ", m.depth))
	}
	m.out.WriteString(text + "\n")
}

// below prints what belongs to the list item printed last.
func (m *markdown) below(print func()) {
	m.depth++
	print()
	m.depth--
}

func (m *markdown) rows(s *view.Session, short bool) {
	for _, p := range s.Pieces(short) {
		switch {
		case p.Row == nil:
			m.line(fmt.Sprintf("- …%d more (`--full`)", p.Hidden))
		case p.Row.Child != nil:
			m.child(p.Row)
		default:
			m.row(p.Row, position(p.Row), p.Row.Flags)
		}
	}
}

// position is the stored position with the speaker: "**3 root**".
func position(r *view.Row) string {
	words := r.Who
	if r.Item >= 0 {
		words = strings.TrimSpace(strconv.Itoa(r.Item) + " " + r.Who)
	}
	return "**" + escaped(ui.Excerpt(words, 40)) + "**"
}

func (m *markdown) child(r *view.Row) {
	c := r.Child
	words := "sub-session"
	if r.Item >= 0 {
		words = strconv.Itoa(r.Item) + " sub-session"
	}
	text := fmt.Sprintf("- **%s** %s %s, %s", words, code(c.ID), escaped(ui.Excerpt(title(c.Title), 60)), sizeWords(c))
	if r.Item < 0 && !r.Named {
		text += ", no item refers to it"
	}
	m.line(text)
	m.below(func() {
		m.notes(r.Notes)
		m.notes(c.Notes)
		m.rows(c, !m.full)
	})
}

// row prints an item as a list item, headed by the words in front of it.
func (m *markdown) row(r *view.Row, head string, flags []string) {
	text := "- " + head
	switch words := substance(r); {
	case words != "" && r.Text != "" && r.Stored != nil && !m.full:
		text += " " + escaped(ui.WithExcerpt(words+":", r.Text, excerptColumns))
	case words != "":
		text += " " + escaped(ui.Clean(words))
	case r.Text != "" && !m.full:
		text += " " + escaped(ui.Excerpt(r.Text, excerptColumns))
	}
	if len(flags) > 0 {
		text += " *(" + strings.Join(flags, ", ") + ")*"
	}
	m.line(text)
	m.below(func() {
		if m.full {
			m.block("reasoning", r.Thought)
			m.block("", r.Text)
		}
		for i := range r.Calls {
			m.call(&r.Calls[i])
		}
		for i := range r.Results {
			m.result(&r.Results[i])
		}
		m.notes(r.Notes)
	})
}

func (m *markdown) call(c *view.Call) {
	about := c.About
	if m.full {
		about = ""
	}
	m.line("- " + code(ui.WithExcerpt(callLabel(c), about, excerptColumns)) + state(c.Answer))
	m.below(func() {
		if m.full {
			m.block("arguments", c.Args)
		}
		if m.full && c.Answer.Folded {
			m.block("result", c.Answer.Text)
		}
	})
}

func (m *markdown) result(r *view.Result) {
	text := escaped(ui.Excerpt(r.Label, excerptColumns)) + state(r.Answer)
	if !m.full && r.Answer.Text != "" {
		text += ": " + escaped(ui.Excerpt(r.Answer.Text, excerptColumns))
	}
	m.line("- " + text)
	if m.full {
		m.below(func() { m.block("", r.Answer.Text) })
	}
}

// state is how a call ended, in parentheses.
func state(a view.Answer) string {
	if words := answerWords(a); words != "" {
		return " (" + strings.Join(strings.Fields(words), " ") + ")"
	}
	return ""
}

func (m *markdown) notes(notes []view.Note) {
	for _, n := range notes {
		text, _ := noteWords(n)
		m.line("- ⚠ " + escaped(text))
	}
}

// block is a whole text in a fence that it cannot end.
func (m *markdown) block(what, text string) {
	if text == "" {
		return
	}
	if what != "" {
		m.line("- " + what)
		m.depth++
		defer func() { m.depth-- }()
	}
	fence := strings.Repeat("`", max(longestRun(text, '`')+1, 3))
	m.line("")
	m.line(fence + "text")
	for _, l := range ui.Paragraphs(text) {
		m.line(l)
	}
	m.line(fence)
	m.line("")
}

// findings ends the page.
func (m *markdown) findings(v *view.View) {
	m.line("")
	if len(v.Findings) == 0 {
		m.line(healthy(v))
	} else {
		m.line("## Findings")
		m.line("")
	}
	for _, f := range v.Findings {
		m.line(fmt.Sprintf("- %s **%s** %s `%s` %s", f.Severity, f.Rule.ID, f.Rule.Name, place(f), escaped(ui.Ended(ui.Clean(f.Message)))))
		if f.ProviderError != "" && v.Request == nil {
			m.below(func() { m.line("- the next request fails with: " + code(f.ProviderError)) })
		}
	}
	if v.Others > 0 {
		m.line("")
		m.line(others(v))
	}
}
