package delegation

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var leakSoleCopy = rules.Rule{
	ID: "SC702", Name: "leak-sole-copy", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages are stored in the parent, and its sub-session lacks some of them",
	Run: func(p *rules.Pass) {
		eachLeak(p, childLacks, func(s *rules.Subject, d *replay.Delegation) {
			f := findLeak(p, s, d)
			sole := lists.CountIf(d.Leaked, func(l replay.Leaked) bool { return l.Twin == nil })
			child, safety := rules.ShortID(d.Child.ID), rules.Lossless
			title := "move " + rules.CountedNoun(sole, "message") + " into sub-session " + child
			where := "here and missing from sub-session " + child
			if twins := len(d.Leaked) - sole; twins > 0 {
				where = fmt.Sprintf("here, and sub-session %s lacks %d of them", child, sole)
				safety, title = rules.Kept, title+" and remove "+rules.CountedNoun(twins, "duplicate message")
			}
			f.Message += where
			if d.Reference < 0 {
				f.AddSentence("No item refers to sub-session " + child)
			}
			f.Fixes = leakFixes(p, s, d, safety, title)
			reportLeak(p, s, d, f)
		})
		reportStrays(p, false)
	},
}

// leakFixes is the fix of a leak with sole copies, or none when no item of it
// can be decided.
func leakFixes(p *rules.Pass, s *rules.Subject, d *replay.Delegation, safety rules.Safety, title string) []rules.Fix {
	edits := newLeakFix(p, s, d).buildEdits()
	if len(edits) == 0 {
		return []rules.Fix{{Title: "decide whose messages these are", Safety: rules.Manual}}
	}
	return []rules.Fix{{Title: title, Safety: safety, Edits: edits}}
}
