package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInChild = Rule{
	ID: "SC716", Name: "result-in-child", Severity: Error, Safety: Lossless, Scope: PerTree | PerComparison, Since: "0.1.0",
	Title: "a delegation was never answered, but its child finished and holds the answer",
	Run: func(p *Pass) {
		eachMissing(p, restorable, func(s *Subject, m pairing.Missing, d *replay.Delegation) {
			last := replay.LastAnswer(d.Child)
			f := p.findCall(s, m.Call, s.call(m.Call).ID)
			f.Message = "call " + callName(s.call(m.Call)) + " has no result, but sub-session " + Short(d.Child.ID) +
				" finished; its last message is the answer"
			f.Related = []Place{{Session: d.Child.ID, Item: last}}
			p.reportCall(s, f, Fix{
				Title:  "use the sub-session's last message as the result",
				Safety: Lossless,
				Edits: []session.Edit{s.addResult(m.Call, "SC716", session.NewItem{
					TextFrom: d.Child.ItemRef(last), Restored: true,
				})},
			})
		})
	},
}
