package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// taken is an event with its verdict.
type taken struct {
	event replay.Event
	step  replay.EventStep
}

var (
	workerFrame = &replay.Frame{Item: -1, Caller: "root", Agent: "worker", Call: "r1", Child: "C"}
	betaFrame   = &replay.Frame{Item: -1, Caller: "root", Agent: "beta", Call: "r2", Child: "D"}
)

// said is an event of the run's own session, or of a sub-session for a frame.
func said(kind replay.EventKind, frame *replay.Frame, edits ...func(*taken)) taken {
	x := taken{event: replay.Event{Kind: kind, Name: eventNames[kind]}}
	x.step.Target, x.step.Agent, x.step.Reason = "P", "root", replay.OwnID
	if frame != nil {
		x.step.Target, x.step.Agent, x.step.Reason, x.step.Frame = frame.Child, frame.Agent, replay.ChildID, frame
		x.step.Action, x.step.Other = replay.Skip, replay.Skip
		x.step.Before, x.step.Depth = 1, 1
	}
	for _, edit := range edits {
		edit(&x)
	}
	return x
}

var eventNames = map[replay.EventKind]string{
	replay.OtherEvent: "other", replay.UserMessage: "user", replay.StreamStarted: "started", replay.StreamStopped: "stopped",
	replay.Choice: "choice", replay.Reasoning: "reasoning", replay.PartialCall: "partial", replay.CallStarted: "call",
	replay.CallAnswered: "response", replay.MessageAdded: "message", replay.ChildCompleted: "completed", replay.TokenUsage: "usage",
	replay.TitleSet: "title", replay.Summarized: "summary", replay.Switched: "switch", replay.Restarted: "fallback", replay.Failed: "error",
}

func withCall(id string) func(*taken) {
	return func(x *taken) { x.event.Call.ID, x.step.Call = id, id }
}
func withRow(role session.Role) func(*taken) {
	return func(x *taken) { x.step.Row = role }
}
func withDepth(before, after int) func(*taken) {
	return func(x *taken) { x.step.Before, x.step.Depth = before, after }
}
func storesNothing(x *taken) {
	x.step.Action, x.step.Other, x.step.Reason = replay.None, replay.None, replay.NothingStored
}
func dividesModels(x *taken) { x.step.Other = replay.Persist }
func isOdd(x *taken)         { x.step.Anomaly = &replay.Anomaly{} }
func withChild(id string) func(*taken) {
	return func(x *taken) {
		x.event.Child = &session.Tree{Sessions: []*session.Session{{ID: id}}}
	}
}

