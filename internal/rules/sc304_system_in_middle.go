package rules

import "github.com/sessctl/sessctl/internal/session"

var systemInMiddle = Rule{
	ID: "SC304", Name: "system-in-middle", Severity: Warning, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a system message behind the start",
	Run: func(p *Pass) {
		for j := range p.requests() {
			items := j.lateSystem()
			if len(items) == 0 {
				continue
			}
			f := p.findSent(j, items, Said{})
			f.Message = "the request holds " + count(len(items), "system message") + " behind its start, where many models know only users and assistants"
			f.Sent = "its text in a marked user message at the same place, or with the system prompt"
			p.Report(f)
		}
	},
}

// lateSystem lists the system messages of the next request that something else
// stands in front of. A summary comes first where there is one.
func (s *Subject) lateSystem() []int {
	begun := s.LastSummary() >= 0
	list, _ := s.wireItems(func(i int) bool {
		if s.history(i) {
			return false
		}
		system := s.Items[i].Role == session.System
		begun = begun || !system
		return system && begun
	})
	return list
}
