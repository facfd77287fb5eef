package machine

import (
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
)

const replaySchema = "sessctl.replay/1"

// replayDocument is a head, a list that is written while the events come, and an end.
type replayDocument struct {
	replayHead
	Events []replayEvent `json:"events"`
	replayTail
}

type replayHead struct {
	Schema string       `json:"schema"`
	Tool   render.Tool  `json:"tool"`
	Source replaySource `json:"source"`
	Model  string       `json:"model"`
}

type replaySource struct {
	Path string `json:"path"`
}

type replayTail struct {
	Findings []jsonFinding        `json:"findings"`
	Summary  render.ReplaySummary `json:"summary"`
	ExitCode int                  `json:"exit_code"`
}

// replayEvent is a row.
type replayEvent struct {
	Type         string         `json:"type,omitzero"` // in ndjson only
	Line         int64          `json:"line"`
	LastLine     int64          `json:"last_line,omitzero"`
	Count        int            `json:"count,omitzero"`
	Event        string         `json:"event"`
	Agent        string         `json:"agent,omitzero"`
	Time         time.Time      `json:"time,omitzero"`
	From         string         `json:"from,omitzero"`
	To           string         `json:"to,omitzero"`
	DepthBefore  int            `json:"depth_before"`
	Depth        int            `json:"depth"`
	Frame        []string       `json:"frame,omitempty"`
	FrameSession string         `json:"frame_session,omitzero"`
	Action       string         `json:"action,omitzero"`
	Target       string         `json:"target,omitzero"`
	Reason       string         `json:"reason"`
	Call         string         `json:"call,omitzero"`
	Calls        []string       `json:"calls,omitempty"`
	Child        string         `json:"child,omitzero"`
	Role         string         `json:"role,omitzero"`
	Models       *replayActions `json:"models,omitzero"`
	Anomaly      string         `json:"anomaly,omitzero"`
}

// replayActions are what the two models do with an event.
type replayActions struct {
	Depth     string `json:"depth"`
	SessionID string `json:"session-id"`
}

// replaySummaryLine is the last line of ndjson.
type replaySummaryLine struct {
	Type string `json:"type"`
	replayHead
	render.ReplaySummary
	ExitCode int `json:"exit_code"`
}

func headObject(o *render.ReplayRows) replayHead {
	return replayHead{replaySchema, o.Tool, replaySource{o.Path}, o.Model.String()}
}

// rowObject is a row for machines.
func rowObject(r *recording.Row, model recording.Model) replayEvent {
	e := replayEvent{
		Line: r.Line, Event: r.Name, Agent: r.Agent, Time: r.Time, From: r.From, To: r.To,
		DepthBefore: r.Before, Depth: r.Depth, Frame: r.Path(), Target: r.Target,
		Reason: r.Reason.String(), Call: r.Call, Calls: r.Calls, Child: r.Child, Role: r.Row.String(),
	}
	if r.Count > 1 {
		e.LastLine, e.Count = r.Last, r.Count
	}
	if r.Frame != nil {
		e.FrameSession = r.Frame.Child
	}
	if r.Action != replay.None {
		e.Action = r.Action.String()
	}
	if r.Disagree() {
		e.Models = &replayActions{Depth: r.Other.String(), SessionID: r.Action.String()}
		if model == recording.ByDepth {
			e.Models = &replayActions{Depth: r.Action.String(), SessionID: r.Other.String()}
		}
	}
	if r.Anomaly != nil {
		e.Anomaly = replayAnomalies[r.Anomaly.Kind]
	}
	return e
}

// replayJSON writes one document around the events, which it prints as they come.
type replayJSON struct {
	*render.ReplayRows
	out  io.Writer
	next string // what stands in front of the next event, or of the end where none came
}

// NewReplay writes one document.
func NewReplay(opts render.ReplayOptions) render.ReplayWriter {
	j := &replayJSON{}
	j.ReplayRows = render.NewReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		if err := j.beginEvent(); err != nil {
			return err
		}
		j.next = ",\n" + eventIndent
		return json.MarshalWrite(j.out, rowObject(r, j.Model), tolerant, jsontext.WithIndentPrefix(eventIndent), jsontext.WithIndent("  "))
	})
	j.out = EscapeJSON(j.Out)
	return j
}

const eventIndent = "    "

// beginEvent writes what stands before an event.
func (j *replayJSON) beginEvent() error {
	if j.next == "" {
		before, _, err := j.aroundList(nil, 0)
		if err != nil {
			return err
		}
		j.next = before + "[\n" + eventIndent
	}
	_, err := io.WriteString(j.out, j.next)
	return err
}

// aroundList is what stands before the list of the events and behind it.
func (j *replayJSON) aroundList(findings []jsonFinding, code int) (before, behind string, err error) {
	const list = `"events": ` // within a string, a quotation mark has a backslash in front of it
	text, err := json.Marshal(replayDocument{headObject(j.ReplayRows), nil, replayTail{findings, j.Summary, code}}, tolerant, jsontext.WithIndent("  "))
	before, behind, _ = strings.Cut(string(text), list+"[]")
	return before + list, behind + "\n", err
}

func (j *replayJSON) Close(end render.ReplayEnd) error {
	if err := j.End(&end); err != nil {
		return err
	}
	before, behind, err := j.aroundList(lists.MapEach(end.Findings, func(f *check.Finding) jsonFinding { return findingObject(j.Path, f) }), end.ExitCode)
	if err != nil {
		return err
	}
	list := "\n  ]"
	if j.next == "" {
		list = before + "[]"
	}
	if _, err := io.WriteString(j.out, list+behind); err != nil {
		return err
	}
	return j.Out.Flush()
}

// replayLines writes an object a line.
type replayLines struct{ *render.ReplayRows }

// ReplayLines writes an object a line.
func ReplayLines(opts render.ReplayOptions) render.ReplayWriter {
	l := &replayLines{}
	l.ReplayRows = render.NewReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		object := rowObject(r, l.Model)
		object.Type = "event"
		return writeLine(l.Out, object)
	})
	return l
}

func (l *replayLines) Close(end render.ReplayEnd) error {
	if err := l.End(&end); err != nil {
		return err
	}
	for _, f := range end.Findings {
		object := findingObject(l.Path, f)
		object.Type = "finding"
		if err := writeLine(l.Out, object); err != nil {
			return err
		}
	}
	if err := writeLine(l.Out, replaySummaryLine{"summary", headObject(l.ReplayRows), l.Summary, end.ExitCode}); err != nil {
		return err
	}
	return l.Out.Flush()
}

// replayAnomalies are the names of what is odd.
var replayAnomalies = [...]string{
	recording.UnmatchedEnd: "unmatched-end", recording.UnmatchedStart: "unmatched-start", recording.CutOff: "cut-off",
	recording.BegunInside: "begun-inside",
}
