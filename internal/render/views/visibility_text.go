package views

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibility prints who could see what, with the count at the end.
func (t *viewText) visibility() {
	v := t.v.Visibility
	for _, said := range v.Remarks(t.v.Store) {
		t.add(render.Say(said), document.Gap{})
	}
	table := newVisibilityTable(v)
	switch {
	case len(v.Events) == 0: // nothing is stored, or nothing in dispute
	case len(v.Holders) > 0:
		t.add(holderTable(v))
	case v.Single:
		t.events(table)
	default:
		t.matrix(table)
	}
	if len(v.Events) > 0 {
		t.out.WriteString("\n")
	}
	t.out.WriteString(visibilityCount(v) + "\n")
	t.add(t.next()...)
}

// visibilityHead names the viewer and the model.
func (t *viewText) visibilityHead() string {
	v := t.v.Visibility
	if !v.Single {
		return modelWords(t.v)
	}
	viewer := &v.Viewers[0]
	name := viewer.Name()
	if viewer.Agent != "" && viewer.Key != "" && viewer.Key != viewer.Session.ID {
		name += " (" + viewer.Agent + ")"
	}
	return "viewer: " + name + " · " + modelWords(t.v)
}

// matrix prints a column for each viewer, in as many blocks as the width needs, or what
// each of many viewers sees.
func (t *viewText) matrix(table *visibilityTable) {
	if table.v.Crowd() {
		t.add(table.crowd()...)
		t.out.WriteString("\n")
		t.events(table)
		return
	}
	t.legend(table)
	all := table.viewers
	signs := len(letters(len(all) - 1))
	for len(all) > 0 {
		table.viewers = nil
		frame := measureGrid(table, t.width/2)
		room := t.width - frame.width()
		n := min(max((room-1)/(signs+1), 1), len(all)) // the first one stands two columns apart
		table.viewers, all = all[:n], all[n:]
		t.out.WriteString("\n")
		t.events(table)
	}
	t.add(document.Gap{}, render.Say(strings.Join(table.legend(), ", ")))
}

// legend says which viewer a column stands for.
func (t *viewText) legend(table *visibilityTable) {
	v := table.v
	list := document.Table{Columns: []document.Column{{Name: ""}, {Name: "viewer", Give: document.Tail}, {Name: "agent"}}}
	if table.sets {
		list.Columns = append(list.Columns, document.Column{Name: "tokens"})
	}
	list.Columns = append(list.Columns, document.Column{Name: "sees", Right: true})
	for i := range v.Viewers {
		viewer := &v.Viewers[i]
		name := view.Label(viewer.Branch)
		if viewer.Key == viewer.Session.ID {
			name = "session " + rules.Short(viewer.Key)
		}
		if viewer.Scope != "" {
			name += " (scope " + viewer.Scope + ")"
		}
		row := render.Cells(letters(i), name, ui.Excerpt(viewer.Agent, 20))
		if table.sets {
			row = append(row, document.Words(view.Label(viewer.Set)))
		}
		list.Rows = append(list.Rows, append(row, document.Words(sees(v, viewer))))
	}
	t.add(list)
}

