package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultInChild = rules.Rule{
	ID: "SC716", Name: "result-in-child", Severity: rules.Error, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree | rules.PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a delegation has no result, but its sub-session finished and holds the answer",
	Run: func(p *rules.Pass) {
		eachMissing(p, restorable, func(s *rules.Subject, m pairing.Missing, d *replay.Delegation) {
			last, sure := answerIn(d)
			f := p.FindCall(s, m.Call, s.CallAt(m.Call).ID)
			f.Message = "call " + rules.CallName(s.CallAt(m.Call)) + " has no result, but sub-session " + rules.ShortID(d.Child.ID) +
				" finished"
			f.Related = []session.Place{d.Child.ItemPlace(last)}
			fix := rules.NewFix(rules.Lossless, "use the sub-session's last message as the result",
				addResult(s, m.Call, "SC716", session.NewItem{TextFrom: d.Child.ItemRef(last), Restored: true}))
			answer := "The last message there is the answer"
			if !sure {
				answer = "The last message there answers one of several requests, and sessctl cannot tell whether it was this call's"
				fix = rules.Fix{Title: "decide which of the answers there belongs to this call", Safety: rules.Manual}
			}
			f.AddSentence(answer)
			if len(misnamedOf(s).calls[m.Call]) > 0 {
				f.AddSentence(mayBeOwn)
				fix = ownResult(s, m.Call)
			}
			p.ReportCall(s, f, fix)
		})
	},
}
