package pairs

import (
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// eachMisplaced reports the pairs whose result stands in a wrong place. A result
// that a placeholder keeps from its place is SC112, a pair that a summary parts
// is SC113.
func eachMisplaced(p *rules.Pass, place pairing.Place, message string) {
	for _, s := range p.Viewers {
		for n, pair := range s.Pairs.Pairs {
			if pair.Place != place || isShadowed(s, n) || isSplit(s, pair) {
				continue
			}
			f := p.FindCall(s, pair.Result, s.CallAt(pair.Call).ID)
			f.Message = fmt.Sprintf(message, rules.CallName(s.CallAt(pair.Call)))
			f.Related = []session.Place{s.ItemPlace(pair.Call.Item)}
			f.Failing = func(p *rules.Profile) string { return s.ProviderError(p, min(pair.Call.Item, pair.Result.Item)) }
			p.ReportCall(s, f, s.MoveResult(pair, "move the result next to its call"))
		}
	}
}

// isShadowed reports whether a placeholder of the next request stands where the
// pair's result belongs.
func isShadowed(s *rules.Subject, pair int) bool {
	return slices.ContainsFunc(s.Pairs.Extras, func(e pairing.Extra) bool {
		return e.Pair == pair && e.Placeholder && !s.IsHistory(e.Result.Item)
	})
}
