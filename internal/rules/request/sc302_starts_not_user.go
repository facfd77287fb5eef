package request

import (
	"iter"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var startsNotUser = rules.Rule{
	ID: "SC302", Name: "starts-not-user", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a conversation that does not start with a user message",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		first, ok := firstOf(j.SpokenTurns())
		if !ok || first.Role != session.Assistant || j.Items[0].Flags.Has(session.Compacted) && j.LastSummary() < 0 { // what stands for the items before is no item
			return
		}
		f := p.FindSent(j, []int{first.Item}, rules.Said{})
		f.Message = "the conversation starts with a message of the assistant. Some models require a user message first."
		f.Sent = "a short user message before it"
		p.Report(f)
	}),
}

func firstOf(turns iter.Seq[rules.Turn]) (first rules.Turn, ok bool) {
	for t := range turns {
		return t, true
	}
	return rules.Turn{}, false
}
