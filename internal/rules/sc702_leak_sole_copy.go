package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/replay"
)

var leakSoleCopy = Rule{
	ID: "SC702", Name: "leak-sole-copy", Severity: Error, Safety: Kept, Scope: PerTree | PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages stand in the parent, and its sub-session lacks some of them",
	Run: func(p *Pass) {
		eachLeak(p, childLacks, func(s *Subject, d *replay.Delegation) {
			f := p.findLeak(s, d)
			sole := 0
			for _, l := range d.Leaked {
				if l.Twin == nil {
					sole++
				}
			}
			f.Message += fmt.Sprintf("; sub-session %s lacks %d of them", Short(d.Child.ID), sole)
			if d.Reference < 0 {
				f.Message += ", and no item refers to it"
			}
			f.Message += s.breaks(d)
			safety := Lossless
			if sole < len(d.Leaked) {
				safety = Kept
			}
			f.Fixes = leakFixes(p, s, d, safety, fmt.Sprintf("move what is missing into sub-session %s", Short(d.Child.ID)))
			p.Report(f)
		})
	},
}

// leakFixes is the fix of a leak with sole copies, or none when no item of it
// can be decided.
func leakFixes(p *Pass, s *Subject, d *replay.Delegation, safety Safety, title string) []Fix {
	edits := newLeakFix(p, s, d).build()
	if len(edits) == 0 {
		return []Fix{{Title: "decide whose messages these are", Safety: Manual}}
	}
	return []Fix{{Title: title, Safety: safety, Edits: edits}}
}
