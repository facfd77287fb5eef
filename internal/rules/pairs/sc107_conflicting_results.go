package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var conflictingResults = rules.Rule{
	ID: "SC107", Name: "conflicting-results", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "two different results for one call",
	Run: func(p *rules.Pass) {
		eachExtra(p, func(e pairing.Extra) bool { return !e.Same && !e.Placeholder && !e.Real },
			"call %s has two different results. sessctl cannot tell which one is right.",
			"keep the result directly after the call, or else the first; the receipt keeps the other")
		for _, s := range p.Viewers {
			for _, e := range s.Pairs.Extras {
				if e.Real {
					reportUnplaced(p, s, e)
				}
			}
		}
	},
}

// reportUnplaced reports a real result that stands before several calls with its
// id, one of which has only a placeholder: it is never given up for that.
func reportUnplaced(p *rules.Pass, s *rules.Subject, e pairing.Extra) {
	pair := s.Pairs.Pairs[e.Pair]
	f := p.FindCall(s, e.Result, s.CallAt(pair.Call).ID)
	f.Message = "call " + rules.CallName(s.CallAt(pair.Call)) + " has only a placeholder as its result. This real result comes before several calls with the same id."
	f.Related = []session.Place{s.ItemPlace(pair.Result.Item)}
	p.ReportCall(s, f, rules.Fix{Title: "decide which call the result belongs to", Safety: rules.Manual})
}
