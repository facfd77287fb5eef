package rules

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/session"
)

var unscopedSubAgentEvent = Rule{
	ID: "SC723", Name: "unscoped-sub-agent-event", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "what a sub-agent said while it ran as a tool is shown to the agent that called it",
	Run: func(p *Pass) {
		if !p.Store.ForeignText || p.Store.HidesToolRuns {
			return
		}
		for _, s := range p.Subjects {
			p.reportToolRuns(s)
		}
	},
}

// tool is what a sub-agent is called by, within one run of the runtime.
type tool struct{ invocation, name string }

// openCall is a call until its result.
type openCall struct{ item, end int }

// reportToolRuns looks for messages of agents without a branch that called sub-agents as
// tools, of which something on a branch stands between a call and its result.
// Callers with a branch are not shown what is said below it.
func (p *Pass) reportToolRuns(s *Subject) {
	open := map[tool][]openCall{}
	leaked := map[int][]int{} // by the item with the calls
	var callers []int
	var ends map[pairing.Occurrence]int
	var handed map[string]bool
	for i := range s.Items {
		it := &s.Items[i]
		switch {
		case !s.shown(i):
		case it.Branch == "" && len(it.Calls) > 0:
			if ends == nil {
				ends, handed = s.resultsOfCalls(), s.handedOver()
			}
			for n := range it.Calls {
				end, answered := ends[pairing.Occurrence{Item: i, Nth: n}]
				if !answered {
					end = len(s.Items)
				}
				t := tool{it.Invocation, it.Calls[n].Name}
				open[t] = append(open[t], openCall{i, end})
			}
		case it.Branch != "" && it.Agent != "" && !handed[it.Agent]:
			if caller := s.callerOf(i, open); caller >= 0 {
				if leaked[caller] == nil {
					callers = append(callers, caller)
				}
				leaked[caller] = append(leaked[caller], i)
			}
		}
	}
	for _, caller := range callers {
		p.reportToolRun(s, caller, leaked[caller])
	}
}

// callerOf is the latest message with an open call that is named as the item's agent
// or, where that is a numbered run ("tr@1"), as the first segment of its branch,
// -1 when there is none. An agent of another scope is not shown the item.
func (s *Subject) callerOf(i int, open map[tool][]openCall) int {
	it := &s.Items[i]
	first, _, _ := strings.Cut(it.Branch, ".")
	names := []string{it.Agent}
	if name, _, numbered := strings.Cut(first, "@"); numbered && name != it.Agent {
		names = append(names, name)
	}
	for _, name := range names {
		t := tool{it.Invocation, name}
		open[t] = slices.DeleteFunc(open[t], func(c openCall) bool { return c.end < i })
		for _, c := range slices.Backward(open[t]) {
			if caller := &s.Items[c.item]; caller.Scope == it.Scope {
				return c.item
			}
		}
	}
	return -1
}

// resultsOfCalls is where each call that is answered has its result.
func (s *Subject) resultsOfCalls() map[pairing.Occurrence]int {
	ends := make(map[pairing.Occurrence]int, len(s.Pairs.Pairs))
	for _, pair := range s.Pairs.Pairs {
		ends[pair.Call] = pair.Result.Item
	}
	return ends
}

// handedOver are the agents that took a conversation over: the first ones that
// speak on the branch of a handoff after its caller.
func (s *Subject) handedOver() map[string]bool {
	agents := map[string]bool{}
	from := map[string]string{} // caller, by branch
	for i := range s.Items {
		it := &s.Items[i]
		if caller, open := from[it.Branch]; open && it.Agent != "" && it.Agent != caller && s.speaks(i) {
			agents[it.Agent] = true
			delete(from, it.Branch)
		}
		for n := range it.Calls {
			if session.IsHandoff(it.Calls[n].Name) {
				from[it.Branch] = it.Agent
			}
		}
	}
	return agents
}

func (p *Pass) reportToolRun(s *Subject, caller int, leaked []int) {
	f := p.find(s.Session, leaked[0])
	f.Items = leaked
	f.Related = []Place{{Session: s.ID, Item: caller}}
	var agents []string
	for _, i := range leaked {
		if name := quoted(s.Items[i].Agent); !slices.Contains(agents, name) {
			agents = append(agents, name)
		}
	}
	f.Message = quoted(s.Items[caller].Agent) + " is shown " + count(len(leaked), "event") + " of " + some(agents) +
		" besides the result of its call: what runs as a tool has a branch of its own, but the caller has none and sees all"
	p.Report(f)
}
