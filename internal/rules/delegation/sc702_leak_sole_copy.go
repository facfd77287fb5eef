package delegation

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var leakSoleCopy = rules.Rule{
	ID: "SC702", Name: "leak-sole-copy", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages are stored in the parent, and its sub-session lacks some of them",
	Run: func(p *rules.Pass) {
		eachLeak(p, childLacks, func(s *rules.Subject, d *replay.Delegation) {
			f := findLeak(p, s, d)
			sole := 0
			for _, l := range d.Leaked {
				if l.Twin == nil {
					sole++
				}
			}
			f.Message += fmt.Sprintf("; sub-session %s lacks %d of them", rules.Short(d.Child.ID), sole)
			if d.Reference < 0 {
				f.Message += ", and no item refers to it"
			}
			f.Message += breaks(s, d)
			safety := rules.Lossless
			if sole < len(d.Leaked) {
				safety = rules.Kept
			}
			f.Fixes = leakFixes(p, s, d, safety, fmt.Sprintf("move what is missing into sub-session %s", rules.Short(d.Child.ID)))
			p.Report(f)
		})
	},
}

// leakFixes is the fix of a leak with sole copies, or none when no item of it
// can be decided.
func leakFixes(p *rules.Pass, s *rules.Subject, d *replay.Delegation, safety rules.Safety, title string) []rules.Fix {
	edits := newLeakFix(p, s, d).build()
	if len(edits) == 0 {
		return []rules.Fix{{Title: "decide whose messages these are", Safety: rules.Manual}}
	}
	return []rules.Fix{{Title: title, Safety: safety, Edits: edits}}
}
