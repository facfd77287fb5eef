package pairs

import (
	"fmt"

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
	f.Related = []session.Place{s.At(pair.Result.Item)}
	p.ReportCall(s, f, rules.Fix{Title: "decide which call the result belongs to", Safety: rules.Manual})
}

// eachExtra reports the surplus results that match.
func eachExtra(p *rules.Pass, match func(pairing.Extra) bool, message, title string) {
	for _, s := range p.Viewers {
		for _, e := range s.Pairs.Extras {
			if !match(e) {
				continue
			}
			pair := s.Pairs.Pairs[e.Pair]
			f := p.FindCall(s, e.Result, s.CallAt(pair.Call).ID)
			f.Message = fmt.Sprintf(message, rules.CallName(s.CallAt(pair.Call)))
			f.Related = []session.Place{s.At(pair.Result.Item)}
			fix := orOwner(s, &f, e.Result, s.Quarantine(e.Result, title))
			if s.SendsLast() && fix.Safety != rules.Manual {
				f.Severity = rules.Warning
				f.Then(p.Store.Title + " sends the last one, and the model does not see the other")
				if !e.Same { // to take the last one away would change what the model sees
					p.Report(f)
					continue
				}
			}
			p.ReportCall(s, f, fix)
		}
	}
}

var duplicateResult = rules.Rule{
	ID: "SC106", Name: "duplicate-result", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has the same result twice",
	Run: func(p *rules.Pass) {
		eachExtra(p, func(e pairing.Extra) bool { return e.Same && !e.Placeholder },
			"call %s has the same result twice",
			"remove the other copy; the receipt keeps it")
	},
}

var placeholderShadowsReal = rules.Rule{
	ID: "SC112", Name: "placeholder-shadows-real", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has both a placeholder and its real result",
	Run: func(p *rules.Pass) {
		for _, s := range p.Viewers {
			for _, e := range s.Pairs.Extras {
				if e.Placeholder {
					reportShadow(p, s, e)
				}
			}
		}
	},
}

// reportShadow keeps the real result, at the placeholder's place when that is
// the right one.
func reportShadow(p *rules.Pass, s *rules.Subject, e pairing.Extra) {
	pair := s.Pairs.Pairs[e.Pair]
	f := p.FindCall(s, e.Result, s.CallAt(pair.Call).ID)
	f.Message = "call " + rules.CallName(s.CallAt(pair.Call)) + " has a placeholder besides its real result"
	f.Related = []session.Place{s.At(pair.Result.Item)}
	fix := s.Quarantine(e.Result, "keep the real result; the receipt keeps the placeholder")
	if pair.Place != pairing.Adjacent {
		f.Then("The real result is elsewhere in the session")
		fix.Edits = append(s.MoveResult(pair, "").Edits, fix.Edits...)
	}
	p.ReportCall(s, f, fix)
}
