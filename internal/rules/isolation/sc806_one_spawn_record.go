package isolation

import (
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var oneSpawnRecord = rules.Rule{
	ID: "SC806", Name: "one-spawn-record", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Since: "0.1.0",
	Title: "a parent has no call of its own for each of its sub-sessions",
	Run: func(p *rules.Pass) {
		refs := delegation.ListReferrers(p)
		for _, s := range p.Subjects {
			reportUncalled(p, s, refs)
		}
	},
}

// reportUncalled reports the sub-sessions of a parent that are more than the calls
// that could have started them. Which call started which may well be unknown; that a
// call is missing is not.
func reportUncalled(p *rules.Pass, parent *rules.Subject, refs map[string][]session.Place) {
	uncalled, at := uncalledChildren(p, parent, refs)
	waiting := lists.CountIf(parent.Replay.Delegations, func(d *replay.Delegation) bool { return d.Child == nil && d.Call().Delegation.Child == "" })
	if len(uncalled) <= waiting {
		return
	}
	f := p.FindItems(parent.Session, at)
	f.Count = len(uncalled)
	names := lists.MapEach(uncalled, func(child *session.Session) string { return rules.ShortID(child.ID) })
	f.Message = rules.CountedNoun(len(uncalled), "sub-session") + " of " + rules.ShortID(parent.ID) + rules.VerbForm(len(uncalled), " has", " have") +
		" no call: " + rules.JoinFew(names)
	if waiting > 0 {
		f.AddSentence("Only " + rules.CountedNoun(waiting, "call") + " can have started one of them")
	}
	p.Report(f)
}

// uncalledChildren are the sub-sessions that the parent alone refers to and that no call is
// known for, with the items that refer to them. A sub-session without such an item is
// SC705, one with several SC707 or SC715.
func uncalledChildren(p *rules.Pass, parent *rules.Subject, refs map[string][]session.Place) (children []*session.Session, at []int) {
	for _, child := range parent.Children {
		places := refs[child.ID]
		if len(places) == 1 && places[0].Session == parent.ID && p.Trace.Callers[child] == nil && !child.Forked {
			children, at = append(children, child), append(at, places[0].Item)
		}
	}
	return children, at
}
