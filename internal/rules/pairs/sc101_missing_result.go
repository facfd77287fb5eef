package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var missingResult = rules.Rule{
	ID: "SC101", Name: "missing-result", Severity: rules.Error, Safety: rules.Lossless, Allow: "guesses", Scope: rules.PerTree | rules.PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a call was never answered, and it is over",
	Run: func(p *rules.Pass) {
		eachMissing(p, lost, func(s *rules.Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.FindCall(s, m.Call, s.CallAt(m.Call).ID)
			f.Message = "call " + rules.CallName(s.CallAt(m.Call)) + " has no result"
			if m.Tail && !s.Closed {
				f.Message += ", and the runtime that could still write one is gone"
			}
			fix := rules.Fix{
				Title:  "add a result that says none was recorded",
				Safety: rules.Lossless,
				Edits:  []session.Edit{addResult(s, m.Call, "SC101", session.NewItem{Text: syntheticText, IsError: true})},
			}
			if len(misnamedOf(s).calls[m.Call]) > 0 {
				f.Message += "; a result of the same tool in the same run names another call, and may be its own"
				fix = ownResult(s, m.Call)
			}
			if f.Call == "" {
				fix = rules.Fix{Title: "give the call an id: no result can name it", Safety: rules.Manual}
			}
			if s.Strayed[f.Call] {
				f.Message += " that it is shown: the result of that name is on another branch, or of another agent"
				fix = rules.Fix{Title: "decide whose the result is", Safety: rules.Manual}
			}
			p.ReportCall(s, f, fix)
		})
	},
}
