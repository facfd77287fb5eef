package rules

import "github.com/sessctl/sessctl/internal/replay"

var leakNoChild = Rule{
	ID: "SC703", Name: "leak-no-child", Severity: Error, Safety: Lossless, Scope: PerTree | PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages stand in the parent, and it has no sub-session",
	Run: func(p *Pass) {
		eachLeak(p, childMissing, func(s *Subject, d *replay.Delegation) {
			f := p.findLeak(s, d)
			f.Message += "; the sub-session was never saved, so this is the only copy" + p.unsaved(d) + s.breaks(d)
			f.Fixes = leakFixes(p, s, d, Lossless, "move them into a new sub-session below the call")
			p.Report(f)
		})
	},
}
