package pairs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

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
			f.Related = []session.Place{s.ItemPlace(pair.Result.Item)}
			gone, say := e.Result, title
			if s.SendsLatest() && !e.Same {
				gone, say = unsentResult(s, e), "remove the result that is not sent; the receipt keeps it"
			}
			fix := orOwner(s, &f, gone, s.QuarantineResult(gone, say))
			if s.SendsLast() && fix.Safety != rules.Manual {
				f.Severity = rules.Warning
				f.AddSentence(p.Store.Title + " sends the last one, and the model does not see the other")
				if !e.Same { // to take the last one away would change what the model sees
					p.Report(f)
					continue
				}
			}
			p.ReportCall(s, f, fix)
		}
	}
}

// unsentResult is the result that an extra one stands for, where the last one of them all is sent.
func unsentResult(s *rules.Subject, e pairing.Extra) pairing.Occurrence {
	all, nth := []pairing.Occurrence{s.Pairs.Pairs[e.Pair].Result}, 0
	for _, other := range s.Pairs.Extras {
		if other.Pair == e.Pair && other.Result == e.Result {
			nth = len(all) - 1
		}
		if other.Pair == e.Pair {
			all = append(all, other.Result)
		}
	}
	slices.SortFunc(all, func(a, b pairing.Occurrence) int {
		return cmp.Or(cmp.Compare(a.Item, b.Item), cmp.Compare(a.Nth, b.Nth))
	})
	return all[nth]
}
