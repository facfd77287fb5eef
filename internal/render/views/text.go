// Package views prints a session: its items, its next request, what passed between it and
// its children, and who could see what.
package views

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// Options say how a view is shown.
type Options struct {
	Screen *ui.Screen
	Full   bool             // whole texts, arguments, results and reasoning
	Next   []render.Command // what to type after it
	Rest   string           // the command that shows what an HTML page has no room for

	// Open are the sub-sessions of which Lines has the items; of the others it has a line.
	Open map[string]bool
}

// PrintView prints a view in a format: text, json or markdown, and lanes and who could see what
// also as mermaid.
func PrintView(format string, v *view.View, opts Options) error {
	switch format {
	case "json":
		return machine.PrintView(opts.Screen.Plain(), v, opts.Full)
	case "mermaid":
		diagram := func(v *view.View) document.Diagram { return lanesDiagram(lanes{v.Lanes}) }
		if v.Visibility != nil {
			diagram = func(v *view.View) document.Diagram { return visibilityDiagram(v, opts.Full) }
		}
		return document.NewPrinter(format, opts.Screen)(document.Document{diagram(v)})
	case "text":
		return printText(v, opts)
	case "html":
		if v.Shown.Rows != nil || v.Visibility == nil && v.Borders == nil {
			return document.NewPrinter(format, opts.Screen)(htmlDocument(v, opts))
		}
	}
	return viewPage{full: opts.Full}.printPage(v, document.NewPrinter(format, opts.Screen))
}

func printText(v *view.View, opts Options) error {
	t := &viewText{v: v, opts: opts, width: opts.Screen.Width}
	t.printHead()
	switch {
	case v.Visibility != nil:
		t.printVisibility()
	case v.Borders != nil:
		t.printBlocks(append(borderBlocks(v, opts.Full), t.nextCommands()...)...)
	case v.Lanes != nil:
		t.printLanes()
		t.printEnd()
	case v.Request != nil:
		t.printRequest()
		t.printEnd()
	default:
		t.printRows(v.Shown, measureColumns(v.Shown, t.width, 0, ""))
		t.printEnd()
	}
	t.flushOutput()
	return t.err
}

type viewText struct {
	v     *view.View
	opts  Options
	width int // of lines in columns
	out   bytes.Buffer
	err   error // of the screen

	places []placed // what the output is about, nil where nobody asks; then nothing is flushed
}

// flushOutput shows what was printed: whole lines, because the screen takes out styles.
func (t *viewText) flushOutput() {
	if t.places != nil {
		return
	}
	if t.err == nil {
		_, t.err = t.opts.Screen.Write(t.out.Bytes())
	}
	t.out.Reset()
}

// printHead names the session, and whose request is shown.
func (t *viewText) printHead() {
	s := t.v.Shown
	t.out.WriteString(headLine(s, t.width, ui.Bold) + "\n")
	if s.Parent != "" {
		t.out.WriteString(ui.Dim.Render(ui.Truncate("sub-session of "+ui.Clean(s.Parent), t.width)) + "\n")
	}
	if read := render.ReadingNote(t.v.Store); read != "" {
		t.out.WriteString(ui.Dim.Render(ui.Truncate(ui.Clean(read), t.width)) + "\n")
	}
	if r := t.v.Request; r != nil {
		t.printBlocks(render.Say(r.Head()))
	}
	if t.v.Visibility != nil {
		t.printBlocks(render.Say(t.visibilityHead()))
	}
	t.printRemarks(s.Mark(), "", s.Notes)
	t.out.WriteString("\n")
}

// headLine is the line that names a session; when it does not fit, its title
// gives way first.
func headLine(s *view.Session, width int, style lipgloss.Style) string {
	id := ui.Clean(rules.ShortID(s.ID))
	rest := ""
	if s.Agent != "" {
		rest = "   " + ui.Excerpt(s.Agent, 20)
	}
	rest += "   " + sizeWords(s)
	if day := render.Date(s.Created); day != "" {
		rest += "   " + day
	}
	room := width - lipgloss.Width(id) - 2
	name := ui.Excerpt(render.Title(s.Title), max(room-lipgloss.Width(rest), 12))
	if room -= lipgloss.Width(name); room < 5 {
		rest = ""
	}
	rest = ui.Truncate(rest, room)
	return ui.Cyan.Render(id) + "  " + style.Render(name) + ui.Dim.Render(rest)
}

// printRows prints the items of a session; sub-sessions stand in frames.
func (t *viewText) printRows(s *view.Session, c viewColumns) {
	for _, p := range s.Pieces(c.level > 0 && !t.opts.Full && t.places == nil) {
		if p.Row != nil {
			t.markPlace(s.Session, p.Row.Item, p.Row)
		}
		switch {
		case p.Row == nil:
			t.printMarked("", c.frames+ui.Dim.Render("…"+strconv.Itoa(p.Hidden)+" more (--full)"))
		case p.Row.Child != nil:
			t.printFrame(p.Row, c)
		default:
			t.printRow(s.WholeRow(p.Row), c)
		}
		if t.err = cmp.Or(t.err, t.v.Err()); t.err != nil {
			return
		}
	}
}

