package render

import (
	"bufio"
	"io"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
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

// Replay makes the writer of a format: text, table, json, ndjson or mermaid.
func Replay(format string, opts ReplayOptions) ReplayWriter {
	switch format {
	case "json":
		return newReplayJSON(opts)
	case "ndjson":
		return newReplayLines(opts)
	case "mermaid":
		return newReplayDiagram(opts)
	}
	return newReplayText(opts, format == "table")
}

// replaySummary counts what was printed.
type replaySummary struct {
	Events        int `json:"events"`
	Rows          int `json:"rows"`
	Persist       int `json:"persist"`
	Skip          int `json:"skip"`
	Disagreements int `json:"disagreements"`
	Delegations   int `json:"delegations"`
	Errors        int `json:"errors"`
	Warnings      int `json:"warnings"`
	Infos         int `json:"infos"`
}

// replayRows is what the writers share: events are folded, counted and printed
// through a buffer. A terminal gets each row at once, and so does everybody while
// the run goes on.
type replayRows struct {
	ReplayOptions
	fold    *recording.Fold
	summary replaySummary
	odd     int // rows with an anomaly
	out     *bufio.Writer
}

func newReplayRows(opts ReplayOptions, w io.Writer, print func(*recording.Row) error) *replayRows {
	r := &replayRows{ReplayOptions: opts, out: bufio.NewWriterSize(w, 1<<16)}
	r.fold = recording.NewFold(opts.All, func(row *recording.Row) error {
		r.count(row)
		if err := print(row); err != nil || !opts.Screen.Terminal && !opts.Live {
			return err
		}
		return r.out.Flush()
	})
	return r
}

func (r *replayRows) Event(e *recording.Event, step *recording.Step) error {
	r.summary.Events++
	return r.fold.Take(e, step)
}

func (r *replayRows) count(row *recording.Row) {
	r.summary.Rows++
	r.summary.Delegations += max(0, row.Depth-row.Before)
	switch row.Action {
	case replay.Persist:
		r.summary.Persist++
	case replay.Skip:
		r.summary.Skip++
	}
	if row.Disagree() {
		r.summary.Disagreements++
	}
	if row.Anomaly != nil {
		r.odd++
	}
}

// end prints the last row and counts the findings.
func (r *replayRows) end(end *ReplayEnd) error {
	if err := r.fold.End(); err != nil {
		return err
	}
	for _, f := range end.Findings {
		*map[rules.Severity]*int{
			rules.Error: &r.summary.Errors, rules.Warning: &r.summary.Warnings, rules.Info: &r.summary.Infos,
		}[f.Severity]++
	}
	return nil
}

// write prints a piece of text as a whole: a style or a letter that is parted
// between two writes would not be known as one.
func (r *replayRows) write(text string) error {
	if len(text) > r.out.Available() {
		if err := r.out.Flush(); err != nil {
			return err
		}
	}
	_, err := r.out.WriteString(text)
	return err
}

// Write is write for printers.
func (r *replayRows) Write(p []byte) (int, error) { return len(p), r.write(string(p)) }

// recording is what people call the recording.
func (o *ReplayOptions) recording() string {
	return storeName(&session.Store{Path: o.Path}, o.Home)
}
