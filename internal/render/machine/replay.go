package machine

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
)

const replaySchema = "sessctl.replay/1"

// A document is a head, the list "events", and an end; the list is written while
// the events come.
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

func head(o *render.ReplayRows) replayHead {
	return replayHead{replaySchema, o.Tool, replaySource{o.Path}, o.Model.String()}
}

// rowObject is a row for machines.
func rowObject(r *recording.Row, model recording.Model) replayEvent {
	e := replayEvent{
		Line: r.Line, Event: r.Name, Agent: r.Agent, Time: r.Time, From: r.From, To: r.To,
		DepthBefore: r.Before, Depth: r.Depth, Frame: r.Path(), Target: r.Target,
		Reason: reasonNames[r.Reason], Call: r.Call, Calls: r.Calls, Child: r.Child, Role: r.Row.String(),
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

// replayJSON writes one document.
type replayJSON struct {
	*render.ReplayRows
	document *jsontext.Encoder
	begun    bool
}

// Replay writes one document.
func Replay(opts render.ReplayOptions) render.ReplayWriter {
	j := &replayJSON{}
	j.ReplayRows = render.NewReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		if err := j.begin(); err != nil {
			return err
		}
		return json.MarshalEncode(j.document, rowObject(r, j.Model), tolerant)
	})
	j.document = jsontext.NewEncoder(EscapeJSON(j.Out), tolerant, jsontext.WithIndent("  "))
	return j
}

// begin writes all that stands before the first event.
func (j *replayJSON) begin() error {
	if j.begun {
		return nil
	}
	j.begun = true
	if err := j.document.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	if err := j.members(head(j.ReplayRows)); err != nil {
		return err
	}
	if err := j.document.WriteToken(jsontext.String("events")); err != nil {
		return err
	}
	return j.document.WriteToken(jsontext.BeginArray)
}

// members writes the members of a struct into the object that is open.
func (j *replayJSON) members(of any) error {
	text, err := json.Marshal(of, tolerant)
	if err != nil {
		return err
	}
	from := jsontext.NewDecoder(bytes.NewReader(text), tolerant)
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	for from.PeekKind() != '}' {
		value, err := from.ReadValue()
		if err != nil {
			return err
		}
		if err := j.document.WriteValue(value); err != nil {
			return err
		}
	}
	return nil
}

func (j *replayJSON) Close(end render.ReplayEnd) error {
	if err := j.End(&end); err != nil {
		return err
	}
	if err := j.begin(); err != nil {
		return err
	}
	if err := j.document.WriteToken(jsontext.EndArray); err != nil {
		return err
	}
	findings := make([]jsonFinding, len(end.Findings))
	for i, f := range end.Findings {
		findings[i] = finding(j.Path, f)
	}
	if err := j.members(replayTail{findings, j.Summary, end.ExitCode}); err != nil {
		return err
	}
	if err := j.document.WriteToken(jsontext.EndObject); err != nil {
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
		return Line(l.Out, object)
	})
	return l
}

func (l *replayLines) Close(end render.ReplayEnd) error {
	if err := l.End(&end); err != nil {
		return err
	}
	for _, f := range end.Findings {
		object := finding(l.Path, f)
		object.Type = "finding"
		if err := Line(l.Out, object); err != nil {
			return err
		}
	}
	if err := Line(l.Out, replaySummaryLine{"summary", head(l.ReplayRows), l.Summary, end.ExitCode}); err != nil {
		return err
	}
	return l.Out.Flush()
}

// reasonNames are the reasons.
var reasonNames = map[replay.Reason]string{
	replay.NothingStored: "stores-nothing",
	replay.OwnID:         "own-id",
	replay.ChildID:       "child-id",
	replay.OwnStream:     "own-stream",
	replay.ChildStream:   "child-stream",
	replay.OwnCall:       "own-call",
	replay.ChildCall:     "child-call",
	replay.AtDepthZero:   "depth-zero",
	replay.BelowZero:     "delegation-open",
	replay.NotGuarded:    "not-guarded",
	replay.OwnRecord:     "own-record",
	replay.ChildRecord:   "child-record",
	replay.Opens:         "opens",
	replay.Closes:        "closes",
	replay.Clamped:       "clamped",
	replay.RunBegins:     "run-begins",
}

// replayAnomalies are the names of what is odd.
var replayAnomalies = [...]string{
	recording.UnmatchedEnd: "unmatched-end", recording.UnmatchedStart: "unmatched-start", recording.CutOff: "cut-off",
	recording.BegunInside: "begun-inside",
}
