package render_test

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// scene is a recording as the model takes it.
type scene struct {
	name     string
	model    recording.Model
	all      bool
	quiet    bool
	live     bool
	terminal bool
	events   []taken
	findings []*check.Finding
	next     []render.Command
}

// taken is an event with its verdict.
type taken struct {
	event recording.Event
	step  recording.Step
}

// secret is what nobody may see in an output.
const secret = "what was said"

const (
	runID   = "05ddae92-55f8-4f2d-9b69-1e41b6763f76"
	childID = "9480da5c-f65e-43bb-be3b-9b06bbf7bedb"
	belowID = "1da8ba40-0000-4000-8000-000000000000"
)

var (
	worker = &replay.Frame{Item: -1, Caller: "root", Agent: "worker", Call: "r1", Child: childID}
	grand  = &replay.Frame{Item: -1, Parent: worker, Caller: "worker", Agent: "grand", Call: "w1", Child: belowID}
	lost   = &replay.Frame{Item: -1, Caller: "root", Agent: "beta"}
)

var eventTypes = map[recording.EventKind]string{
	recording.OtherEvent: "toolset_info", recording.UserMessage: "user_message", recording.StreamStarted: "stream_started",
	recording.StreamStopped: "stream_stopped", recording.Choice: "agent_choice", recording.Reasoning: "agent_choice_reasoning",
	recording.PartialCall: "partial_tool_call", recording.CallStarted: "tool_call", recording.CallAnswered: "tool_call_response",
	recording.MessageAdded: "message_added", recording.ChildCompleted: "sub_session_completed", recording.TokenUsage: "token_usage",
	recording.TitleSet: "session_title", recording.Summarized: "session_summary", recording.Switched: "agent_switching",
	recording.Restarted: "model_fallback", recording.Failed: "error",
}

// heard is an event of the run's own session (no frame), or of a sub-session.
func heard(line int64, kind recording.EventKind, frame *replay.Frame, reason replay.Reason, edits ...func(*taken)) taken {
	x := taken{
		event: recording.Event{
			Line: line, Kind: kind, Name: eventTypes[kind], Text: secret, Call: session.Call{Args: secret},
			Time: time.Date(2026, 11, 20, 21, 36, 45, int(line)*1000, time.UTC),
		},
		step: recording.Step{Target: runID, Agent: "root"},
	}
	x.step.Reason, x.step.Frame = reason, frame
	if frame != nil {
		x.step.Target, x.step.Agent = frame.Child, frame.Agent
		x.step.Action, x.step.Other = replay.Skip, replay.Skip
		x.step.Before, x.step.Depth = frame.Depth(), frame.Depth()
	}
	switch kind {
	case recording.OtherEvent, recording.StreamStarted, recording.StreamStopped, recording.CallStarted, recording.Switched, recording.Restarted, recording.Failed:
		x.step.Action, x.step.Other, x.step.Target = replay.None, replay.None, ""
	}
	for _, edit := range edits {
		edit(&x)
	}
	return x
}

func about(call string) func(*taken) {
	return func(x *taken) { x.event.Call.ID, x.step.Call = call, call }
}

// completes makes it the end of a message: of a result with the call that it
// answers, of an answer with those that it makes.
func completes(role session.Role, call string, calls ...string) func(*taken) {
	return func(x *taken) { x.step.Row, x.step.Call, x.step.Calls = role, call, calls }
}

func moves(before, depth int) func(*taken) {
	return func(x *taken) { x.step.Before, x.step.Depth = before, depth }
}

func switches(from, to string) func(*taken) {
	return func(x *taken) { x.event.From, x.event.To, x.step.Agent = from, to, to }
}

func of(agent string) func(*taken) { return func(x *taken) { x.step.Agent = agent } }

func otherwise(action replay.Action, reason replay.Reason) func(*taken) {
	return func(x *taken) { x.step.Other, x.step.OtherReason = action, reason }
}

func completed(id string) func(*taken) {
	return func(x *taken) {
		x.event.Child = &session.Tree{Sessions: []*session.Session{{ID: id, Title: secret}}}
	}
}

func anomaly(kind recording.AnomalyKind, opened int64, call string) func(*taken) {
	return func(x *taken) { x.step.Anomaly = &recording.Anomaly{Kind: kind, Opened: opened, Call: call} }
}

