package rules

import (
	"iter"

	"github.com/sessctl/sessctl/internal/session"
)

var startsNotUser = Rule{
	ID: "SC302", Name: "starts-not-user", Severity: Warning, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a conversation that does not start with a user's message",
	Run: func(p *Pass) {
		for j := range p.requests() {
			first, ok := firstOf(j.spoken())
			if !ok || first.role != session.Assistant {
				continue
			}
			f := p.findSent(j, []int{first.item}, Said{})
			f.Message = "the conversation starts with a message of the assistant; some models want a user's message first"
			f.Sent = "a short user message in front"
			p.Report(f)
		}
	},
}

func firstOf(turns iter.Seq[turn]) (first turn, ok bool) {
	for t := range turns {
		return t, true
	}
	return turn{}, false
}
