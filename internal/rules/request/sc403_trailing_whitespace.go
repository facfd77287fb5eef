package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var trailingWhitespace = rules.Rule{
	ID: "SC403", Name: "trailing-whitespace", Severity: rules.Error, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a request that ends with white space",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		last, ok := lastAnswer(&j)
		if !ok || !j.Items[last].Flags.Has(session.TrailingSpace) {
			return
		}
		f := p.FindSent(j, []int{last}, rules.Said{})
		f.Message = "the request ends with an answer whose text ends in white space"
		f.Sent = "the text without white space at its end"
		p.Report(f)
	}),
}
