package rules

import "github.com/sessctl/sessctl/internal/session"

var trailingWhitespace = Rule{
	ID: "SC403", Name: "trailing-whitespace", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a request that ends with white space",
	Run: func(p *Pass) {
		for j := range p.requests() {
			last, ok := j.lastAnswer()
			if !ok || !j.Items[last].Flags.Has(session.TrailingSpace) {
				continue
			}
			f := p.findSent(j, []int{last}, Said{})
			f.Message = "sent as it is, the request ends with an answer whose text ends in white space"
			f.Sent = "the text without the white space at its end"
			p.Report(f)
		}
	},
}
