package isolation

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/delegation"
	"github.com/sessctl/sessctl/internal/session"
)

var goalEquality = rules.Rule{
	ID: "SC802", Name: "goal-equality", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Optional: true, Bodies: true, Since: "0.1.0",
	Title: "a sub-session begins with another goal than its delegation gave it",
	Run: func(p *rules.Pass) {
		for _, s := range isolatedSpawns(p) {
			if at, differs := otherGoal(&s); differs {
				f := findInChild(p, &s, []int{at})
				f.Message = "the sub-session begins with another goal than call " + rules.CallName(s.Call()) + " gave it"
				p.Report(f)
			}
		}
	},
}

// goalLabels are what runtimes write in front of a goal (Loom's two design documents).
var goalLabels = []string{"Your task: ", "Task: ", "Goal: "}

// otherGoal is the index of the message that gives the child another goal than the
// delegation's, as far as that can be told: where both are known, and none of the
// messages that the child begins with holds the delegation's goal.
func otherGoal(s *delegation.Spawn) (i int, differs bool) {
	want := s.Call().Delegation.Task
	lead := openingItems(s, nil)
	if want == 0 || s.To.Task == want || len(lead) == 0 {
		return 0, false
	}
	goal := collapseSpaces(spawnGoal(s))
	asked, marked, known := -1, -1, goal != ""
	for _, i := range lead {
		it := &s.To.Items[i]
		known = known && it.Body != nil
		switch {
		case it.Text == want, it.Body != nil && goal != "" && statesGoal(it.Body.Text, goal):
			return 0, false
		case isPrompt(it) && asked < 0:
			asked = i
		case s.To.Task != 0 && it.Role == session.System && it.Text != s.To.Task && marked < 0:
			marked = i // the reader found a task within the message
		}
	}
	if marked >= 0 && !slices.ContainsFunc(lead, func(i int) bool { return s.To.Items[i].Text == s.To.Task }) {
		return marked, true
	}
	return asked, known && asked >= 0
}

// statesGoal reports whether a prompt gives a goal: in its own words, behind a label, or
// as a part of a template.
func statesGoal(prompt, goal string) bool {
	prompt = collapseSpaces(prompt)
	for _, label := range goalLabels {
		goal = strings.TrimPrefix(goal, label)
	}
	return strings.Contains(prompt, goal)
}
