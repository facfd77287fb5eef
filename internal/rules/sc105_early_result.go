package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var earlyResult = Rule{
	ID: "SC105", Name: "early-result", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "a result before its call",
	Run: func(p *Pass) {
		eachMisplaced(p, pairing.Early, "the result of call %s stands before the call")
	},
}

// eachMisplaced reports the pairs whose result stands in a wrong place. A result
// that a placeholder keeps from its place is SC112, a pair that a summary parts
// is SC113.
func eachMisplaced(p *Pass, place pairing.Place, message string) {
	for _, s := range p.Voices {
		for n, pair := range s.Pairs.Pairs {
			if pair.Place != place || s.shadowed(n) || s.split(pair) {
				continue
			}
			f := p.findCall(s, pair.Result, s.call(pair.Call).ID)
			f.Message = fmt.Sprintf(message, callName(s.call(pair.Call)))
			f.Related = []session.Place{s.At(pair.Call.Item)}
			f.failing = func(p *Profile) string { return s.providerError(p, min(pair.Call.Item, pair.Result.Item)) }
			p.reportCall(s, f, s.moveResult(pair, "move the result next to its call"))
		}
	}
}

// shadowed reports whether a placeholder of the next request stands where the
// pair's result belongs.
func (s *Subject) shadowed(pair int) bool {
	for _, e := range s.Pairs.Extras {
		if e.Pair == pair && e.Placeholder && !s.history(e.Result.Item) {
			return true
		}
	}
	return false
}
