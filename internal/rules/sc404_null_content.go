package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var nullContent = Rule{
	ID: "SC404", Name: "null-content", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "null where a text belongs",
	Run: func(p *Pass) {
		for j := range p.requests() {
			items, _ := j.wireItems(func(i int) bool { return j.lacksText(i) })
			if len(items) == 0 {
				continue
			}
			f := p.findSent(j, items, Said{})
			f.Message = "the request would hold " + count(len(items), "message") + " with null where a text belongs"
			f.Sent = "an empty text in its place"
			p.Report(f)
		}
	},
}

// lacksText reports whether an item holds null where a text must be. Beside calls
// null is the usual form, and what says nothing at all is SC401.
func (s *Subject) lacksText(item int) bool {
	it := &s.Items[item]
	return it.Flags.Has(session.NullText) && len(it.Calls)+len(it.Results) == 0 && !empty(it) ||
		slices.ContainsFunc(it.Results, func(r session.Result) bool { return r.Null })
}
