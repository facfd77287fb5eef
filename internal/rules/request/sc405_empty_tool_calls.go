package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var emptyToolCalls = rules.Rule{
	ID: "SC405", Name: "empty-tool-calls", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "an empty list of calls",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items, _ := j.WireItems(func(i int) bool { return j.Items[i].Flags.Has(session.EmptyCalls) && !isEmpty(&j.Items[i]) })
		p.ReportSent(j, items, func(f *rules.Finding) {
			f.Message = "the next request would contain " + rules.CountedNoun(len(items), "message") + " with an empty list of calls"
			f.Sent = "the message without the list"
		})
	}),
}