// delegation is a run in which root asks worker, who asks grand.
var delegation = []taken{
	heard(6, recording.UserMessage, nil, replay.OwnID, of("")),
	heard(7, recording.StreamStarted, nil, replay.RunBegins),
	heard(11, recording.PartialCall, nil, replay.OwnStream, about("r1")),
	heard(13, recording.MessageAdded, nil, replay.OwnID, completes(session.Assistant, "", "r1")),
	heard(14, recording.TokenUsage, nil, replay.OwnID),
	heard(16, recording.Switched, worker, replay.Opens, switches("root", "worker"), moves(0, 1), about("r1")),
	heard(23, recording.StreamStarted, worker, replay.NothingStored),
	heard(27, recording.Choice, worker, replay.ChildStream),
	heard(28, recording.Choice, worker, replay.ChildStream),
	heard(29, recording.PartialCall, worker, replay.ChildStream, about("w1")),
	heard(30, recording.PartialCall, worker, replay.ChildStream, about("w2")),
	heard(31, recording.MessageAdded, worker, replay.ChildID, completes(session.Assistant, "", "w1", "w2")),
	heard(32, recording.TokenUsage, worker, replay.ChildID, otherwise(replay.Persist, replay.NotGuarded)),
	heard(33, recording.Switched, grand, replay.Opens, switches("worker", "grand"), moves(1, 2), about("w1")),
	heard(34, recording.Reasoning, grand, replay.ChildID),
	heard(35, recording.MessageAdded, grand, replay.ChildID, completes(session.Assistant, "")),
	heard(36, recording.ChildCompleted, worker, replay.ChildRecord, completed(belowID), otherwise(replay.Persist, replay.NotGuarded)),
	heard(37, recording.Switched, worker, replay.Closes, switches("grand", "worker"), moves(2, 1), about("w1")),
	heard(38, recording.CallAnswered, worker, replay.ChildCall, about("w1")),
	heard(39, recording.MessageAdded, worker, replay.ChildID, completes(session.Tool, "w1")),
	heard(43, recording.ChildCompleted, nil, replay.OwnRecord, completed(childID), moves(1, 1)),
	heard(44, recording.Switched, nil, replay.Closes, switches("worker", "root"), moves(1, 0), about("r1")),
	heard(46, recording.CallAnswered, nil, replay.OwnCall, about("r1")),
	heard(47, recording.MessageAdded, nil, replay.OwnID, completes(session.Tool, "r1")),
	heard(51, recording.Choice, nil, replay.OwnStream),
	heard(52, recording.MessageAdded, nil, replay.OwnID, completes(session.Assistant, "")),
	heard(53, recording.TitleSet, nil, replay.OwnID),
	heard(54, recording.Summarized, nil, replay.OwnID),
	heard(55, recording.StreamStopped, nil, replay.NothingStored),
}

const longCall = "toolu_01BrXnn4hZ8UVZbHh7q3nPzT"

// oddities are what a clean run has not: a stream cut in the middle, skills, a
// handoff, background agents, names that are long or drive terminals.
var oddities = []taken{
	heard(1, recording.Choice, nil, replay.AtDepthZero, of(""), func(x *taken) { x.step.Target = "" }),
	heard(2, recording.Switched, nil, replay.Clamped, switches("worker", "root"), anomaly(recording.UnmatchedEnd, 0, "")),
	heard(3, recording.Switched, lost, replay.Opens, switches("root", "beta"), moves(0, 1)),
	heard(4, recording.Choice, lost, replay.BelowZero),
	heard(5, recording.Restarted, lost, replay.NothingStored),
	heard(6, recording.Reasoning, lost, replay.BelowZero, of("gamma")),
	heard(7, recording.TokenUsage, lost, replay.NotGuarded, otherwise(replay.Skip, replay.ChildStream), func(x *taken) { x.step.Action = replay.Persist }),
	heard(8, recording.Failed, lost, replay.NothingStored),
	heard(9, recording.UserMessage, nil, replay.AtDepthZero, moves(1, 0), anomaly(recording.UnmatchedStart, 3, "")),
	heard(10, recording.PartialCall, nil, replay.AtDepthZero, about(longCall)),
	heard(11, recording.PartialCall, nil, replay.AtDepthZero, about("c;2 #end\x1b[31m")),
	heard(12, recording.MessageAdded, nil, replay.AtDepthZero, completes(session.Assistant, "", longCall, "c;2 #end\x1b[31m")),
	heard(13, recording.StreamStarted, worker, replay.Opens, moves(0, 1), about(longCall)),
	heard(14, recording.Choice, worker, replay.ChildStream, otherwise(replay.Persist, replay.AtDepthZero)),
	heard(15, recording.CallAnswered, worker, replay.ChildCall, about("w9"), otherwise(replay.Persist, replay.AtDepthZero)),
	heard(16, recording.CallStarted, worker, replay.NothingStored, about("w10"), moves(1, 2)),
	heard(17, recording.StreamStopped, worker, replay.Closes, moves(2, 0), anomaly(recording.UnmatchedStart, 13, longCall), about(longCall)),
	heard(18, recording.TokenUsage, nil, replay.ChildID, func(x *taken) {
		x.step.Action, x.step.Other, x.step.Target, x.step.Agent = replay.Skip, replay.Skip, belowID, "background"
	}),
	heard(19, recording.Switched, strange, replay.Opens, switches("root", strange.Agent), moves(0, 1)),
	heard(20, recording.MessageAdded, strange, replay.ChildID),
}

