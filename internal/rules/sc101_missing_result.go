package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

var missingResult = Rule{
	ID: "SC101", Name: "missing-result", Severity: Error, Safety: Lossless, Allow: "guesses", Scope: PerTree | PerComparison, Retells: lacksResult, Since: "0.1.0",
	Title: "a call was never answered, and it is over",
	Run: func(p *Pass) {
		eachMissing(p, lost, func(s *Subject, m pairing.Missing, _ *replay.Delegation) {
			f := p.findCall(s, m.Call, s.call(m.Call).ID)
			f.Message = "call " + callName(s.call(m.Call)) + " has no result"
			if m.Tail && !s.Closed {
				f.Message += ", and the runtime that could still write one is gone"
			}
			fix := Fix{
				Title:  "add a result that says none was recorded",
				Safety: Lossless,
				Edits:  []session.Edit{s.addResult(m.Call, "SC101", session.NewItem{Text: syntheticText, IsError: true})},
			}
			if len(s.misnamed().calls[m.Call]) > 0 {
				f.Message += "; a result of the same tool in the same run names another call, and may be its own"
				fix = s.ownResult(m.Call)
			}
			if f.Call == "" {
				fix = Fix{Title: "give the call an id: no result can name it", Safety: Manual}
			}
			if s.strayed[f.Call] {
				f.Message += " that it is shown: the result of that name is on another branch, or of another agent"
				fix = Fix{Title: "decide whose the result is", Safety: Manual}
			}
			p.reportCall(s, f, fix)
		})
	},
}
