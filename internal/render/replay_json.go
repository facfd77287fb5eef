package render

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
)

const replaySchema = "sessctl.replay/1"

// A document is a head, the list "events", and an end; the list is written while
// the events come.
type replayHead struct {
	Schema string       `json:"schema"`
	Tool   Tool         `json:"tool"`
	Source replaySource `json:"source"`
	Model  string       `json:"model"`
}

type replaySource struct {
	Path string `json:"path"`
}

type replayTail struct {
	Findings []jsonFinding `json:"findings"`
	Summary  replaySummary `json:"summary"`
	ExitCode int           `json:"exit_code"`
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
	replaySummary
	ExitCode int `json:"exit_code"`
}

func (o *ReplayOptions) head() replayHead {
	return replayHead{replaySchema, o.Tool, replaySource{o.Path}, o.Model.String()}
}

// rowObject is a row for machines.
func rowObject(r *recording.Row, model recording.Model) replayEvent {
	e := replayEvent{
		Line: r.Line, Event: r.Name, Agent: r.Agent, Time: r.Time, From: r.From, To: r.To,
		DepthBefore: r.Before, Depth: r.Depth, Frame: replayFrame(r), Target: r.Target,
		Reason: replayReasons[r.Reason].name, Call: r.Call, Calls: r.Calls, Child: r.Child, Role: r.Row.String(),
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
	*replayRows
	document *jsontext.Encoder
	begun    bool
}

func newReplayJSON(opts ReplayOptions) *replayJSON {
	j := &replayJSON{}
	j.replayRows = newReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		if err := j.begin(); err != nil {
			return err
		}
		return json.MarshalEncode(j.document, rowObject(r, j.Model), tolerant)
	})
	j.document = jsontext.NewEncoder(EscapeJSON(j.out), tolerant, jsontext.WithIndent("  "))
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
	if err := j.members(j.head()); err != nil {
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

func (j *replayJSON) Close(end ReplayEnd) error {
	if err := j.end(&end); err != nil {
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
	if err := j.members(replayTail{findings, j.summary, end.ExitCode}); err != nil {
		return err
	}
	if err := j.document.WriteToken(jsontext.EndObject); err != nil {
		return err
	}
	return j.out.Flush()
}

// replayLines writes an object a line.
type replayLines struct{ *replayRows }

func newReplayLines(opts ReplayOptions) *replayLines {
	l := &replayLines{}
	l.replayRows = newReplayRows(opts, opts.Screen.Plain(), func(r *recording.Row) error {
		object := rowObject(r, l.Model)
		object.Type = "event"
		return jsonLine(l.out, object)
	})
	return l
}

func (l *replayLines) Close(end ReplayEnd) error {
	if err := l.end(&end); err != nil {
		return err
	}
	for _, f := range end.Findings {
		object := finding(l.Path, f)
		object.Type = "finding"
		if err := jsonLine(l.out, object); err != nil {
			return err
		}
	}
	if err := jsonLine(l.out, replaySummaryLine{"summary", l.head(), l.summary, end.ExitCode}); err != nil {
		return err
	}
	return l.out.Flush()
}
