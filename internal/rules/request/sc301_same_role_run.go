package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var sameRoleRun = rules.Rule{
	ID: "SC301", Name: "same-role-run", Severity: rules.Info, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "several messages of the same role in a row",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items, places := sameRoleRuns(j.Subject)
		if places == 0 {
			return
		}
		f := p.FindSent(j, items, rules.Said{N: j.WireIndex(j.Profile, items[1])})
		f.Count = places
		f.Message = "messages of the same role follow each other in " + rules.CountedNoun(places, "place")
		f.Sent = "each run of messages as one message, with empty lines between them"
		p.Report(f)
	}),
}

// sameRoleRuns lists the items of all runs, and counts the runs. What two agents
// said is no run: nobody may join it.
func sameRoleRuns(s *rules.Subject) (items []int, runs int) {
	turns := s.Turns()
	for n := 1; n < len(turns); n++ {
		a, b := &s.Items[turns[n-1].Item], &s.Items[turns[n].Item]
		if role := turns[n].Role; role != turns[n-1].Role || role != session.User && role != session.Assistant ||
			a.Kind == session.Summary || a.Agent() != b.Agent() {
			continue
		}
		if len(items) == 0 || items[len(items)-1] != turns[n-1].Item {
			items = append(items, turns[n-1].Item)
			runs++
		}
		items = append(items, turns[n].Item)
	}
	return items, runs
}
