package render

import (
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// ViewOptions say how a view is shown.
type ViewOptions struct {
	Screen *ui.Screen
	Full   bool      // whole texts, arguments, results and reasoning
	Next   []Command // what to type after it
}

// View prints a view in a format: text, json or markdown, and who could see what
// also as mermaid.
func View(format string, v *view.View, opts ViewOptions) error {
	switch format {
	case "json":
		return JSON(opts.Screen.Plain(), viewDocumentOf(v, opts.Full))
	case "markdown":
		return document.New(format, opts.Screen)(viewPage{opts.Full}.document(v))
	case "mermaid":
		return document.New(format, opts.Screen)(document.Document{visibilityDiagram(v, opts.Full)})
	}
	t := &viewText{v: v, opts: opts, width: opts.Screen.Width, paragraph: opts.Screen.TextWidth()}
	t.head()
	switch {
	case v.Visibility != nil:
		t.visibility()
	case v.Borders != nil:
		t.add(append(borders(v, opts.Full), t.next()...)...)
	case v.Request != nil:
		t.request()
		t.end()
	default:
		t.rows(v.Shown, measure(v.Shown, t.width, 0, ""))
		t.end()
	}
	_, err := opts.Screen.Write([]byte(t.out.String()))
	return err
}

type viewText struct {
	v         *view.View
	opts      ViewOptions
	width     int // of lines in columns
	paragraph int // of running text
	out       strings.Builder
}

// head names the session, and whose request is shown.
func (t *viewText) head() {
	s := t.v.Shown
	t.out.WriteString(headLine(s, t.width, ui.Bold) + "\n")
	if s.Parent != "" {
		t.out.WriteString(ui.Dim.Render(ui.Truncate("sub-session of "+ui.Clean(s.Parent), t.width)) + "\n")
	}
	if r := t.v.Request; r != nil {
		t.out.WriteString(ui.Hang("", "", ui.Clean(r.Head()), t.paragraph))
	}
	if t.v.Visibility != nil {
		t.out.WriteString(ui.Hang("", "", ui.Clean(t.visibilityHead()), t.paragraph))
	}
	t.remarks(s.Mark(), "", s.Notes)
	t.out.WriteString("\n")
}

// headLine is the line that names a session; when it does not fit, its title
// gives way first.
func headLine(s *view.Session, width int, style lipgloss.Style) string {
	id := ui.Clean(rules.Short(s.ID))
	rest := ""
	if s.Agent != "" {
		rest = "   " + ui.Excerpt(s.Agent, 20)
	}
	rest += "   " + sizeWords(s)
	if day := date(s.Created); day != "" {
		rest += "   " + day
	}
	room := width - lipgloss.Width(id) - 2
	name := ui.Excerpt(title(s.Title), max(room-lipgloss.Width(rest), 12))
	if room -= lipgloss.Width(name); room < 5 {
		rest = ""
	}
	rest = ui.Truncate(rest, room)
	return ui.Cyan.Render(id) + "  " + style.Render(name) + ui.Dim.Render(rest)
}

// rows prints the items of a session; sub-sessions stand in frames.
func (t *viewText) rows(s *view.Session, c viewColumns) {
	for _, p := range s.Pieces(c.level > 0 && !t.opts.Full) {
		switch {
		case p.Row == nil:
			t.print("", c.frames+ui.Dim.Render("…"+strconv.Itoa(p.Hidden)+" more (--full)"))
		case p.Row.Child != nil:
			t.frame(p.Row, c)
		default:
			t.row(p.Row, c)
		}
	}
}

// frame prints a sub-session at its item.
func (t *viewText) frame(r *view.Row, c viewColumns) {
	number := ""
	if r.Item >= 0 {
		number = strconv.Itoa(r.Item)
	}
	mark := r.Mark()
	if mark == "" {
		mark = r.Child.Mark()
	}
	inner := measure(r.Child, t.width, c.level+1, c.inner())
	head := c.frames + strings.Repeat(" ", c.number-len(number)) + number + " ┌ "
	if inner.frames == c.frames { // no room left to indent
		head += "level " + strconv.Itoa(inner.level) + ": "
	}
	t.print(mark, head+headLine(r.Child, t.width-markColumns-lipgloss.Width(head), lipgloss.NewStyle()))
	if r.Item < 0 && !r.Named {
		t.print("", inner.frames+ui.Dim.Render("no item refers to it"))
	}
	t.remarks("", inner.frames, slices.Concat(r.Notes, r.Child.Notes))
	t.rows(r.Child, inner)
	t.print("", c.frames+strings.Repeat(" ", c.number+1)+"└")
}

// remarks prints what is to be said about a session as a whole.
func (t *viewText) remarks(mark, frames string, notes []view.Note) {
	for _, n := range notes {
		text, style := noteWords(n)
		t.print(mark, frames+style.Render(ui.Truncate(text, t.width-markColumns-lipgloss.Width(frames))))
	}
}