// printFrame prints a sub-session at its item.
func (t *viewText) printFrame(r *view.Row, c viewColumns) {
	number := ""
	if r.Item >= 0 {
		number = strconv.Itoa(r.Item)
	}
	mark := r.Mark()
	if mark == "" {
		mark = r.Child.Mark()
	}
	inner := measureColumns(r.Child, t.width, c.level+1, c.innerFrames())
	corner, folded := " ┌ ", t.places != nil && !t.opts.Open[r.Child.ID]
	if folded {
		corner = " ▸ "
	}
	head := c.frames + strings.Repeat(" ", c.number-len(number)) + number + corner
	if inner.frames == c.frames { // no room left to indent
		head += "level " + strconv.Itoa(inner.level) + ": "
	}
	t.printMarked(mark, head+headLine(r.Child, t.width-markColumns-lipgloss.Width(head), lipgloss.NewStyle()))
	if r.Item < 0 && !r.Named {
		t.printMarked("", inner.frames+ui.Dim.Render("no item refers to it"))
	}
	t.printRemarks("", inner.frames, slices.Concat(r.Notes, r.Child.Notes))
	if folded {
		return
	}
	t.printRows(r.Child, inner)
	t.printMarked("", c.frames+strings.Repeat(" ", c.number+1)+"└")
}

// printRemarks prints what is to be said about a session as a whole.
func (t *viewText) printRemarks(mark, frames string, notes []view.Note) {
	for _, n := range notes {
		text, style := noteWords(n)
		t.printMarked(mark, frames+style.Render(ui.Truncate(text, t.width-markColumns-lipgloss.Width(frames))))
	}
}

// printRow prints an item: what it says, and what is to be said about it. Position,
// speaker and flags stand on the first line only.
func (t *viewText) printRow(r *view.Row, c viewColumns) {
	lines := t.contentLines(r, c.textWidth())
	first := &lines[0]
	first.mark, first.who = r.Mark(), ui.Excerpt(r.Who, c.who)
	if r.Item >= 0 {
		first.number = strconv.Itoa(r.Item)
	}
	first.right = strings.TrimSpace(strings.Join(r.Flags, ", ") + "  " + first.right)
	for _, n := range r.Notes {
		text, style := noteWords(n)
		for _, l := range ui.Wrap(text, c.textWidth()) {
			lines = append(lines, viewLine{content: l, style: style})
		}
	}
	for _, l := range lines {
		t.putLine(c, l)
	}
}

// contentLines are the lines of what an item says, at least one.
func (t *viewText) contentLines(r *view.Row, width int) []viewLine {
	var lines []viewLine
	if words := rowSubstance(r); words != "" {
		if r.Text != "" && !t.opts.Full && r.Stored != nil {
			words = ui.WithExcerpt(words+":", r.Text, width)
		}
		lines = append(lines, viewLine{content: ui.Clean(words), style: &ui.Dim})
	}
	switch {
	case t.opts.Full:
		if r.Thought != "" {
			lines = append(lines, t.textBlock("reasoning", r.Thought, width)...)
		}
		if r.Text != "" {
			lines = append(lines, wrapText(r.Text, width)...)
		}
	case r.Text != "" && r.Label == "":
		lines = append(lines, viewLine{content: ui.Excerpt(r.Text, width)})
	}
	media := func(list []string) {
		for _, m := range list {
			lines = append(lines, viewLine{content: "  " + ui.Clean(m), style: &ui.Dim})
		}
	}
	media(r.Media)
	for i := range r.Calls {
		call := &r.Calls[i]
		lines = append(lines, viewLine{content: ui.WithExcerpt(callLabel(call), call.About, width), right: answerWords(call.Answer), style: &ui.Cyan})
		if t.opts.Full {
			lines = append(lines, t.textBlock("arguments", call.Args, width)...)
		}
		if t.opts.Full && call.Answer.Folded {
			lines = append(lines, t.textBlock("result", call.Answer.Text, width)...)
		}
		if call.Answer.Folded {
			media(call.Answer.Media)
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
			lines = append(lines, t.textBlock("result", result.Answer.Text, width)...)
		}
		media(result.Answer.Media)
	}
	return lines
}

