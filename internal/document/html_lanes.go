package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
)

// The picture of a diagram: a column for each participant, and a row for each step, whose
// text may have several lines.
const (
	laneWidth, laneStart = 24, 12 // in pixels
	rowMiddle, bend      = 16, 8
	laneColors           = 8
)

type htmlLanes struct {
	Names []string
	Width int
	Rows  []laneRow
}

type laneRow struct {
	*Step
	Kind     string
	From, To string // names
	Lane, At int    // x of the lane, and of the one that it leads to
	Color    int
	Path     string
	Arrow    string // at the end of the path
	Lines    []laneLine
}

// laneLine is a lane in a row: all of it, or from and to its middle.
type laneLine struct{ X, Color, Y1, Y2 int }

// Bottom is where the line ends.
func (l laneLine) Bottom() string {
	if l.Y2 == 0 {
		return "100%"
	}
	return strconv.Itoa(l.Y2)
}

// lanesOf lays a diagram out.
func lanesOf(d Diagram) htmlLanes {
	var out htmlLanes
	var steps []*Step
	lane, first, last := map[string]int{}, map[int]int{}, map[int]int{}
	for i := range d {
		s := &d[i]
		switch s.Kind {
		case Enter:
			lane[s.From], out.Names = len(out.Names), append(out.Names, ui.Clean(strings.Join(s.Lines, " ")))
			continue
		case Release:
			continue
		}
		for _, name := range []string{s.From, cmp.Or(s.To, s.From)} {
			at := lane[name]
			if _, known := first[at]; !known {
				first[at] = len(steps)
			}
			last[at] = len(steps)
		}
		steps = append(steps, s)
	}
	out.Width = laneStart*2 + laneWidth*max(len(out.Names)-1, 0)
	x := func(lane int) int { return laneStart + laneWidth*lane }
	for i, s := range steps {
		from, to := lane[s.From], lane[cmp.Or(s.To, s.From)]
		row := laneRow{Step: s, From: out.Names[from], To: out.Names[to], Lane: x(from), At: x(to), Color: from % laneColors, Kind: "said"}
		begins, ends := rowMiddle, rowMiddle
		if from != to {
			row.Kind = map[StepKind]string{Lost: "leaked", Answer: "answer", Close: "answer"}[s.Kind]
			side := map[bool]int{true: 1, false: -1}[to > from]
			start, end := fmt.Sprintf("M%d %d", row.Lane, rowMiddle), fmt.Sprintf("H%d", row.At-side)
			if row.Kind == "answer" && last[from] == i {
				ends, start = rowMiddle-bend, fmt.Sprintf("M%d %dQ%d %d %d %d", row.Lane, rowMiddle-bend, row.Lane, rowMiddle, row.Lane+side*bend, rowMiddle)
			}
			if row.Kind == "" && first[to] == i && last[to] > i {
				begins, end = rowMiddle+bend, fmt.Sprintf("H%dQ%d %d %d %d", row.At-side*bend, row.At, rowMiddle, row.At, rowMiddle+bend)
			} else if row.Kind != "leaked" {
				row.Arrow = fmt.Sprintf("M%d %dL%d %dL%d %dZ", row.At-side*7, rowMiddle-4, row.At-side, rowMiddle, row.At-side*7, rowMiddle+4)
			}
			row.Path = start + end
		}
		row.Kind = cmp.Or(row.Kind, "asked")
		for n := range out.Names {
			line := laneLine{X: x(n), Color: n % laneColors}
			if i == first[n] {
				line.Y1 = map[bool]int{true: begins, false: rowMiddle}[n == to]
			}
			if i == last[n] {
				line.Y2 = map[bool]int{true: ends, false: rowMiddle}[n == from]
			}
			if first[n] <= i && i <= last[n] && (line.Y2 == 0 || line.Y1 < line.Y2) {
				row.Lines = append(row.Lines, line)
			}
		}
		slices.Reverse(row.Lines)
		out.Rows = append(out.Rows, row)
	}
	return out
}
