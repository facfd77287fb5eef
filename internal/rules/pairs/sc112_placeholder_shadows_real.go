package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var placeholderShadowsReal = rules.Rule{
	ID: "SC112", Name: "placeholder-shadows-real", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has both a placeholder and its real result",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		for _, e := range s.Pairs.Extras {
			if e.Placeholder {
				reportShadow(p, s, e)
			}
		}
	}),
}

// reportShadow keeps the real result, at the placeholder's place when that is
// the right one.
func reportShadow(p *rules.Pass, s *rules.Subject, e pairing.Extra) {
	pair := s.Pairs.Pairs[e.Pair]
	f := p.FindCall(s, e.Result, s.CallAt(pair.Call).ID)
	f.Message = "call " + rules.CallName(s.CallAt(pair.Call)) + " has a placeholder besides its real result"
	f.Related = []session.Place{s.ItemPlace(pair.Result.Item)}
	fix := s.QuarantineResult(e.Result, "keep the real result; the receipt keeps the placeholder")
	if pair.Place != pairing.Adjacent {
		f.AddSentence("The real result is elsewhere in the session")
		fix.Edits = append(s.MoveResult(pair, "").Edits, fix.Edits...)
	}
	p.ReportCall(s, f, fix)
}
