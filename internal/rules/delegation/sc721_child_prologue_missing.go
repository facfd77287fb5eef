package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var childPrologueMissing = rules.Rule{
	ID: "SC721", Name: "child-prologue-missing", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a sub-session without the messages that gave it its task",
	Run: func(p *rules.Pass) {
		if !p.Store.ChildPrologue {
			return
		}
		for _, s := range p.Subjects {
			if s.Parent == "" || len(s.Items) == 0 || HasPrologue(s) || inLoop(p, s.Session) {
				continue
			}
			f := p.FindSession(s.Session)
			f.Agent = replay.FirstAgent(s.Session)
			f.Message = "the messages that gave this sub-session its task are missing. A compaction inside it can have removed them."
			if d := s.Caller; d != nil {
				call := rules.CallRef(d.Session, d.Item, d.Nth)
				f.Call = d.Call().ID
				f.Related = []session.Place{d.Session.ItemPlace(d.Item)}
				if d.Call().Delegation.Task != 0 {
					f.SetFix(rules.Lossless, "rebuild these messages from the call, marked as rebuilt",
						session.Edit{Op: session.Insert, To: s.ID, Call: &call, New: &session.NewItem{Prologue: true, Rule: "SC721"}})
				}
			}
			p.Report(f)
		}
	},
}

// HasPrologue reports whether one of the messages that a child begins with is there.
func HasPrologue(s *rules.Subject) bool {
	return slices.ContainsFunc(s.Items[:min(len(s.Items), 2)], func(it session.Item) bool { return startsChild(&it) })
}
