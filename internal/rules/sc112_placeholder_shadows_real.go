package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var placeholderShadowsReal = Rule{
	ID: "SC112", Name: "placeholder-shadows-real", Severity: Error, Safety: Kept, Scope: PerTree, Since: "0.1.0",
	Title: "a placeholder and the real result for one call",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
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
func reportShadow(p *Pass, s *Subject, e pairing.Extra) {
	pair := s.Pairs.Pairs[e.Pair]
	f := p.findCall(s, e.Result, s.call(pair.Call).ID)
	f.Message = "call " + callName(s.call(pair.Call)) + " has a stand-in besides its real result"
	f.Related = []session.Place{s.At(pair.Result.Item)}
	fix := s.quarantine(e.Result, "keep the real result; the stand-in goes to the receipt")
	if pair.Place != pairing.Adjacent {
		f.Message += ", which stands elsewhere"
		fix.Edits = append(s.moveResult(pair, "").Edits, fix.Edits...)
	}
	p.reportCall(s, f, fix)
}
