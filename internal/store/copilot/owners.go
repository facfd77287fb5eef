package copilot

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// settleOwners finds out among whose lines each line stands, which is all that the runtime goes by, and whose
// it is: that of the agent to whom the prompt was given, or who made the call.
func (l *log) settleOwners() {
	for i := range l.nodes { // sub-agents whose beginnings are lost
		if n := &l.nodes[i]; n.agent != 0 && n.under != 0 && n.kind != usage {
			if a := &l.agents[l.agentOf(n.agent)]; a.call == 0 {
				a.call, l.starts[n.under] = n.under, l.index[n.agent]
			}
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.in = l.agentOf(n.agent); n.agent == 0 && n.under != 0 && n.kind != usage {
			n.in = l.startedBy(n.under)
		}
	}
	runs := l.ownersOfRuns()
	type turn struct {
		name filelog.Name
		in   int32
	}
	var running []int32         // sub-agents for which the root waits
	begun := map[turn][]int32{} // whose the turns are that have not ended
	for i := range l.nodes {
		n := &l.nodes[i]
		maker, made := l.made[n.call]
		owner, known := runs[n.run]
		if n.home = n.in; known && n.kind != unread && n.kind != childStart && n.kind != childEnd {
			n.home = owner
		}
		switch n.kind {
		case childStart:
			if l.tasks[n.call].ends {
				running = append(running, l.starts[n.call])
			}
		case childEnd:
			running = slices.DeleteFunc(running, func(a int32) bool { return a == l.starts[n.call] })
		case answer:
			if !l.newer && n.in == 0 && len(running) == 1 {
				n.home = running[0]
			}
		case result, began:
			if made && n.call != 0 && maker <= i {
				n.home = l.nodes[maker].home
			}
		case usage:
			if n.agent == 0 && n.under != 0 {
				n.home = l.startedBy(n.under)
			}
		case turnStart:
			begun[turn{n.turn, n.in}] = append(begun[turn{n.turn, n.in}], n.home)
		case turnEnd:
			if whose := begun[turn{n.turn, n.in}]; len(whose) > 0 {
				n.home, begun[turn{n.turn, n.in}] = whose[len(whose)-1], whose[:len(whose)-1]
			}
		}
	}
	l.lines = make([][]int, len(l.agents))
	for i := range l.nodes {
		l.lines[l.nodes[i].in] = append(l.lines[l.nodes[i].in], i)
	}
}

func (l *log) startedBy(call filelog.Name) int32 {
	if _, known := l.starts[call]; !known {
		l.starts[call] = l.agentOf(call)
		l.agents[l.starts[call]].call = call
	}
	return l.starts[call]
}

// unknownAgent is who owns what is some sub-agent's, and nothing tells whose.
const unknownAgent = -1

// ownersOfRuns are the agents to whom prompts were given, by what their lines have in common; where the prompt is
// lost, the one that has most of them. Up to 1.0.24 the lines of all agents had that of the person's prompt.
func (l *log) ownersOfRuns() map[filelog.Name]int32 {
	owners, votes := map[filelog.Name]int32{}, map[filelog.Name][]int{}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.run == 0 || !l.newer {
			continue
		}
		if votes[n.run] == nil {
			votes[n.run] = make([]int, len(l.agents))
		}
		votes[n.run][n.in]++
	}
	for run, by := range votes {
		owners[run] = int32(slices.Index(by, slices.Max(by)))
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.kind != prompt || votes[n.run] == nil {
			continue
		}
		switch kids := votes[n.run][1:]; {
		case !l.isDelegated(i):
			owners[n.run] = 0
		case n.agent != 0:
			owners[n.run] = n.in
		case len(kids) > 0 && slices.Max(kids) > 0:
			owners[n.run] = int32(slices.Index(kids, slices.Max(kids))) + 1
		default:
			owners[n.run] = max(unknownAgent, int32(slices.IndexFunc(l.agents, func(a agent) bool { return a.call != 0 && l.tasks[a.call].said == l.asked[i].said })))
		}
	}
	return owners
}

// isDelegated reports whether a prompt is one that an agent gave to a sub-agent, and not a sub-agent's message to
// the root.
func (l *log) isDelegated(i int) bool {
	a, known := l.index[l.Name(l.from[i])]
	return l.nodes[i].delegated && (!known || l.nodes[i].agent != 0 || slices.ContainsFunc(l.agents, func(of agent) bool { return of.parent == l.Text(l.agents[a].key) }))
}

// parentOf is the agent whose call started another one.
func (l *log) parentOf(a int32) int32 {
	if maker, made := l.made[l.agents[a].call]; made && l.nodes[maker].home >= 0 && l.nodes[maker].home != a {
		return l.nodes[maker].home
	}
	return l.index[l.Name(l.agents[a].parent)]
}

// sessionID is the id of the session of an agent. A fork has the same agents.
func (l *log) sessionID(a int32) string {
	switch a {
	case unknownAgent:
		return session.HomeUnknown
	case 0:
		return l.session
	}
	return l.Text(l.agents[a].key) + "@" + l.session
}
