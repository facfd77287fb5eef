package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var emptyErrorResult = rules.Rule{
	ID: "SC406", Name: "empty-error-result", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "an error result without a text",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items, _ := j.WireItems(func(i int) bool {
			return slices.ContainsFunc(j.Items[i].Results, failsSilently) && !j.Items[i].HasBlock(session.MediaBlock)
		})
		if len(items) == 0 {
			return
		}
		f := p.FindSent(j, items, rules.Said{Block: slices.IndexFunc(j.Items[items[0]].Results, failsSilently)})
		f.Message = "the next request would contain " + rules.CountedNoun(len(items), "message") + " with an error result without a text"
		f.Sent = `a text such as "(no output)" in its place`
		p.Report(f)
	}),
}

// failsSilently reports whether a result is an error without a text.
func failsSilently(r session.Result) bool { return r.IsError && r.Digest == 0 }
