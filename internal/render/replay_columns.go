package render

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/ui"
)

// replayColumn is a column of a width that follows from the screen: rows are
// printed before the next ones are known.
type replayColumn struct {
	name  string
	width int
	cell  func(r *recording.Row, o *ReplayOptions, width int) string // clean, and not wider but for a reason
	style func(r *recording.Row) lipgloss.Style                      // nil for none
}

// The signs in front of a row, in columns of their own.
const (
	disagreeSign = "≠"
	oddSign      = "!"
	signColumns  = 2
)

func replaySign(r *recording.Row) (string, lipgloss.Style) {
	switch {
	case r.Anomaly != nil:
		return oddSign, ui.Red
	case r.Disagree():
		return disagreeSign, ui.Yellow
	}
	return " ", ui.Dim
}

// replayColumns shares the width out: what is left beside the columns that are as
// wide as they are goes to the event, the frame and the reason.
func replayColumns(width int, table bool) []replayColumn {
	const narrowest = 60 // of a screen: on a narrower one lines are broken by the terminal
	columns := []replayColumn{
		{name: "event", cell: eventCell},
		{name: "depth", width: 5, cell: func(r *recording.Row, _ *ReplayOptions, _ int) string { return replayDepth(r) }},
		{name: "frame", cell: frameCell},
		{name: "action", width: 7, cell: actionCell, style: actionStyle},
		{name: "why", cell: whyCell},
	}
	if table {
		columns[len(columns)-1].cell = whyAndOtherCell
		columns = append([]replayColumn{{name: "line", width: 6, cell: lineCell}}, columns...)
		for i := range columns {
			columns[i].name = strings.ToUpper(columns[i].name)
		}
	}
	room := max(width, narrowest) - signColumns - len(columnGap)*(len(columns)-1)
	for _, c := range columns {
		room -= c.width
	}
	// Of 80 columns the event gets what "agent_switching root→worker" takes.
	event, frame := min(room*47/100, 36), min(room/5, 28)
	last := len(columns) - 1
	columns[last-4].width, columns[last-2].width, columns[last].width = event, frame, room-event-frame
	return columns
}

// lineCell is the line of the first event, as a number.
func lineCell(r *recording.Row, _ *ReplayOptions, width int) string {
	number := strconv.FormatInt(r.Line, 10)
	return strings.Repeat(" ", max(0, width-len(number))) + number
}

func eventCell(r *recording.Row, _ *ReplayOptions, width int) string {
	return ui.Truncate(replayEventWords(r), width)
}

// frameCell is the path of agents; of a long one the end, which tells it from
// others.
func frameCell(r *recording.Row, _ *ReplayOptions, width int) string {
	path := strings.Join(replayFrame(r), "/")
	if path == "" {
		return nothingSign
	}
	return tail(ui.Clean(path), width)
}

const nothingSign = "–"

func actionCell(r *recording.Row, _ *ReplayOptions, _ int) string {
	if r.Action == replay.None {
		return nothingSign
	}
	return r.Action.String()
}

func actionStyle(r *recording.Row) lipgloss.Style {
	return [...]lipgloss.Style{replay.Persist: ui.Green, replay.Skip: ui.Yellow, replay.None: ui.Dim}[r.Action]
}

func whyCell(r *recording.Row, _ *ReplayOptions, width int) string { return replayWhy(r, width) }

// whyAndOtherCell says besides what the other model would do, for want of a line
// of its own.
func whyAndOtherCell(r *recording.Row, o *ReplayOptions, width int) string {
	return replayWhyAndOther(r, o.Model, width)
}
