package rules

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// RecordedName is an item of the recording for people, and where it stands there:
// `a message of "root" with call r1 (shell) (line 12)`.
func RecordedName(s *session.Session, item int) string {
	return ItemName(s, item) + AtLine(&s.Items[item])
}

// ItemName is an item for people, without what it says.
func ItemName(s *session.Session, item int) string {
	it := &s.Items[item]
	var name string
	switch {
	case it.Kind == session.SubSession:
		name = "the reference to sub-session " + ShortID(it.Child())
	case it.Kind == session.Summary:
		name = "a summary"
	case it.Kind == session.Other && HidesMessages(s):
		name = "a message that is encrypted or cannot be read"
	case it.Kind == session.Other:
		name = "a record that is not sent to a model"
	case it.Role == session.Tool && len(it.Results) > 0:
		name = "the result of " + JoinWords(lists.MapEach(it.Results, func(r session.Result) string { return "call " + r.CallID }))
	case it.Agent() != "":
		name = "a message of " + QuoteText(it.Agent())
	case it.Role == session.User:
		name = "a message of the user"
	case it.Role == session.System:
		name = "a system message"
	default:
		name = "a message"
	}
	if len(it.Calls) > 0 {
		name += " with " + JoinFew(lists.MapEach(it.Calls, func(c session.Call) string { return "call " + CallName(&c) }))
	}
	return name
}

// ItemNames are the items of a run, the first few by name.
func ItemNames(run []replay.Difference, name func(*replay.Difference) string) string {
	return JoinFew(lists.MapEach(run, func(d replay.Difference) string { return name(&d) }))
}

// AtLine is where an item of the recording stands in it, "" for one that came as a
// part of its sub-session. Of a stored item it must not be asked: a store's table may
// have any name, also that of a recording's items.
func AtLine(it *session.Item) string {
	if it.Table() != recording.Table {
		return ""
	}
	return " (line " + it.Key + ")"
}

// SoleCall is the id of the only call that an item makes or answers, "" when there
// are several or none.
func SoleCall(it *session.Item) string {
	switch {
	case len(it.Calls) == 1 && len(it.Results) == 0:
		return it.Calls[0].ID
	case len(it.Results) == 1 && len(it.Calls) == 0:
		return it.Results[0].CallID
	}
	return ""
}

// RecordedItem is the item of the recording that the difference is about.
func RecordedItem(d *replay.Difference) *session.Item { return &d.Recorded.Items[d.RecordedItem] }
