package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

var toolThenUser = Rule{
	ID: "SC305", Name: "tool-then-user", Severity: Warning, Safety: None, Scope: PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a user's message directly behind results",
	Run: func(p *Pass) {
		for j := range p.requests() {
			items := j.usersBehindTools()
			if len(items) == 0 {
				continue
			}
			f := p.findSent(j, items, Said{})
			f.Message = "a user's message follows tool results with no answer between them, in " + count(len(items), "place")
			f.Sent = "a one-word answer between them"
			p.Report(f)
		}
	},
}

// usersBehindTools lists the items of the user's messages directly behind
// results, and at last that of the results which the user's next message will
// follow. Most servers have taken the earlier ones already: they were asked after
// each of them.
func (j *Judged) usersBehindTools() []int {
	var items []int
	turns := j.turns()
	for n := 1; n < len(turns); n++ {
		if j.Profile.StrictRoles && turns[n].role == session.User && turns[n-1].role == session.Tool {
			items = append(items, turns[n].item)
		}
	}
	if item, ok := j.nextBehindTool(turns); ok {
		items = append(items, item)
	}
	slices.Sort(items) // turns are in the order of the request
	return items
}

// nextBehindTool is the item of the results that the user's next message follows.
func (j *Judged) nextBehindTool(turns []turn) (item int, ok bool) {
	if j.AsIs || len(turns) == 0 {
		return -1, false
	}
	last := turns[len(turns)-1]
	return last.item, last.role == session.Tool && !last.pending
}
