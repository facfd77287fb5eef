package rules

import "github.com/sessctl/sessctl/internal/session"

var sameRoleRun = Rule{
	ID: "SC301", Name: "same-role-run", Severity: Info, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "several messages of the same role in a row",
	Run: func(p *Pass) {
		for j := range p.requests() {
			items, places := j.sameRoleRuns()
			if places == 0 {
				continue
			}
			f := p.findSent(j, items, Said{N: j.wireIndex(j.Profile, items[1])})
			f.Count = places
			f.Message = "messages of the same role follow each other in " + count(places, "place") + ", with no answer between them"
			f.Sent = "the messages of each run as one, parted by an empty line"
			p.Report(f)
		}
	},
}

// sameRoleRuns lists the items of all runs, and counts the runs. What two agents
// said is no run: nobody may join it.
func (s *Subject) sameRoleRuns() (items []int, runs int) {
	turns := s.turns()
	for n := 1; n < len(turns); n++ {
		a, b := &s.Items[turns[n-1].item], &s.Items[turns[n].item]
		if role := turns[n].role; role != turns[n-1].role || role != session.User && role != session.Assistant ||
			a.Kind == session.Summary || a.Agent != b.Agent {
			continue
		}
		if len(items) == 0 || items[len(items)-1] != turns[n-1].item {
			items = append(items, turns[n-1].item)
			runs++
		}
		items = append(items, turns[n].item)
	}
	return items, runs
}
