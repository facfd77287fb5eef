package pairs

import (
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var duplicateResult = rules.Rule{
	ID: "SC106", Name: "duplicate-result", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a call has the same result twice",
	Run: func(p *rules.Pass) {
		eachExtra(p, func(e pairing.Extra) bool { return e.Same && !e.Placeholder },
			"call %s has the same result twice",
			"remove the other copy; the receipt keeps it")
		for _, s := range p.Subjects {
			reportDoubled(p, s)
		}
	},
}

// reportDoubled reports the calls that the session has twice, with their results and what was said
// with them, as far as the store tells. The prompt of a sub-session that it has twice costs little.
func reportDoubled(p *rules.Pass, s *rules.Subject) {
	var prompts, answers []int
	for i := range s.Items {
		switch it := &s.Items[i]; {
		case !it.Copied || it.Home() != s.ID:
		case it.Role == session.User:
			prompts = append(prompts, i)
		default:
			answers = append(answers, i)
		}
	}
	for _, items := range [][]int{prompts, answers} {
		p.ReportItems(s.Session, items, func(f *rules.Finding) {
			n := len(items)
			f.Message = rules.CountedNoun(n, "message") + rules.VerbForm(n, " is", " are") + " stored twice: another record of this session says all of " + rules.VerbForm(n, "it", "that")
			f.Severity = rules.Warning // no provider refuses it
			if s.Items[items[0]].Role == session.User {
				f.Severity = rules.Info
			} else if len(s.Items[items[0]].Calls) > 0 {
				f.Call = s.Items[items[0]].Calls[0].ID
			}
			f.SetFix(rules.Kept, "remove the copy; the receipt keeps it", rules.QuarantineItems(s.Session, items)...)
		})
	}
}
