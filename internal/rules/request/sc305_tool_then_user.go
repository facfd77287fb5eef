package request

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var toolThenUser = rules.Rule{
	ID: "SC305", Name: "tool-then-user", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Profiled: true, Wire: true, Since: "0.1.0",
	Title: "a user message directly after tool results",
	Run: rules.VisitRequests(func(p *rules.Pass, j rules.Judged) {
		items := usersBehindTools(&j)
		p.ReportSent(j, items, func(f *rules.Finding) {
			f.Message = "a user message follows tool results directly in " + rules.CountedNoun(len(items), "place")
			if !j.Profile.StrictRoles && j.Hint != "" { // nobody named the model
				f.Severity = rules.Info
				f.AddSentence("Mistral's models refuse that, and all others that are known take it")
			}
			f.Sent = "a one-word answer between them"
		})
	}),
}

// usersBehindTools lists the items of the user's messages directly behind
// results, and at last that of the results which the user's next message will
// follow. Most servers have taken the earlier ones already: they were asked after
// each of them.
func usersBehindTools(j *rules.Judged) []int {
	var items []int
	turns := j.Turns()
	for n := 1; n < len(turns); n++ {
		if j.Profile.StrictRoles && turns[n].Role == session.User && turns[n-1].Role == session.Tool {
			items = append(items, turns[n].Item)
		}
	}
	if item, ok := nextBehindTool(j, turns); ok {
		items = append(items, item)
	}
	slices.Sort(items) // turns are in the order of the request
	return items
}

// nextBehindTool is the item of the results that the user's next message follows.
func nextBehindTool(j *rules.Judged, turns []rules.Turn) (item int, ok bool) {
	if j.AsIs || len(turns) == 0 {
		return -1, false
	}
	last := turns[len(turns)-1]
	return last.Item, last.Role == session.Tool && !last.Pending
}
