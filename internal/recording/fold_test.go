package recording_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// taken is an event with its verdict.
type taken struct {
	event recording.Event
	step  recording.Step
}

var (
	workerFrame = &replay.Frame{Item: -1, Caller: "root", Agent: "worker", Call: "r1", Child: "C"}
	betaFrame   = &replay.Frame{Item: -1, Caller: "root", Agent: "beta", Call: "r2", Child: "D"}
)

// said is an event of the run's own session, or of a sub-session for a frame.
func taking(kind recording.EventKind, frame *replay.Frame, edits ...func(*taken)) taken {
	x := taken{event: recording.Event{Kind: kind, Name: eventNames[kind]}}
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

var eventNames = map[recording.EventKind]string{
	recording.OtherEvent: "other", recording.UserMessage: "user", recording.StreamStarted: "started", recording.StreamStopped: "stopped",
	recording.Choice: "choice", recording.Reasoning: "reasoning", recording.PartialCall: "partial", recording.CallStarted: "call",
	recording.CallAnswered: "response", recording.MessageAdded: "message", recording.ChildCompleted: "completed", recording.TokenUsage: "usage",
	recording.TitleSet: "title", recording.Summarized: "summary", recording.Switched: "switch", recording.Restarted: "fallback", recording.Failed: "error",
}

func withCall(id string) func(*taken) {
	return func(x *taken) { x.event.Call.ID, x.step.Call = id, id }
}
func withCalls(ids ...string) func(*taken) { return func(x *taken) { x.step.Calls = ids } }

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
func isOdd(x *taken)         { x.step.Anomaly = &recording.Anomaly{} }
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
			taking(recording.Choice, nil), taking(recording.Choice, nil), taking(recording.OtherEvent, nil, storesNothing), taking(recording.Choice, nil),
		}, "1-4 choice ×3"},
		{"what another agent says between is a row of its own", []taken{
			taking(recording.Choice, workerFrame), taking(recording.Choice, betaFrame), taking(recording.Choice, betaFrame), taking(recording.Choice, workerFrame),
		}, "1 choice, 2-3 choice ×2, 4 choice"},
		{"text and reasoning differ", []taken{
			taking(recording.Reasoning, nil), taking(recording.Choice, nil), taking(recording.Reasoning, nil),
		}, "1 reasoning, 2 choice, 3 reasoning"},
		{"pieces of calls are told with the message that makes them", []taken{
			taking(recording.PartialCall, nil, withCall("a")), taking(recording.MessageAdded, nil, withRow(assistant), withCalls("a")),
			taking(recording.MessageAdded, nil, withRow(assistant), withCalls("a")),
		}, "2 message [a], 3 message [a]"},
		{"results are told apart by their calls", []taken{
			taking(recording.MessageAdded, nil, withRow(tool), withCall("a")), taking(recording.MessageAdded, nil, withRow(tool), withCall("b")),
		}, "1 message, 2 message"},
		{"and completed sub-sessions by their ids", []taken{
			taking(recording.ChildCompleted, nil, withChild("C")), taking(recording.ChildCompleted, nil, withChild("D")),
		}, "1 completed C, 2 completed D"},
		{"what moves the depth is shown, and never folded", []taken{
			taking(recording.StreamStarted, nil, storesNothing, withDepth(0, 1)), taking(recording.StreamStarted, nil, storesNothing, withDepth(1, 1)),
			taking(recording.StreamStopped, nil, storesNothing, withDepth(2, 1)), taking(recording.StreamStopped, nil, storesNothing, withDepth(1, 0)),
		}, "1 started, 3 stopped, 4 stopped"},
		{"switches and errors are shown", []taken{
			taking(recording.Switched, nil, storesNothing), taking(recording.Failed, nil, storesNothing), taking(recording.TitleSet, nil), taking(recording.Summarized, nil), taking(recording.TokenUsage, nil),
		}, "1 switch, 2 error, 3 title, 4 summary, 5 usage"},
		{"what is odd is shown, and never folded", []taken{
			taking(recording.StreamStarted, nil, storesNothing, isOdd), taking(recording.StreamStarted, nil, storesNothing, isOdd),
		}, "1 started, 2 started"},
		{"what divides the models is shown and folded among its kind", []taken{
			taking(recording.PartialCall, workerFrame, dividesModels), taking(recording.PartialCall, workerFrame, dividesModels), taking(recording.CallAnswered, workerFrame, dividesModels),
			taking(recording.TokenUsage, workerFrame, dividesModels), taking(recording.TokenUsage, workerFrame),
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
	f := recording.NewFold(all, func(r *recording.Row) error {
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
	var event recording.Event
	var step recording.Step
	for i := range events {
		event, step = events[i].event, events[i].step
		event.Line = int64(i + 1)
		if err := f.Take(&event, &step); err != nil {
			t.Fatal(err)
		}
		event, step = recording.Event{Name: "reused"}, recording.Step{Call: "reused"}
	}
	if err := f.End(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestFoldStopsWithTheErrorOfItsReader(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, all := range []bool{true, false} {
		f := recording.NewFold(all, func(*recording.Row) error { return broken })
		x, y := taking(recording.UserMessage, nil), taking(recording.Choice, nil)
		errs := []error{f.Take(&x.event, &x.step), f.Take(&y.event, &y.step), f.End()}
		if !slices.Contains(errs, broken) {
			t.Errorf("all %v: got %v", all, errs)
		}
	}
}
