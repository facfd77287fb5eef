package recorded

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var lostItem = rules.Rule{
	ID: "SC728", Name: "lost-item", Severity: rules.Error, Safety: rules.None, Scope: rules.PerComparison, Since: "0.1.0",
	Title: "items of the recorded run are missing from the store",
	Run: func(p *rules.Pass) {
		for _, run := range p.DifferenceRuns(replay.Lost) {
			reportLost(p, run)
		}
	},
}

// LostSession is the finding about a recorded session of which the store has
// nothing, not even its record.
func LostSession(tree *session.Tree) *rules.Finding {
	root := tree.Root()
	return &rules.Finding{
		Defect: rules.Defect{
			Rule:     &lostItem,
			Severity: lostItem.Severity,
			Agent:    root.Agent,
			Message: fmt.Sprintf("session %s of the recording, with %s, is not in the store. It was lost, or the recorded runtime wrote another store.",
				root.ID, rules.CountedNoun(tree.Items(), "item")),
			Place: session.Place{Item: -1},
		},
		Ref: root.Ref(),
	}
}

// reportLost is the finding about one gap, at the item that stands before it.
func reportLost(p *rules.Pass, run []replay.Difference) {
	first, where := &run[0], "at the start of the session"
	f := p.FindSession(first.Stored)
	if first.StoredItem >= 0 {
		f = p.FindItem(first.Stored, first.StoredItem)
		where = fmt.Sprintf("after item %d", first.StoredItem)
	}
	f.Agent, f.Call = rules.RecordedItem(first).Agent(), rules.SoleCall(rules.RecordedItem(first))
	f.Message = fmt.Sprintf("%s of the recording %s missing from the store %s: %s",
		rules.CountedNoun(len(run), "item"), rules.VerbForm(len(run), "is", "are"), where, rules.ItemNames(run, func(d *replay.Difference) string { return lostName(p, d) }))
	if !slices.ContainsFunc(run, func(d replay.Difference) bool { return !rules.RecordedItem(&d).Flags.Has(session.Unfinished) }) {
		f.Severity = rules.Info
		f.AddSentence(rules.VerbForm(len(run), "It was", "They were") + " never complete, so a runtime may have had nothing to store")
	}
	p.Report(f)
}

// lostName is a lost item for people; a sub-session that is lost with it is named
// with what it held.
func lostName(p *rules.Pass, d *replay.Difference) string {
	it := rules.RecordedItem(d)
	for _, c := range p.Differences().Children {
		if lost := c.Sessions[0]; it.Kind == session.SubSession && it.Child() == lost.ID {
			return fmt.Sprintf("sub-session %s with its %s%s", rules.ShortID(lost.ID), rules.CountedNoun(len(lost.Items), "item"), rules.AtLine(it))
		}
	}
	return rules.RecordedName(d.Recorded, d.RecordedItem)
}
