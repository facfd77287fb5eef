package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var thinkingUnsigned = rules.Rule{
	ID: "SC502", Name: "thinking-unsigned", Severity: rules.Error, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "thinking without the signature that its provider requires", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool { return b.Kind == session.ReasoningBlock && b.Unsigned })
		p.ReportBlocks(j, at, rules.Said{}, func(f *rules.Finding) {
			f.Message = rules.CountedNoun(len(at), "thinking block") + rules.VerbForm(len(at), " has", " have") + " no signature, which the provider requires"
			f.Sent = "the turns without the unsigned thinking"
			f.Fixes = omitBlocks(p, j.Subject, at)
		})
	}),
}
