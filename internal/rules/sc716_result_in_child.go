package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInChild = Rule{
	ID: "SC716", Name: "result-in-child", Severity: Error, Safety: Lossless, Allow: "guesses", Scope: PerTree | PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a delegation was never answered, but its child finished and holds the answer",
	Run: func(p *Pass) {
		eachMissing(p, restorable, func(s *Subject, m pairing.Missing, d *replay.Delegation) {
			last, sure := answerIn(d)
			f := p.findCall(s, m.Call, s.call(m.Call).ID)
			f.Message = "call " + callName(s.call(m.Call)) + " has no result, but sub-session " + Short(d.Child.ID) +
				" finished; its last message is the answer"
			f.Related = []session.Place{d.Child.At(last)}
			fix := Fix{
				Title:  "use the sub-session's last message as the result",
				Safety: Lossless,
				Edits: []session.Edit{s.addResult(m.Call, "SC716", session.NewItem{
					TextFrom: d.Child.ItemRef(last), Restored: true,
				})},
			}
			if !sure {
				f.Message += " to one of several requests, and nothing tells which was this call's"
				fix = Fix{Title: "decide which of the answers there is its own", Safety: Manual}
			}
			if len(s.misnamed().calls[m.Call]) > 0 {
				f.Message += "; a result of the same tool in the same run names another call, and may be its own"
				fix = s.ownResult(m.Call)
			}
			p.reportCall(s, f, fix)
		})
	},
}