var strange = &replay.Frame{
	Item: -1, Caller: "Agent mit einem sehr langen Namen", Agent: "end\u202e 漢字 <b>;#\n" + strings.Repeat("x", 40), Child: "s\x1b[m",
}

// wide are rows that have more to say than columns have room: late lines, a great
// depth, wide letters, agents without a name, and calls with a blank one.
var wide = []taken{
	heard(9_999, recording.MessageAdded, nil, replay.OwnID, completes(session.Assistant, "", longCall)),
	heard(123_456, recording.MessageAdded, nil, replay.OwnID, completes(session.Tool, " ")),
	heard(1_234_567, recording.Switched, farBelow, replay.Opens, switches("", farBelow.Agent), moves(9, 10), about(longCall)),
	heard(1_234_568, recording.StreamStarted, farBelow, replay.Opens, moves(10, 11), about("Rückfrage\u200d👩\u200d💻")),
	heard(1_234_569, recording.MessageAdded, farBelow, replay.ChildID, completes(session.Tool, longCall), of("審査担当")),
	heard(1_234_570, recording.ChildCompleted, nil, replay.OwnRecord, completed("{call}-{session}"), anomaly(recording.BegunInside, 1, "")),
	heard(1_234_571, recording.Switched, nil, replay.Clamped, switches(farBelow.Agent, "  "), anomaly(recording.UnmatchedEnd, 0, "")),
	heard(1_234_572, recording.TokenUsage, nil, replay.ChildID, func(x *taken) { x.step.Target = "{call}00-" }, otherwise(replay.Skip, replay.ChildStream)),
}

var farBelow = &replay.Frame{Item: -1, Parent: &replay.Frame{Item: -1, Agent: " "}, Agent: "翻訳担当エージェント", Child: "漢字漢字漢字"}

// lineFinding is a finding about a line of the recording.
func lineFinding(id string, line, message string) *check.Finding {
	rule := catalogue.FindRule(id)
	return &check.Finding{Defect: rules.Defect{Rule: rule, Severity: rule.Severity, Line: line, Message: message, Place: session.Place{Item: -1}}, Row: "events/" + line, Fingerprint: "f" + line}
}

var sceneFindings = []*check.Finding{
	lineFinding("SC714", "2", `line 2 ends the delegation from "root" to "worker", which is not open; the depth stays 0`),
	lineFinding("SC714", "3", `the delegation from "root" to "beta" begins at line 3 and has no end; it is over at line 9`),
}

var scenes = []scene{
	{name: "delegation", events: delegation, next: []render.Command{
		{Line: "sessctl replay run.jsonl --against STORE", Why: "whether a store holds what it should"},
		{Line: "sessctl replay run.jsonl --assign-by depth", Why: "the same run as the depth model stores it"},
	}},
	{name: "all", events: delegation, all: true},
	{name: "odd", model: recording.ByDepth, events: oddities, findings: sceneFindings},
	{name: "wide", events: wide},
	{name: "quiet", model: recording.BySession, events: oddities[:3], findings: sceneFindings[:1], quiet: true},
	{name: "empty"},
}
