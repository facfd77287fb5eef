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
	gap   int                                                      // to the next column
	cell  func(r *recording.Row, width int, left *[]string) string // clean; what has no room goes to left
	style func(r *recording.Row) lipgloss.Style                    // nil for none
}

// The signs in front of a row, in a column of their own.
const (
	disagreeSign = "≠"
	oddSign      = "!"
	signColumns  = 1
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
	const narrowest, tight, roomy = 60, 72, 100 // of a screen: on a narrower one lines are broken by the terminal
	digits, gap := 4, len(columnGap)
	switch {
	case width < tight:
		gap = 1
	case width >= roomy:
		digits = 6
	}
	columns := []replayColumn{
		{name: "line", width: digits, gap: 1, style: func(*recording.Row) lipgloss.Style { return ui.Dim }},
		{name: "event", cell: briefEvent},
		{name: "depth", width: 5, cell: func(r *recording.Row, _ int, _ *[]string) string { return replayDepth(r) }},
		{name: "frame", cell: frameCell},
		{name: "action", width: 7, cell: actionCell, style: actionStyle},
		{name: "why", cell: briefWhy},
	}
	columns[0].cell = func(r *recording.Row, width int, _ *[]string) string {
		return padLeft(strconv.FormatInt(r.Line, 10), width)
	}
	if table {
		columns[len(columns)-1].cell = whyCell
	}
	room := max(width, narrowest) - signColumns
	last := len(columns) - 1
	for i := range columns {
		c := &columns[i]
		if c.gap == 0 && i < last {
			c.gap = gap
		}
		if i == 0 {
			c.name = padLeft(c.name, c.width)
		}
		if table {
			c.name = strings.ToUpper(c.name)
		}
		room -= c.width + c.gap
	}
	// Of 80 columns the event gets what "message_added assistant" takes, the frame
	// "root/worker", and the reason "sub-session" with its id.
	event, frame := min(room*43/100, 36), min(room*21/100, 28)
	columns[last-4].width, columns[last-2].width, columns[last].width = event, frame, room-event-frame
	return columns
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(0, width-len(text))) + text
}

// frameCell is the path of agents; of a long one the end, which tells it from
// others.
func frameCell(r *recording.Row, width int, _ *[]string) string {
	path := replayFrame(r)
	if len(path) == 0 {
		return nothingSign
	}
	names := make([]string, len(path))
	for i, agent := range path {
		names[i] = agentWords(agent)
	}
	return ui.Tail(strings.Join(names, "/"), width)
}

const nothingSign = "–"

func actionCell(r *recording.Row, _ int, _ *[]string) string {
	if r.Action == replay.None {
		return nothingSign
	}
	return r.Action.String()
}

func actionStyle(r *recording.Row) lipgloss.Style {
	return [...]lipgloss.Style{replay.Persist: ui.Green, replay.Skip: ui.Yellow, replay.None: ui.Dim}[r.Action]
}

func whyCell(r *recording.Row, width int, _ *[]string) string { return replayWhy(r, width) }
