package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInChild = rules.Rule{
	ID: "SC716", Name: "result-in-child", Severity: rules.Error, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree | rules.PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a delegation was never answered, but its child finished and holds the answer",
	Run: func(p *rules.Pass) {
		eachMissing(p, restorable, func(s *rules.Subject, m pairing.Missing, d *replay.Delegation) {
			last, sure := answerIn(d)
			f := p.FindCall(s, m.Call, s.CallAt(m.Call).ID)
			f.Message = "call " + rules.CallName(s.CallAt(m.Call)) + " has no result, but sub-session " + rules.Short(d.Child.ID) +
				" finished; its last message is the answer"
			f.Related = []session.Place{d.Child.At(last)}
			fix := rules.Fix{
				Title:  "use the sub-session's last message as the result",
				Safety: rules.Lossless,
				Edits: []session.Edit{addResult(s, m.Call, "SC716", session.NewItem{
					TextFrom: d.Child.ItemRef(last), Restored: true,
				})},
			}
			if !sure {
				f.Message += " to one of several requests, and nothing tells which was this call's"
				fix = rules.Fix{Title: "decide which of the answers there is its own", Safety: rules.Manual}
			}
			if len(misnamedOf(s).calls[m.Call]) > 0 {
				f.Message += "; a result of the same tool in the same run names another call, and may be its own"
				fix = ownResult(s, m.Call)
			}
			p.ReportCall(s, f, fix)
		})
	},
}
