package views

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// printVisibility prints who could see what, with the count at the end.
func (t *viewText) printVisibility() {
	v := t.v.Visibility
	for _, said := range v.Remarks(t.v.Store) {
		t.printBlocks(render.Say(said), document.Gap{})
	}
	table := newVisibilityTable(v)
	switch {
	case len(v.Events) == 0: // nothing is stored, or nothing in dispute
	case len(v.Holders) > 0:
		t.printBlocks(holderTable(v))
	case v.Single:
		t.printEvents(table)
	default:
		t.printMatrix(table)
	}
	t.markPlace(nil, 0, nil)
	if len(v.Events) > 0 {
		t.out.WriteString("\n")
	}
	t.out.WriteString(visibilityCount(v) + "\n")
	t.printBlocks(t.nextCommands()...)
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

// printMatrix prints a column for each viewer, in as many blocks as the width needs, or what
// each of many viewers sees.
func (t *viewText) printMatrix(table *visibilityTable) {
	if table.v.IsCrowd() {
		t.printBlocks(table.crowdBlocks()...)
		t.out.WriteString("\n")
		t.printEvents(table)
		return
	}
	t.printLegend(table)
	all := table.viewers
	signs := len(viewerLetters(len(all) - 1))
	for len(all) > 0 {
		table.viewers = nil
		frame := measureGrid(table, t.width/2)
		room := t.width - frame.totalWidth()
		n := min(max((room-1)/(signs+1), 1), len(all)) // the first one stands two columns apart
		table.viewers, all = all[:n], all[n:]
		t.out.WriteString("\n")
		t.printEvents(table)
	}
	t.printBlocks(document.Gap{}, render.Say(strings.Join(table.signLegend(), ", ")))
}

// printLegend says which viewer a column stands for.
func (t *viewText) printLegend(table *visibilityTable) {
	v := table.v
	list := document.Table{Columns: []document.Column{{Name: ""}, {Name: "viewer", Give: document.Tail}, {Name: "agent"}}}
	if table.sets {
		list.Columns = append(list.Columns, document.Column{Name: "tokens"})
	}
	list.Columns = append(list.Columns, document.Column{Name: "sees", Right: true})
	for i := range v.Viewers {
		viewer := &v.Viewers[i]
		name := view.BranchLabel(viewer.Branch)
		if viewer.Key == viewer.Session.ID {
			name = "session " + rules.ShortID(viewer.Key)
		}
		if viewer.Scope != "" {
			name += " (scope " + viewer.Scope + ")"
		}
		row := render.Cells(viewerLetters(i), name, ui.Excerpt(viewer.Agent, 20))
		if table.sets {
			row = append(row, document.Words(view.BranchLabel(viewer.Set)))
		}
		list.Rows = append(list.Rows, append(row, document.Words(seesCount(v, viewer))))
	}
	t.printBlocks(list)
}

// printEvents prints the table of events, where a sub-session begins and ends, and what
// events say: whole where that is asked for, else where the width allows.
func (t *viewText) printEvents(table *visibilityTable) {
	grid := measureGrid(table, t.width)
	t.out.WriteString(grid.gridLine(table.columnNames(), false) + "\n")
	in := t.v.Shown.Session
	text := t.width - grid.totalWidth() - len(columnGap)
	for i := range table.v.Events {
		e := &table.v.Events[i]
		if e.Session != in {
			in = e.Session
			t.out.WriteString(ui.Dim.Render(ui.Truncate(sessionWords(in, t.v.Shown.Session), t.width)) + "\n")
		}
		if t.out.Len() > 1<<16 {
			t.flushOutput()
		}
		t.markPlace(e.Session, e.Item, nil)
		line := grid.gridLine(table.eventCells(e), t.opts.Screen.Color || !table.v.Single)
		switch {
		case t.opts.Full:
			t.out.WriteString(line + "\n")
			t.printWhole(e, grid.number+len(columnGap))
			continue
		case text >= leastText:
			line = ui.Pad(line, grid.totalWidth()) + columnGap + ui.Excerpt(e.About(), text)
		}
		if t.places != nil && table.v.Single && !table.v.Cell(e, 0, 0).Visible {
			line = ui.Dim.Render(ansi.Strip(line))
		}
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func sessionWords(in, shown *session.Session) string {
	if in == shown {
		return "back in this session:"
	}
	return "in sub-session " + ui.Clean(rules.ShortID(in.ID)) + ":"
}

// printWhole prints what an event says below its line.
func (t *viewText) printWhole(e *view.Event, indent int) {
	text := e.About()
	if text == "" {
		return
	}
	for _, l := range wrapText(text, max(t.width-indent, leastText)) {
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
	names := table.columnNames()
	g := grid{widths: make([]int, len(names)), marks: 3, made: map[gridCell]string{}}
	if table.sets {
		g.marks = 4
	}
	for i, name := range names {
		g.widths[i] = len(name)
	}
	for n := range table.v.Events {
		for i, cell := range table.eventCells(&table.v.Events[n]) {
			if len(cell) > g.widths[i] { // no character is wider than its bytes
				g.widths[i] = max(g.widths[i], ui.Width(cell))
			}
		}
	}
	g.number = g.widths[0]
	g.widths[1] = min(g.widths[1], widestAuthor)
	for _, i := range []int{2, 3} { // the branch, then its tokens or the first verdict
		if over := g.totalWidth() - width; over > 0 && i < g.marks {
			g.widths[i] = max(g.widths[i]-over, min(g.widths[i], leastBranch))
		}
	}
	if last := len(g.widths) - 1; table.v.Single {
		g.widths[last] = max(g.widths[last]-max(g.totalWidth()-width, 0), len("why"))
	}
	return g
}

// gapBefore is what stands in front of a column. Those of a matrix stand close.
func (g *grid) gapBefore(i int) int {
	if i == 0 {
		return 0
	}
	if i > g.marks && g.widths[i] <= 2 {
		return 1
	}
	return len(columnGap)
}

func (g *grid) totalWidth() int {
	sum := 0
	for i, w := range g.widths {
		sum += g.gapBefore(i) + w
	}
	return sum
}

// gridLine prints the cells of a row; verdicts get a colour.
func (g *grid) gridLine(cells []string, colour bool) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", max(g.widths[0]-len(cells[0]), 0)) + cells[0])
	for i, cell := range cells[1:] {
		b.WriteString(g.cellText(i+1, cell, colour))
	}
	return strings.TrimRight(b.String(), " ")
}

// cellText is one cell behind the gap before it. Most occur in many rows and are made
// once.
func (g *grid) cellText(i int, text string, colour bool) string {
	key := gridCell{i, text, colour}
	if made, known := g.made[key]; known {
		return made
	}
	out := text
	if i == 2 || i == 3 && i < g.marks {
		out = ui.TruncateLeft(out, g.widths[i])
	}
	out = ui.Pad(out, g.widths[i])
	if style, marked := verdictStyles[text]; marked && colour && i >= g.marks {
		out = style.Render(out)
	}
	out = strings.Repeat(" ", g.gapBefore(i)) + out
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
