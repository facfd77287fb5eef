package render

import (
	"bufio"
	"io"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/ui"
)

// ReplayWriter prints a replay while the events come. Its memory does not grow
// with their number. A diagram's grows with the number of sessions: it remembers
// the name of each, for a session may speak again at any time.
type ReplayWriter interface {
	// Event takes the next event with its verdict and keeps neither. A row in which
	// events are folded is printed when the next row begins: no earlier is it known
	// how many they are. So is a note of a diagram.
	Event(e *recording.Event, step *recording.Step) error
	// Close prints what is left and how it ended. Rows may be held back until then.
	Close(end ReplayEnd) error
}

// ReplayOptions say how a replay is printed.
type ReplayOptions struct {
	Screen *ui.Screen
	Tool   Tool
	Home   string // the folder that ~ stands for
	Path   string // of the recording; "-" is standard input
	Model  recording.Model
	All    bool // every event is a row; a diagram folds them nevertheless
	Quiet  bool // rows and findings only
	Live   bool // the events are happening: no row waits for others to fill a buffer

	MaxFindings int // of one rule, in text and table; 0 for no limit
}

// ReplayEnd is how a replay ended.
type ReplayEnd struct {
	Findings []*check.Finding // about the recording
	ExitCode int
	Next     []Command
}

// ReplaySummary counts what was printed.
type ReplaySummary struct {
	Events        int `json:"events"`        // events that were read
	Rows          int `json:"rows"`          // objects in `events`
	Persist       int `json:"persist"`       // of them, with this action
	Skip          int `json:"skip"`          // of them, with this action
	Disagreements int `json:"disagreements"` // of them, with `models`
	Delegations   int `json:"delegations"`   // that opened
	Severities
}

// ReplayRows is what the writers share: events are folded, counted and printed
// through a buffer. A terminal gets each row at once, and so does everybody while
// the run goes on.
type ReplayRows struct {
	ReplayOptions
	fold    *recording.Fold
	Summary ReplaySummary
	Odd     int // rows with an anomaly
	Out     *bufio.Writer
}

// NewReplayRows makes rows that print goes through.
func NewReplayRows(opts ReplayOptions, w io.Writer, print func(*recording.Row) error) *ReplayRows {
	r := &ReplayRows{ReplayOptions: opts, Out: bufio.NewWriterSize(w, 1<<16)}
	r.fold = recording.NewFold(opts.All, func(row *recording.Row) error {
		r.countRow(row)
		if err := print(row); err != nil || !opts.Screen.Terminal && !opts.Live {
			return err
		}
		return r.Out.Flush()
	})
	return r
}

// Event takes the next event.
func (r *ReplayRows) Event(e *recording.Event, step *recording.Step) error {
	r.Summary.Events++
	return r.fold.Take(e, step)
}

func (r *ReplayRows) countRow(row *recording.Row) {
	r.Summary.Rows++
	r.Summary.Delegations += max(0, row.Depth-row.Before)
	switch row.Action {
	case replay.Persist:
		r.Summary.Persist++
	case replay.Skip:
		r.Summary.Skip++
	}
	if row.Disagree() {
		r.Summary.Disagreements++
	}
	if row.Anomaly != nil {
		r.Odd++
	}
}

// End prints the last row and counts the findings.
func (r *ReplayRows) End(end *ReplayEnd) error {
	if err := r.fold.End(); err != nil {
		return err
	}
	r.Summary.Add(end.Findings)
	return nil
}

// Write prints a piece of text as a whole: a style or a letter that is parted between two
// writes would not be known as one.
func (r *ReplayRows) Write(p []byte) (int, error) {
	if len(p) > r.Out.Available() {
		if err := r.Out.Flush(); err != nil {
			return 0, err
		}
	}
	return r.Out.Write(p)
}
