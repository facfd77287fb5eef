package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var nullContent = rules.Rule{
	ID: "SC404", Name: "null-content", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "null in place of a text",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items, _ := j.WireItems(func(i int) bool { return lacksText(j.Subject, i) })
		p.ReportSent(j, items, func(f *rules.Finding) {
			f.Message = "the next request would contain " + rules.CountedNoun(len(items), "message") + " with null in place of a text"
			f.Sent = "an empty text in its place"
		})
	}),
}

// lacksText reports whether an item holds null where a text must be. Beside calls
// null is the usual form, and what says nothing at all is SC401.
func lacksText(s *rules.Subject, item int) bool {
	it := &s.Items[item]
	return it.Flags.Has(session.NullText) && len(it.Calls)+len(it.Results) == 0 && !isEmpty(it) ||
		slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.Null })
}
