package delegation

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var leakNoChild = rules.Rule{
	ID: "SC703", Name: "leak-no-child", Severity: rules.Error, Safety: rules.Lossless, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages are stored in the parent, and it has no sub-session",
	Run: func(p *rules.Pass) {
		eachLeak(p, childMissing, func(s *rules.Subject, d *replay.Delegation) {
			f := findLeak(p, s, d)
			f.Message += "here, and " + rules.VerbForm(len(d.Leaked), "its", "their") + " sub-session was never saved"
			f.AddSentence(p.OtherCopies(d))
			title := "move " + rules.CountedNoun(len(d.Leaked), "message") + " into a new sub-session of call " + d.Call().ID
			f.Fixes = leakFixes(p, s, d, rules.Lossless, title)
			reportLeak(p, s, d, f)
		})
	},
}
