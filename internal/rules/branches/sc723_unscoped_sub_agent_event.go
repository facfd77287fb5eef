package branches

import (
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var unscopedSubAgentEvent = rules.Rule{
	ID: "SC723", Name: "unscoped-sub-agent-event", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree, Since: "0.1.0",
	Title: "an agent is shown what its sub-agent said while it ran as a tool",
	Run: func(p *rules.Pass) {
		if !p.Store.ForeignText {
			return
		}
		for _, s := range p.Subjects {
			reportToolRuns(p, s)
		}
	},
}

// tool is what a sub-agent is called by, within one run of the runtime, and who is
// shown what it said: agents of its scope.
type tool struct{ invocation, name, scope string }

// openCall is a call until its caller goes on behind the result. The results of
// several calls are one event, which has the time of the first (adk-go v2.2.0), so
// that what a slower tool's agent said is read behind it.
type openCall struct{ item, result int }

// reportToolRuns looks for messages of agents without a branch that called sub-agents as
// tools, of which something on a branch stands behind a call, before the caller
// went on. Callers with a branch are not shown what is said below it.
func reportToolRuns(p *rules.Pass, s *rules.Subject) {
	open := map[tool][]openCall{}
	leaked := map[int][]int{}       // by the item with the calls
	spoke := map[rules.Viewer]int{} // the last item of who has no branch
	var callers []int
	var results map[pairing.Occurrence]int
	var handed map[string]bool
	reader := p.Reader()
	for i := range s.Items {
		it := &s.Items[i]
		if !isShown(s, i) {
			continue
		}
		if it.Branch() == "" {
			spoke[viewerOf(it)] = i
		}
		switch {
		case it.Branch() == "" && len(it.Calls) > 0:
			if results == nil {
				results, handed = resultsOfCalls(s), handedOver(s)
			}
			for n := range it.Calls {
				result, answered := results[pairing.Occurrence{Item: i, Nth: n}]
				if !answered {
					result = len(s.Items)
				}
				t := tool{it.Invocation(), it.Calls[n].Name, it.Scope()}
				open[t] = append(open[t], openCall{i, result})
			}
		case it.Branch() != "" && it.Agent() != "" && !handed[it.Agent()]:
			if caller := callerOf(s, i, open, spoke); caller >= 0 && isShownAbove(reader, s.Session, i) {
				if leaked[caller] == nil {
					callers = append(callers, caller)
				}
				leaked[caller] = append(leaked[caller], i)
			}
		}
	}
	for _, caller := range callers {
		reportToolRun(p, s, caller, leaked[caller])
	}
}

// callerOf is the latest message with an open call that is named as the item's agent
// or, where that is a numbered run ("tr@1"), as the first segment of its branch,
// -1 when there is none. Calls whose callers went on are taken out as they are met.
func callerOf(s *rules.Subject, i int, open map[tool][]openCall, spoke map[rules.Viewer]int) int {
	it := &s.Items[i]
	first, _, _ := strings.Cut(it.Branch(), ".")
	names := []string{it.Agent()}
	if name, _, numbered := strings.Cut(first, "@"); numbered && name != it.Agent() {
		names = append(names, name)
	}
	for _, name := range names {
		t := tool{it.Invocation(), name, it.Scope()}
		for calls := open[t]; len(calls) > 0; calls = open[t] {
			last := calls[len(calls)-1]
			if last.result >= spoke[viewerOf(&s.Items[last.item])] {
				return last.item
			}
			open[t] = calls[:len(calls)-1]
		}
	}
	return -1
}

// isShownAbove reports whether an agent without a branch, and of the item's scope, is
// shown it: readers that hide the runs of tools know them by their labels.
func isShownAbove(reader branch.Model, of *session.Session, i int) bool {
	visible, _ := reader.Visible(branch.Viewer{Scope: of.Items[i].Scope(), Session: of.ID}, rules.EventOf(of, i))
	return visible
}

// viewerOf is who produced an item without a branch.
func viewerOf(it *session.Item) rules.Viewer {
	return rules.Viewer{Agent: it.Agent(), Scope: it.Scope()}
}

// resultsOfCalls is where each call that is answered has its result.
func resultsOfCalls(s *rules.Subject) map[pairing.Occurrence]int {
	results := make(map[pairing.Occurrence]int, len(s.Pairs.Pairs))
	for _, pair := range s.Pairs.Pairs {
		results[pair.Call] = pair.Result.Item
	}
	return results
}

// handedOver are the agents that took a conversation over: the first ones that
// speak on the branch of a handoff after its caller.
func handedOver(s *rules.Subject) map[string]bool {
	agents := map[string]bool{}
	from := map[string]string{} // caller, by branch
	for i := range s.Items {
		it := &s.Items[i]
		if caller, open := from[it.Branch()]; open && it.Agent() != "" && it.Agent() != caller && isSpoken(s, i) {
			agents[it.Agent()] = true
			delete(from, it.Branch())
		}
		for n := range it.Calls {
			if session.IsHandoff(it.Calls[n].Name) {
				from[it.Branch()] = it.Agent()
			}
		}
	}
	return agents
}

func reportToolRun(p *rules.Pass, s *rules.Subject, caller int, leaked []int) {
	f := p.FindItems(s.Session, leaked)
	f.Related = []session.Place{s.ItemPlace(caller)}
	var agents []string
	for _, i := range leaked {
		agents = lists.AppendNew(agents, rules.QuoteText(s.Items[i].Agent()))
	}
	f.Message = rules.QuoteText(s.Items[caller].Agent()) + " is shown " + rules.CountedNoun(len(leaked), "event") + " of " + rules.JoinFew(agents) +
		" besides the result of its call. An agent that runs as a tool has a branch of its own, but its caller has none and sees everything."
	p.Report(f)
}
