package rules

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var resultOrderDiffers = Rule{
	ID: "SC111", Name: "result-order-differs", Severity: Info, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "the results of a turn stand in another order than its calls",
	Run: func(p *Pass) {
		for _, s := range p.Voices {
			reported := -1
			for n, pair := range s.Pairs.Pairs {
				if n == 0 || pair.Call.Item == reported || s.history(pair.Call.Item) {
					continue
				}
				if last := s.Pairs.Pairs[n-1]; last.Call.Item == pair.Call.Item && s.swapped(last, pair) {
					reported = pair.Call.Item
					reportOrder(p, s, last, pair)
				}
			}
		}
	},
}

// swapped reports whether the results of two calls of one turn, both in their
// answer group, stand in the other order.
func (s *Subject) swapped(first, second pairing.Pair) bool {
	return first.Place == pairing.Adjacent && second.Place == pairing.Adjacent && second.Result.Before(first.Result)
}

func reportOrder(p *Pass, s *Subject, first, second pairing.Pair) {
	f := p.find(s.Session, second.Result.Item)
	f.Nth, f.Call = second.Result.Nth, s.call(second.Call).ID
	f.Message = "the result of call " + callName(s.call(second.Call)) + " stands before that of " + callName(s.call(first.Call)) +
		", which was called first; no provider minds"
	f.Related = []session.Place{s.At(second.Call.Item)}
	p.Report(f)
}
