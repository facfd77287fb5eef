package replays

import (
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// reasonForms are the reasons in words. {session} is the session that the event belongs to,
// {call} the delegation, with which they begin.
var reasonForms = map[replay.Reason]string{
	replay.NothingStored: "stores nothing",
	replay.OwnID:         "id of {session}",
	replay.ChildID:       "id of {session}",
	replay.OwnStream:     "stream of {session}",
	replay.ChildStream:   "stream of {session}",
	replay.OwnCall:       "call of {session}",
	replay.ChildCall:     "call of {session}",
	replay.AtDepthZero:   "depth 0",
	replay.BelowZero:     "a delegation is open",
	replay.NotGuarded:    "not guarded by depth",
	replay.OwnRecord:     "own record of {session}",
	replay.ChildRecord:   "record of {session}",
	replay.Opens:         "{call} opens",
	replay.Closes:        "{call} closes",
	replay.Clamped:       "no such delegation is open",
	replay.RunBegins:     "the run begins or continues",
}

// replayModels say how a model decides.
var replayModels = [...]string{
	recording.Auto:      "Session ids decide, without ids the running streams, and without streams the depth (--assign-by auto).",
	recording.ByDepth:   "The depth decides: messages are not stored while an agent switch is open (--assign-by depth).",
	recording.BySession: "Session ids decide, and without ids the running streams (--assign-by session-id).",
}

// compared are the deciding model and the one that it is compared with. Session
// ids and streams decide in the automatic one, where the depth helps out.
func compared(m recording.Model) (decides, other recording.Model) {
	if m == recording.ByDepth {
		return recording.ByDepth, recording.BySession
	}
	return recording.BySession, recording.ByDepth
}

// replayEventWords names the event of a row: "agent_switching root→worker",
// "message_added tool", "agent_choice ×2". The agent stands there when the frame
// does not say it.
func replayEventWords(r *recording.Row) string {
	words := replayEventName(r)
	switch {
	case r.Kind == recording.Switched:
		words += " " + agentWords(r.From) + "→" + agentWords(r.To)
	case replayStranger(r):
		words += " (" + agentWords(r.Agent) + ")"
	}
	return words
}

// replayEventName is the event without agents.
func replayEventName(r *recording.Row) string {
	words := ui.Clean(r.Name)
	if r.Count > 1 {
		words += " ×" + strconv.Itoa(r.Count)
	}
	if r.Kind == recording.MessageAdded && r.Row != 0 {
		words += " " + r.Row.String()
	}
	return words
}

// replayStranger reports whether an agent speaks in a frame that is another's.
func replayStranger(r *recording.Row) bool {
	return r.Frame != nil && r.Agent != "" && r.Agent != r.Frame.Agent
}

// agentWords is the name of an agent, which may be missing or blank.
func agentWords(name string) string {
	if strings.TrimSpace(name) == "" {
		return nothingSign
	}
	return ui.Clean(name)
}

// replayDepth is "1", or "0 → 1" where it changes.
func replayDepth(r *recording.Row) string {
	depth := strconv.Itoa(r.Depth)
	if r.Before != r.Depth {
		depth = strconv.Itoa(r.Before) + " → " + depth
	}
	return depth
}

// replayWhy says why a row is persisted or skipped, what it is about, and what is
// odd. Ids of calls are at most idWidth wide.
func replayWhy(r *recording.Row, idWidth int) string {
	parts := replaySubject(r, idWidth)
	if r.Reason != replay.NothingStored || len(parts) == 0 {
		parts = append(parts, reasonWords(r, r.Reason, idWidth))
	}
	if odd := oddWords(r, idWidth); odd != "" {
		parts = append(parts, odd)
	}
	return strings.Join(parts, "; ")
}

// replayOther says what the other model would do with a row.
func replayOther(r *recording.Row, model recording.Model, idWidth int) string {
	_, other := compared(model)
	return other.String() + " model: " + r.Other.String() + ", " + reasonWords(r, r.OtherReason, idWidth)
}

func replayWhyAndOther(r *recording.Row, model recording.Model, idWidth int) string {
	if !r.Disagree() {
		return replayWhy(r, idWidth)
	}
	return replayWhy(r, idWidth) + "; " + replayOther(r, model, idWidth)
}

// replaySubject is what an event is about, beside the reason.
func replaySubject(r *recording.Row, idWidth int) []string {
	switch {
	case len(r.Calls) > 0:
		const most = 8 // machines get all
		var ids []string
		for _, id := range r.Calls[:min(len(r.Calls), most)] {
			ids = append(ids, callWords(id, idWidth))
		}
		if more := len(r.Calls) - most; more > 0 {
			ids = append(ids, ui.Number(more)+" more")
		}
		return []string{"calls " + strings.Join(ids, ", ")}
	case r.Kind == recording.MessageAdded && r.Call != "", r.Kind == recording.CallAnswered:
		return []string{"result of " + callWords(r.Call, idWidth)}
	case r.Kind == recording.PartialCall, r.Kind == recording.CallStarted:
		return []string{"call " + callWords(r.Call, idWidth)}
	case r.Kind == recording.ChildCompleted && r.Child != "":
		return []string{"sub-session " + shortID(r.Child)}
	case r.Kind == recording.StreamStarted && r.Reason == replay.NothingStored:
		return []string{streamWords(r.Frame) + " begins"}
	case r.Kind == recording.StreamStopped && r.Reason == replay.NothingStored:
		return []string{streamWords(r.Frame) + " ends"}
	case r.Kind == recording.Restarted:
		return []string{"the answer so far is discarded"}
	}
	return nil
}

func reasonWords(r *recording.Row, reason replay.Reason, idWidth int) string {
	target := "a sub-session"
	if r.Target != "" {
		target = shortID(r.Target)
	}
	words := reasonForms[reason]
	if rest, ok := strings.CutPrefix(words, "{call}"); ok {
		return delegationWords(r.Call, idWidth) + rest
	}
	return strings.Replace(words, "{session}", target, 1)
}

// streamWords name the stream of a frame's session; of the run for nil.
func streamWords(f *replay.Frame) string {
	switch {
	case f == nil:
		return "own stream"
	case f.Child == "":
		return "stream of a sub-session"
	}
	return "stream of " + shortID(f.Child)
}

func delegationWords(call string, idWidth int) string {
	if call == "" {
		return "a delegation"
	}
	return "delegation " + callWords(call, idWidth)
}

// oddWords say what is odd, "" where nothing is or the reason tells it.
func oddWords(r *recording.Row, idWidth int) string {
	a := r.Anomaly
	switch {
	case a == nil || a.Kind == recording.UnmatchedEnd:
		return ""
	case a.Kind == recording.BegunInside:
		return "the recording begins inside a delegation"
	}
	return delegationWords(a.Call, idWidth) + " of line " + strconv.FormatInt(a.Opened, 10) + " was never closed"
}

// callWords is the id of a call. Of a long one the end is kept: providers begin
// all of them alike.
func callWords(id string, width int) string {
	if id == "" {
		return "an unknown call"
	}
	if strings.TrimSpace(id) == "" {
		id = strconv.Quote(id)
	}
	return ui.Tail(ui.Clean(id), width)
}

func shortID(id string) string { return ui.Clean(rules.Short(id)) }
