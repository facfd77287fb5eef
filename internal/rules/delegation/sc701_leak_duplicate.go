package delegation

import (
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules"
)

var leakDuplicate = rules.Rule{
	ID: "SC701", Name: "leak-duplicate", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerComparison, Since: "0.1.0",
	Title: "a sub-agent's messages are stored twice: in its sub-session and in the parent",
	Run: func(p *rules.Pass) {
		eachLeak(p, childComplete, func(s *rules.Subject, d *replay.Delegation) {
			f := findLeak(p, s, d)
			n := len(d.Leaked)
			f.Message += "twice: in sub-session " + rules.ShortID(d.Child.ID) + ", where " + rules.VerbForm(n, "it belongs", "they belong") + ", and here"
			title := "remove " + rules.CountedNoun(n, "duplicate message") + rules.VerbForm(n, "; the original stays", "; the originals stay") + " in sub-session " + rules.ShortID(d.Child.ID)
			f.Fixes = leakFixes(p, s, d, rules.Kept, title)
			reportLeak(p, s, d, f)
		})
		reportStrays(p, true)
	},
}
