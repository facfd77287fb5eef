package rules

import "github.com/sessctl/sessctl/internal/session"

var emptyToolCalls = Rule{
	ID: "SC405", Name: "empty-tool-calls", Severity: Error, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a list of calls that is empty",
	Run: func(p *Pass) {
		for j := range p.requests() {
			items, _ := j.wireItems(func(i int) bool { return j.Items[i].Flags.Has(session.EmptyCalls) && !empty(&j.Items[i]) })
			if len(items) == 0 {
				continue
			}
			f := p.findSent(j, items, Said{})
			f.Message = "the request would hold " + count(len(items), "message") + " with a list of calls that is empty"
			f.Sent = "the message without the list"
			p.Report(f)
		}
	},
}
