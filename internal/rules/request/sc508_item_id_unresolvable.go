package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var itemIDUnresolvable = rules.Rule{
	ID: "SC508", Name: "item-id-unresolvable", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "ids of a server that was told to store nothing", Profiled: true, Wire: true,
	Run: rules.VisitJudged(func(p *rules.Pass, j rules.Judged) {
		if !j.Unstored {
			return
		}
		at := j.FindSpots(func(_ *session.Item, b *session.Block) bool { return b.ID != "" })
		if len(at) == 0 {
			return
		}
		f := p.FindBlocks(j, at, rules.Said{ID: j.BlockAt(at[0]).ID})
		f.Message = rules.CountedNoun(len(at), "part") + rules.VerbForm(len(at), " has", " have") + " an id of the provider's server that the server cannot look up"
		f.AddSentence("The server was told to store nothing")
		f.Sent = "the items without the server's ids"
		p.Report(f)
	}),
}