func TestFold(t *testing.T) {
	const (
		assistant = session.Assistant
		tool      = session.Tool
	)
	tests := []struct {
		name   string
		events []taken
		want   string
	}{
		{"nothing", nil, ""},
		{"pieces of an answer are one row, and hidden events do not part them", []taken{
			said(replay.Choice, nil), said(replay.Choice, nil), said(replay.OtherEvent, nil, storesNothing), said(replay.Choice, nil),
		}, "1-4 choice ×3"},
		{"what another agent says between is a row of its own", []taken{
			said(replay.Choice, workerFrame), said(replay.Choice, betaFrame), said(replay.Choice, betaFrame), said(replay.Choice, workerFrame),
		}, "1 choice, 2-3 choice ×2, 4 choice"},
		{"text and reasoning differ", []taken{
			said(replay.Reasoning, nil), said(replay.Choice, nil), said(replay.Reasoning, nil),
		}, "1 reasoning, 2 choice, 3 reasoning"},
		{"a message names the calls that were streamed before it, each once", []taken{
			said(replay.PartialCall, nil, withCall("a")), said(replay.PartialCall, nil, withCall("a")), said(replay.PartialCall, nil, withCall("b")),
			said(replay.MessageAdded, nil, withRow(assistant)), said(replay.CallStarted, nil, storesNothing, withCall("a")),
			said(replay.CallAnswered, nil, withCall("a")), said(replay.MessageAdded, nil, withRow(tool), withCall("a")), said(replay.MessageAdded, nil, withRow(assistant)),
		}, "4 message [a b], 7 message, 8 message"},
		{"of sessions that speak at the same time each has its own calls", []taken{
			said(replay.PartialCall, workerFrame, withCall("a")), said(replay.PartialCall, betaFrame, withCall("a")), said(replay.PartialCall, betaFrame, withCall("b")),
			said(replay.MessageAdded, workerFrame, withRow(assistant)), said(replay.MessageAdded, betaFrame, withRow(assistant)),
		}, "4 message [a], 5 message [a b]"},
		{"calls of an answer that was thrown away are nobody's", []taken{
			said(replay.PartialCall, nil, withCall("a")), said(replay.Restarted, nil, storesNothing, func(x *taken) { x.step.Target = "" }),
			said(replay.PartialCall, nil, withCall("b")), said(replay.MessageAdded, nil, withRow(assistant)),
		}, "2 fallback, 4 message [b]"},
		{"and so are those of an answer that was interrupted", []taken{
			said(replay.PartialCall, nil, withCall("a")), said(replay.UserMessage, nil), said(replay.MessageAdded, nil, withRow(assistant)),
		}, "2 user, 3 message"},
		{"results are told apart by their calls", []taken{
			said(replay.MessageAdded, nil, withRow(tool), withCall("a")), said(replay.MessageAdded, nil, withRow(tool), withCall("b")),
		}, "1 message, 2 message"},
		{"and completed sub-sessions by their ids", []taken{
			said(replay.ChildCompleted, nil, withChild("C")), said(replay.ChildCompleted, nil, withChild("D")),
		}, "1 completed C, 2 completed D"},
		{"what moves the depth is shown, and never folded", []taken{
			said(replay.StreamStarted, nil, storesNothing, withDepth(0, 1)), said(replay.StreamStarted, nil, storesNothing, withDepth(1, 1)),
			said(replay.StreamStopped, nil, storesNothing, withDepth(2, 1)), said(replay.StreamStopped, nil, storesNothing, withDepth(1, 0)),
		}, "1 started, 3 stopped, 4 stopped"},
		{"switches and errors are shown", []taken{
			said(replay.Switched, nil, storesNothing), said(replay.Failed, nil, storesNothing), said(replay.TitleSet, nil), said(replay.Summarized, nil), said(replay.TokenUsage, nil),
		}, "1 switch, 2 error, 3 title, 4 summary, 5 usage"},
		{"what is odd is shown, and never folded", []taken{
			said(replay.StreamStarted, nil, storesNothing, isOdd), said(replay.StreamStarted, nil, storesNothing, isOdd),
		}, "1 started, 2 started"},
		{"what divides the models is shown and folded among its kind", []taken{
			said(replay.PartialCall, workerFrame, dividesModels), said(replay.PartialCall, workerFrame, dividesModels), said(replay.CallAnswered, workerFrame, dividesModels),
			said(replay.TokenUsage, workerFrame, dividesModels), said(replay.TokenUsage, workerFrame),
		}, "1-2 partial ×2, 3 response, 4 usage, 5 usage"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, strings.Join(folded(t, false, tt.events), ", ")); diff != "" {
				t.Error(diff)
			}
			if got := folded(t, true, tt.events); len(got) != len(tt.events) {
				t.Errorf("with all: got %d rows of %d events: %v", len(got), len(tt.events), got)
			}
		})
	}
}

// folded are the rows of events, as words. All events share one variable, as those
// of a reader do.
func folded(t *testing.T, all bool, events []taken) []string {
	t.Helper()
	var rows []string
	f := replay.NewFold(all, func(r *replay.Row) error {
		words := fmt.Sprint(r.Line)
		if r.Last != r.Line {
			words += fmt.Sprintf("-%d", r.Last)
		}
		words += " " + r.Name
		if r.Count != 1 {
			words += fmt.Sprintf(" ×%d", r.Count)
		}
		if r.Child != "" {
			words += " " + r.Child
		}
		if len(r.Calls) > 0 {
			words += fmt.Sprint(" ", r.Calls)
		}
		rows = append(rows, words)
		return nil
	})
	var event replay.Event
	var step replay.EventStep
	for i := range events {
		event, step = events[i].event, events[i].step
		event.Line = int64(i + 1)
		if err := f.Take(&event, &step); err != nil {
			t.Fatal(err)
		}
		event, step = replay.Event{Name: "reused"}, replay.EventStep{Call: "reused"}
	}
	if err := f.End(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestFoldForgetsTheOldestCallsOfAnswersThatNeverEnd(t *testing.T) {
	var events []taken
	for i := range 1000 {
		events = append(events, said(replay.PartialCall, nil, withCall(fmt.Sprint(i))))
	}
	rows := folded(t, false, append(events, said(replay.MessageAdded, nil, withRow(session.Assistant))))
	if len(rows) != 1 || strings.Contains(rows[0], " 743 ") || !strings.Contains(rows[0], "[744 745 ") {
		t.Errorf("got %v", rows)
	}
}

func TestFoldStopsWithTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, all := range []bool{true, false} {
		f := replay.NewFold(all, func(*replay.Row) error { return broken })
		x, y := said(replay.UserMessage, nil), said(replay.Choice, nil)
		errs := []error{f.Take(&x.event, &x.step), f.Take(&y.event, &y.step), f.End()}
		if !slices.Contains(errs, broken) {
			t.Errorf("all %v: got %v", all, errs)
		}
	}
}
