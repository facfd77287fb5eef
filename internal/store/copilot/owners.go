package copilot

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// settleOwners finds out among whose lines each line stands, which is all that the runtime goes by, and whose
// it is: that of the agent to whom the prompt was given, or who made the call.
func (l *log) settleOwners() {
	for i := range l.nodes { // a sub-agent whose beginning is lost
		if n := &l.nodes[i]; n.agent != 0 && n.under != 0 && n.kind != usage {
			if a := &l.agents[l.agentOf(n)]; a.call == 0 {
				a.call, l.starts[n.under] = n.under, l.index[n.agent]
			}
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.in = l.agentOf(n); n.agent == 0 {
			n.in = 0
			if n.under != 0 && n.kind != usage {
				n.in = l.startedBy(n.under)
			}
		}
	}
	runs := l.ownersOfRuns()
	var running []int32                 // sub-agents for which the root waits
	begun := map[filelog.Name][]int32{} // turns that have not ended, by their names
	for i := range l.nodes {
		n := &l.nodes[i]
		n.home = n.in
		if owner, known := runs[n.run]; known && n.run != 0 && n.kind != unread {
			n.home = owner
		}
		maker, made := l.made[n.call]
		switch n.kind {
		case childStart:
			if n.home = n.in; l.tasks[n.call].ends {
				running = append(running, l.starts[n.call])
			}
		case childEnd:
			n.home = n.in
			running = slices.DeleteFunc(running, func(a int32) bool { return a == l.starts[n.call] })
		case answer:
			if !l.newer && n.in == 0 && len(running) == 1 { // the root waits
				n.home = running[0]
			}
		case result, began:
			if made && n.call != 0 && int(maker) <= i {
				n.home = l.nodes[maker].home
			}
		case usage:
			if n.agent == 0 && n.under != 0 {
				n.home = l.startedBy(n.under)
			}
		case turnStart:
			begun[n.turn] = append(begun[n.turn], int32(i))
		case turnEnd:
			for k, at := range slices.Backward(begun[n.turn]) {
				if first := &l.nodes[at]; first.in == n.in {
					n.home, begun[n.turn] = first.home, slices.Delete(begun[n.turn], k, k+1)
					break
				}
			}
		}
	}
	l.lines = make([][]int, len(l.agents))
	for i := range l.nodes {
		l.lines[l.nodes[i].in] = append(l.lines[l.nodes[i].in], i)
	}
}

// startedBy is the sub-agent that a call started.
func (l *log) startedBy(call filelog.Name) int32 {
	at, known := l.starts[call]
	if !known {
		at = int32(len(l.agents))
		l.agents, l.starts[call], l.index[call] = append(l.agents, agent{key: call, call: call}), at, at
	}
	return at
}

// unknownAgent is who owns what is some sub-agent's, and nothing tells whose.
const unknownAgent = -1

// ownersOfRuns are the agents to whom prompts were given, by what their lines have in common. Up to 1.0.24
// the lines of all agents had that of the person's prompt.
func (l *log) ownersOfRuns() map[filelog.Name]int32 {
	owners, votes := map[filelog.Name]int32{}, map[filelog.Name]map[int32]int{}
	if !l.newer {
		return owners
	}
	for i := range l.nodes {
		if n := &l.nodes[i]; n.run != 0 {
			if votes[n.run] == nil {
				votes[n.run] = map[int32]int{}
			}
			votes[n.run][n.in]++
		}
	}
	for run, by := range votes { // where the prompt is lost, most of its lines
		owner := int32(0)
		for a, n := range by {
			if n > by[owner] || n == by[owner] && a < owner {
				owner = a
			}
		}
		owners[run] = owner
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if n.kind != prompt || n.run == 0 {
			continue
		}
		switch {
		case !l.isDelegated(i):
			owners[n.run] = 0
		case n.agent != 0:
			owners[n.run] = n.in
		default:
			owners[n.run] = l.askedAgent(i, votes[n.run])
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

// askedAgent is the sub-agent to whom a prompt was given that names none: that of other lines, or
// whose call says the same.
func (l *log) askedAgent(i int, votes map[int32]int) int32 {
	owner := int32(unknownAgent)
	for a, n := range votes {
		if a > 0 && (owner < 0 || n > votes[owner]) {
			owner = a
		}
	}
	for a := range l.agents {
		if owner < 0 && a > 0 && l.tasks[l.agents[a].call].said == l.asked[i] {
			owner = int32(a)
		}
	}
	return owner
}

// parentOf is the agent whose call started another one.
func (l *log) parentOf(a int32) int32 {
	if maker, made := l.made[l.agents[a].call]; made && l.nodes[maker].home >= 0 && l.nodes[maker].home != a {
		return l.nodes[maker].home
	}
	return max(0, l.index[l.Name(l.agents[a].parent)])
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
