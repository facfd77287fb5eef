package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
)

// unknownBranch names the branches that there are.
func (s *survey) unknownBranch(label string) error {
	return problem.New(problem.Usage, "Its branches: "+s.branches()+".",
		"no event of the session %s has the branch %q", rules.Short(s.shown.ID), label)
}

// unused says that a viewer is one that has stored nothing, which may be a slip of
// the keyboard; "" for all others.
func (s *survey) unused(one *reading) string {
	if one.last != nil || one.branch == "" {
		return ""
	}
	return "nothing is stored on the branch " + strconv.Quote(one.branch) + ": this is what an agent would see that runs there. Branches of the session: " + s.branches()
}

func (s *survey) branches() string {
	var labels []string
	for i := range s.events {
		labels = append(labels, s.events[i].Stored().Branch)
	}
	return listed(labels)
}

// nobody says that a question names no viewer of the session.
func (s *survey) nobody(q Question) error {
	var agents []string
	for i := range s.events {
		if e := &s.events[i]; e.spoken() {
			agents = append(agents, agentOf(e.Stored()))
		}
	}
	known := "Its agents: " + listed(agents) + "."
	short := rules.Short(s.shown.ID)
	switch {
	case q.Agent != "" && q.Branch != nil && slices.Contains(agents, q.Agent):
		return problem.New(problem.Usage, "Leave --branch out to see where it spoke.",
			"the agent %q never spoke on the branch %q of the session %s", q.Agent, *q.Branch, short)
	case q.Agent != "":
		return problem.New(problem.Usage, known, "no event of the session %s is of an agent %q", short, q.Agent)
	}
	return problem.New(problem.Usage, "`--branch ''` shows what an agent without a branch would see.", "no agent has spoken in the session %s yet", short)
}

// listed are the different words of a list, as many as people read.
func listed(words []string) string {
	const most = 20
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	slices.Sort(words)
	words = slices.Compact(words)
	if len(words) == 0 {
		return "none"
	}
	text := strings.Join(words[:min(len(words), most)], ", ")
	if len(words) > most {
		text += ", …"
	}
	return text
}
