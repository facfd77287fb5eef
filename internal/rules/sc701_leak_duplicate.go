package rules

import (
	"github.com/sessctl/sessctl/internal/replay"
)

var leakDuplicate = Rule{
	ID: "SC701", Name: "leak-duplicate", Severity: Error, Safety: Kept, Scope: PerTree | PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages stand in the parent and again in its sub-session",
	Run: func(p *Pass) {
		eachLeak(p, childComplete, func(s *Subject, d *replay.Delegation) {
			f := p.findLeak(s, d)
			f.Message += " and again in sub-session " + Short(d.Child.ID) + s.breaks(d)
			title := count(len(d.Leaked), "duplicate") + verb(len(d.Leaked), " leaves", " leave") + " the parent; the originals stay in sub-session " + Short(d.Child.ID)
			f.Fixes = leakFixes(p, s, d, Kept, title)
			p.Report(f)
		})
	},
}
