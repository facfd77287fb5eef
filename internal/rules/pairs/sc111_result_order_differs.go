package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var resultOrderDiffers = rules.Rule{
	ID: "SC111", Name: "result-order-differs", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "the results of a turn are not in the order of its calls",
	Run: rules.VisitViewers(func(p *rules.Pass, s *rules.Subject) {
		reported := -1
		for n, pair := range s.Pairs.Pairs {
			if n == 0 || pair.Call.Item == reported || s.IsHistory(pair.Call.Item) {
				continue
			}
			if last := s.Pairs.Pairs[n-1]; last.Call.Item == pair.Call.Item && isSwapped(last, pair) {
				reported = pair.Call.Item
				reportOrder(p, s, last, pair)
			}
		}
	}),
}

// isSwapped reports whether the results of two calls of one turn, both in their
// answer group, stand in the other order.
func isSwapped(first, second pairing.Pair) bool {
	return first.Place == pairing.Adjacent && second.Place == pairing.Adjacent && second.Result.Before(first.Result)
}

func reportOrder(p *rules.Pass, s *rules.Subject, first, second pairing.Pair) {
	f := p.FindItem(s.Session, second.Result.Item)
	f.Nth, f.Call = second.Result.Nth, s.CallAt(second.Call).ID
	f.Message = "the result of call " + rules.CallName(s.CallAt(second.Call)) + " comes before that of " + rules.CallName(s.CallAt(first.Call)) +
		", which was called first"
	f.AddSentence("No provider refuses this order")
	f.Related = []session.Place{s.ItemPlace(second.Call.Item)}
	p.Report(f)
}
