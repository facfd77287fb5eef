package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var systemInMiddle = rules.Rule{
	ID: "SC304", Name: "system-in-middle", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a system message after the start of the conversation",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items := lateSystem(j.Subject)
		p.ReportSent(j, items, func(f *rules.Finding) {
			f.Message = "the request contains " + rules.CountedNoun(len(items), "system message") + " after its start. Many models accept only user and assistant messages there."
			f.Sent = "its text in a marked user message at the same place, or with the system prompt"
		})
	}),
}

// lateSystem lists the system messages of the next request that something else
// stands in front of. A summary comes first where there is one.
func lateSystem(s *rules.Subject) []int {
	begun := s.LastSummary() >= 0
	list, _ := s.WireItems(func(i int) bool {
		if s.IsHistory(i) {
			return false
		}
		system := s.Items[i].Role == session.System
		begun = begun || !system
		return system && begun
	})
	return list
}
