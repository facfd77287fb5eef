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
	Events []replayEvent `json:"events"` // what was recorded, row by row
	replayTail
}

type replayHead struct {
	head
	Source replaySource `json:"source"`
	Model  string       `json:"model"` // the persistence model that decides: `auto`, `depth` or `session-id`; see docs/replay.md
}

type replaySource struct {
	Path string `json:"path"` // the recording as it was named; `-` is standard input
}

type replayTail struct {
	Findings []jsonFinding        `json:"findings"` // about the recording: `store` is its path, `key` the line, as `events/17`
	Summary  render.ReplaySummary `json:"summary"`
	ExitCode int                  `json:"exit_code"` // of the program: docs/exit-codes.md
}

// replayEvent is a row.
type replayEvent struct {
	Type string `json:"type,omitzero"` // in ndjson only
	Line int64  `json:"line"`          // line of the recording, from 1
	// the line of the last one, of several events that are shown together; else left out
	LastLine int64 `json:"last_line,omitzero"`
	// how many they are; left out for a single one. Without `--all`, equal events in a row are shown
	// together, and those that decide nothing are left out
	Count       int       `json:"count,omitzero"`
	Event       string    `json:"event"`          // its type, as recorded: `message_added`
	Agent       string    `json:"agent,omitzero"` // who produced it; left out when it is not known
	Time        time.Time `json:"time,omitzero"`  // left out when it has none
	From        string    `json:"from,omitzero"`  // of `agent_switching`: the agent before, as recorded; else left out
	To          string    `json:"to,omitzero"`    // the agent after
	DepthBefore int       `json:"depth_before"`   // delegations open before the event
	Depth       int       `json:"depth"`          // and after it
	// the agents of the delegations that it belongs to, from that of the run on; of an event of the
	// run's own session the agent alone; left out when it is not known
	Frame []string `json:"frame,omitempty"`
	// the session that the innermost of these delegations started; left out in the run's own session
	// and when it is not known yet
	FrameSession string `json:"frame_session,omitzero"`
	// `persist`: stored in the session of the run; `skip`: belongs to a sub-session; left out for an
	// event that stores nothing
	Action string `json:"action,omitzero"`
	// the session that what it stores belongs to; left out when it stores nothing, or when that is not
	// known
	Target string `json:"target,omitzero"`
	Reason string `json:"reason"` // why: docs/json.md explains the words
	// the call that it is about: the delegation that opens or closes, the call that a result answers;
	// left out if the event is not about a call
	Call  string   `json:"call,omitzero"`
	Calls []string `json:"calls,omitempty"` // the calls that a message makes; left out if there are none
	Child string   `json:"child,omitzero"`  // of `sub_session_completed`: the id of the sub-session; else left out
	// of a message that begins or is complete: `user`, `assistant` or `tool`; else left out
	Role   string         `json:"role,omitzero"`
	Models *replayActions `json:"models,omitzero"` // where the two models do not do the same; else left out
	// `unmatched-end`: the end of a delegation that is not open; `unmatched-start`: a delegation
	// without an end is closed here; `begun-inside`: the recording begins inside a delegation, as the
	// record of its sub-session shows; else left out
	Anomaly string `json:"anomaly,omitzero"`
}

// replayActions are what the two models do with an event.
type replayActions struct {
	Depth     string `json:"depth"`      // what the depth model does with the event
	SessionID string `json:"session-id"` // what the other one does; where the automatic model decides, this is its action
}

// replaySummaryLine is the last line of ndjson.
type replaySummaryLine struct {
	Type string `json:"type"`
	replayHead
	render.ReplaySummary
	ExitCode int `json:"exit_code"` // of the program: docs/exit-codes.md
}

func headObject(o *render.ReplayRows) replayHead {
	return replayHead{head{replaySchema, o.Tool}, replaySource{o.Path}, o.Model.String()}
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
