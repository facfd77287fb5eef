package render

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
)

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
	seen := map[gridCell]bool{}
	for n := range table.v.Events {
		for i, cell := range table.row(&table.v.Events[n]) {
			if key := (gridCell{column: i, text: cell}); i == 0 {
				g.widths[i] = max(g.widths[i], len(cell))
			} else if !seen[key] {
				seen[key] = true
				g.widths[i] = max(g.widths[i], lipgloss.Width(cell))
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
