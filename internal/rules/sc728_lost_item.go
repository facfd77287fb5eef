package rules

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var lostItem = Rule{
	ID: "SC728", Name: "lost-item", Severity: Error, Safety: None, Scope: PerComparison, Since: "0.1.0",
	Title: "the recording of a run has items that the store lacks",
	Run: func(p *Pass) {
		for _, run := range p.runs(replay.Lost) {
			p.reportLost(run)
		}
	},
}

// LostSession is the finding about a recorded session of which the store has
// nothing, not even its record.
func LostSession(tree *session.Tree) *Finding {
	root := tree.Root()
	return &Finding{
		Defect: Defect{
			Rule:     &lostItem,
			Severity: lostItem.Severity,
			Agent:    root.Agent,
			Message: fmt.Sprintf("the recording has session %s with %s, and the store does not hold it: it was lost, or the recorded runtime wrote another store",
				root.ID, count(tree.Items(), "item")),
			Place: session.Place{Item: -1},
		},
		Ref: root.Ref(),
	}
}

// reportLost is the finding about one gap, at the item that stands before it.
func (p *Pass) reportLost(run []replay.Difference) {
	first, behind := &run[0], "at the start of the session"
	f := p.findSession(first.Stored)
	if first.StoredItem >= 0 {
		f = p.find(first.Stored, first.StoredItem)
		behind = fmt.Sprintf("behind item %d", first.StoredItem)
	}
	f.Agent, f.Call = recordedItem(first).Agent, soleCall(recordedItem(first))
	f.Message = fmt.Sprintf("the store lacks %s %s that the recording has: %s",
		count(len(run), "item"), behind, itemNames(run, func(d *replay.Difference) string { return p.lostName(d) }))
	if !slices.ContainsFunc(run, func(d replay.Difference) bool { return !recordedItem(&d).Flags.Has(session.Unfinished) }) {
		f.Severity = Info
		f.Message += fmt.Sprintf("; %s never complete, so that a runtime may have had nothing to store", verb(len(run), "it was", "they were"))
	}
	p.Report(f)
}

// lostName is a lost item for people; a sub-session that is lost with it is named
// with what it held.
func (p *Pass) lostName(d *replay.Difference) string {
	it := recordedItem(d)
	for _, c := range p.differences().children {
		if lost := c.sessions[0]; it.Kind == session.SubSession && it.Child == lost.ID {
			return fmt.Sprintf("sub-session %s with its %s%s", Short(lost.ID), count(len(lost.Items), "item"), atLine(it))
		}
	}
	return recordedName(d.Recorded, d.RecordedItem)
}
