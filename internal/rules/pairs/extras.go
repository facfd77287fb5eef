package pairs

import (
	"fmt"

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
			fix := orOwner(s, &f, e.Result, s.QuarantineResult(e.Result, title))
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