// events prints the table of events, where a sub-session begins and ends, and what
// events say: whole where that is asked for, else where the width allows.
func (t *viewText) events(table *visibilityTable) {
	grid := measureGrid(table, t.width)
	t.out.WriteString(grid.line(table.names(), false) + "\n")
	in := t.v.Shown.Session
	text := t.width - grid.width() - len(columnGap)
	for i := range table.v.Events {
		e := &table.v.Events[i]
		if e.Session != in {
			in = e.Session
			t.out.WriteString(ui.Dim.Render(ui.Truncate(sessionWords(in, t.v.Shown.Session), t.width)) + "\n")
		}
		if t.out.Len() > 1<<16 {
			t.flush()
		}
		line := grid.line(table.row(e), t.opts.Screen.Color || !table.v.Single)
		switch {
		case t.opts.Full:
			t.out.WriteString(line + "\n")
			t.whole(e, grid.number+len(columnGap))
			continue
		case text >= leastText:
			line = ui.Pad(line, grid.width()) + columnGap + ui.Excerpt(e.About(), text)
		}
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func sessionWords(in, shown *session.Session) string {
	if in == shown {
		return "back in this session:"
	}
	return "in sub-session " + ui.Clean(rules.Short(in.ID)) + ":"
}

// whole prints what an event says below its line.
func (t *viewText) whole(e *view.Event, indent int) {
	text := e.About()
	if text == "" {
		return
	}
	for _, l := range wrapped(text, max(t.width-indent, leastText)) {
		t.out.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+l.content, " ") + "\n")
	}
}

// grid are the widths of the columns of a table of events.
type grid struct {
	widths []int
	number int // columns of the position
	marks  int // the index of the first column of verdicts
	made   map[gridCell]string
}

const (
	widestAuthor = 14
	leastBranch  = 12
)

// measureGrid fits the columns into a width: the branch gives way.
func measureGrid(table *visibilityTable, width int) grid {
	names := table.names()
	g := grid{widths: make([]int, len(names)), marks: 3, made: map[gridCell]string{}}
	if table.sets {
		g.marks = 4
	}
	for i, name := range names {
		g.widths[i] = len(name)
	}
	for n := range table.v.Events {
		for i, cell := range table.row(&table.v.Events[n]) {
			if len(cell) > g.widths[i] { // no character is wider than its bytes
				g.widths[i] = max(g.widths[i], ui.Width(cell))
			}
		}
	}
	g.number = g.widths[0]
	g.widths[1] = min(g.widths[1], widestAuthor)
	for _, i := range []int{2, 3} { // the branch, then its tokens or the first verdict
		if over := g.width() - width; over > 0 && i < g.marks {
			g.widths[i] = max(g.widths[i]-over, min(g.widths[i], leastBranch))
		}
	}
	if last := len(g.widths) - 1; table.v.Single {
		g.widths[last] = max(g.widths[last]-max(g.width()-width, 0), len("why"))
	}
	return g
}

// gap is what stands in front of a column. Those of a matrix stand close.
func (g *grid) gap(i int) int {
	if i == 0 {
		return 0
	}
	if i > g.marks && g.widths[i] <= 2 {
		return 1
	}
	return len(columnGap)
}

func (g *grid) width() int {
	sum := 0
	for i, w := range g.widths {
		sum += g.gap(i) + w
	}
	return sum
}

// line prints the cells of a row; verdicts get a colour.
func (g *grid) line(cells []string, colour bool) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", max(g.widths[0]-len(cells[0]), 0)) + cells[0])
	for i, cell := range cells[1:] {
		b.WriteString(g.cell(i+1, cell, colour))
	}
	return strings.TrimRight(b.String(), " ")
}

// cell is one cell behind the gap before it. Most occur in many rows and are made
// once.
func (g *grid) cell(i int, text string, colour bool) string {
	key := gridCell{i, text, colour}
	if made, known := g.made[key]; known {
		return made
	}
	out := text
	if i == 2 || i == 3 && i < g.marks {
		out = ui.Tail(out, g.widths[i])
	}
	out = ui.Pad(out, g.widths[i])
	if style, marked := verdictStyles[text]; marked && colour && i >= g.marks {
		out = style.Render(out)
	}
	out = strings.Repeat(" ", g.gap(i)) + out
	g.made[key] = out
	return out
}

type gridCell struct {
	column int
	text   string
	colour bool
}

var verdictStyles = map[string]lipgloss.Style{
	"yes": ui.Green, seenSign: ui.Green, ownSign: ui.Green, "no": ui.Yellow, sameSign: ui.Dim,
}

// columnGap stands between the columns of a table.
const columnGap = "  "