// textBlock is a whole text below a word that says what it is.
func (t *viewText) textBlock(what, text string, width int) []viewLine {
	if text == "" {
		return nil
	}
	lines := []viewLine{{content: "  " + what, style: &ui.Dim}}
	for _, l := range wrapText(text, width-4) {
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

// wrapText is a whole text in lines of at most width columns.
func wrapText(text string, width int) []viewLine {
	return lists.MapEach(ui.WrapWhole(text, width), func(l string) viewLine { return viewLine{content: l} })
}

// viewColumns are the places of a session's parts on a line: the mark at the
// left edge, the frames of the sessions around it, the position, the speaker,
// and the content with what stands at the right edge.
type viewColumns struct {
	width  int    // of the screen
	frames string // "   │ "
	level  int    // sub-sessions around
	number int    // columns of the position
	who    int    // columns of the speaker
}

const (
	markColumns = 2  // the mark and a space
	leastText   = 30 // columns: deeper sessions are not indented any further
)

// measureColumns finds the columns for a session.
func measureColumns(s *view.Session, width, level int, frames string) viewColumns {
	c := viewColumns{width: width, frames: frames, level: level, number: len(strconv.Itoa(max(len(s.Items)-1, 0))), who: 4}
	widest := 10
	if level > 0 {
		widest = 8
	}
	for i := range s.Rows {
		if c.who == widest {
			break
		}
		c.who = max(c.who, lipgloss.Width(ui.Excerpt(s.Rows[i].Who, widest)))
	}
	return c
}

// textWidth is the number of columns between the speaker and the right edge.
func (c *viewColumns) textWidth() int {
	return max(c.width-markColumns-lipgloss.Width(c.frames)-c.number-1-c.who-2, 10)
}

// innerFrames are the frames around a sub-session of this one. On a narrow screen all
// levels share the first frame.
func (c *viewColumns) innerFrames() string {
	if c.level > 0 && c.textWidth()-c.number-3 < leastText {
		return c.frames
	}
	return c.frames + strings.Repeat(" ", c.number+1) + "│ "
}

// viewLine is one line of a view. Its strings are safe to print.
type viewLine struct {
	mark    string
	number  string
	who     string
	content string
	right   string
	style   *lipgloss.Style // of the content; nil for none
	step    *view.Step      // that it draws, nil for none
}

// putLine prints a line; what does not fit is cut at the content.
func (t *viewText) putLine(c viewColumns, l viewLine) {
	room := c.textWidth()
	if l.right != "" {
		room = max(room-lipgloss.Width(l.right)-2, 8)
	}
	content := ui.Truncate(l.content, room)
	gap := room - lipgloss.Width(content) + 2
	if l.style != nil && content != "" {
		content = l.style.Render(content)
	}
	text := c.frames + strings.Repeat(" ", max(c.number-len(l.number), 0)) + l.number + " " + ui.Pad(l.who, c.who) + "  " + content
	if l.right != "" {
		text += strings.Repeat(" ", gap) + colourState(l.right)
	}
	t.printMarked(l.mark, text)
}

// printMarked prints a line behind its mark.
func (t *viewText) printMarked(mark, text string) {
	switch mark {
	case "!":
		mark = ui.Red.Render(mark)
	case "":
		mark = " "
	}
	t.out.WriteString(strings.TrimRight(mark+" "+text, " ") + "\n")
	if t.out.Len() > atOnce {
		t.flushOutput()
	}
}

// atOnce is how many bytes of a long session are shown together.
const atOnce = 32 << 10

// colourState gives bad ends of calls a colour.
func colourState(state string) string {
	switch {
	case strings.HasPrefix(state, view.Failed.String()), strings.HasPrefix(state, view.NoResult.String()):
		return ui.Red.Render(state)
	case strings.HasPrefix(state, view.Placeholder.String()), strings.HasPrefix(state, view.Pending.String()):
		return ui.Yellow.Render(state)
	}
	return ui.Dim.Render(state)
}

// printEnd prints what is wrong with the sessions shown, and what to type next.
func (t *viewText) printEnd() {
	v := t.v
	var doc document.Document
	if len(v.Shown.Rows) > 0 || v.Request != nil {
		doc = append(doc, document.Gap{})
	}
	switch {
	case len(v.Findings) > 0:
		doc = append(doc, document.Line(render.SeverityCounts(v.Findings)))
	case v.Request == nil || v.Request.FirstRefusal() == nil:
		doc = append(doc, document.Line{render.Span(document.Good, healthySentence(v))})
	}
	for _, f := range v.Findings {
		doc = append(doc, render.NewFinding(f, render.SaidMessage(f), v.Request == nil))
	}
	if v.Others > 0 {
		doc = append(doc, document.Line(document.Words(othersSentence(v))))
	}
	t.printBlocks(append(doc, t.nextCommands()...)...)
}

// nextCommands are the commands to type.
func (t *viewText) nextCommands() document.Document {
	if len(t.opts.Next) == 0 {
		return nil
	}
	return document.Document{document.Gap{}, document.Commands{Lead: "Next:", List: t.opts.Next}}
}

// printBlocks prints blocks.
func (t *viewText) printBlocks(doc ...document.Block) {
	t.out.WriteString(document.OnScreen(t.opts.Screen, doc...))
}

// healthySentence is what is said where nothing is wrong.
func healthySentence(v *view.View) string {
	if v.Shown.Below > 0 {
		return "Nothing is wrong with this session and its sub-sessions."
	}
	return "Nothing is wrong with this session."
}

func othersSentence(v *view.View) string {
	return ui.Count(v.Others, "finding") + " in other sessions of the same tree."
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

// rowSubstance is what stands in the place of a text that a row lacks; "" when its
// calls or results say enough.
func rowSubstance(r *view.Row) string {
	switch {
	case r.Label != "" || r.Text != "" || len(r.Calls) > 0 || len(r.Results) > 0:
		return r.Label
	case r.Thought != "":
		return "(only reasoning, " + ui.Bytes(int64(len(r.Thought))) + ")"
	}
	return "(no text)"
}
