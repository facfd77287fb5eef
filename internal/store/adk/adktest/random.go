package adktest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Story is a session of random agents, and what each of them was to see.
type Story struct {
	Session Session
	Looks   []Look
}

// Look is what a model was shown before it said an event: the earlier events that
// its agent sees, by their ids and in their order. It is known from where the two
// agents stand in the tree of agents, without any branch.
type Look struct {
	Event  string
	Agent  string
	Branch string
	Saw    []string
}

// agent is a node of a tree of agents: one that speaks, or one that runs others.
type agent struct {
	name     string
	kind     agentKind
	children []*agent
	lane     *lane
}

type agentKind int

const (
	speaker agentKind = iota
	sequence
	parallel
	loop
)

var kindNames = [...]string{"a", "seq", "par", "loop"}

// lane is one side of a parallel agent, nil where nothing runs side by side.
// Whoever is in it sees what is in the lanes around it, and nothing beside.
type lane struct {
	around *lane
	group  string // the parallel agent
	name   string // of the agent that it runs on this side
}

// label is the branch that runtimes give to what is in the lane.
func (l *lane) label() string {
	if l == nil {
		return ""
	}
	label := l.group + "." + l.name
	if l.around != nil {
		label = l.around.label() + "." + label
	}
	return label
}

func (l *lane) sees(other *lane) bool {
	if l == nil || other == nil {
		return true
	}
	for at := l; at != nil; at = at.around {
		if at == other {
			return true
		}
	}
	return false
}

// Random is a session of a random tree of agents: sequences, groups side by side
// and loops of agents that speak and call tools, over several turns. The size is
// about the number of agents. Every event has an id and a time, so that events may
// be written in another order.
func Random(seed uint64, size int) Story {
	r := run{rng: rand.New(rand.NewPCG(seed, 2)), agents: max(size, 1)}
	root := r.tree(nil, 0)
	events := []draft{}
	for range 1 + r.rng.IntN(3) {
		events = append(events, r.turn(root)...)
	}
	return story(fmt.Sprintf("random-%d", seed), events)
}

// turn is what a question of the user leads to.
func (r *run) turn(root *agent) []draft {
	r.turns++
	r.invocation = invocation(r.turns)
	asks := draft{Event: Event{Author: "user", Invocation: r.invocation, Parts: []Part{Text(fmt.Sprint("question ", r.turns-1))}}}
	return append([]draft{asks}, r.events(root)...)
}

func invocation(n int) string { return fmt.Sprintf("e-00000000-0000-4000-8000-%012d", n) }

type run struct {
	rng        *rand.Rand
	agents     int // that may still be made
	named      int
	calls      int
	invocation string
	turns      int
	later      *later // what the generation can hold besides, nil for nothing
}

// draft is an event, and where the agent stands that stored it.
type draft struct {
	Event
	lane  *lane
	asked bool // a model said it
}

func (r *run) tree(around *lane, depth int) *agent {
	a := &agent{kind: agentKind(r.rng.IntN(4)), lane: around}
	if depth == 0 && a.kind == speaker {
		a.kind = sequence
	}
	if depth > 4 || r.agents <= 0 {
		a.kind = speaker
	}
	// Names of which one is the beginning of another are what tells readers apart.
	r.named++
	a.name = fmt.Sprint(kindNames[a.kind], r.named)
	r.agents--
	if a.kind == speaker {
		return a
	}
	for range 1 + r.rng.IntN(3) {
		inner := around
		if a.kind == parallel {
			inner = &lane{around: around, group: a.name}
		}
		child := r.tree(inner, depth+1)
		if a.kind == parallel {
			inner.name = child.name
		}
		a.children = append(a.children, child)
	}
	return a
}

// events are what an agent stores in one run.
func (r *run) events(a *agent) []draft {
	if a.kind == speaker {
		return r.speak(a)
	}
	rounds := 1
	if a.kind == loop {
		rounds += r.rng.IntN(2)
	}
	var lists [][]draft
	for range rounds {
		for _, child := range a.children {
			lists = append(lists, r.events(child))
		}
	}
	if a.kind == parallel {
		return r.interleave(lists)
	}
	return slices.Concat(lists...)
}

// speak is one run of an agent that speaks, sometimes with a tool.
func (r *run) speak(a *agent) []draft {
	var list []draft
	say := func(asked bool, parts ...Part) {
		list = append(list, draft{Event{Author: a.name, Invocation: r.invocation, Branch: a.lane.label(), Parts: parts}, a.lane, asked})
	}
	switch r.rng.IntN(3) {
	case 0:
		var questions, answers []Part
		for range 1 + r.rng.IntN(2) {
			r.calls++
			id := fmt.Sprintf("adk-%08d", r.calls)
			questions = append(questions, Calls(id, "look", fmt.Sprintf(`{"n":%d}`, r.calls)))
			answers = append(answers, Answers(id, "look", fmt.Sprintf(`{"result":"seen %d"}`, r.calls)))
		}
		say(true, questions...)
		say(false, answers...)
	case 1:
		if r.later != nil {
			return r.speakLater(a)
		}
	}
	say(true, Text(a.name+" says"))
	return list
}

// interleave mixes lists and keeps the order of each.
func (r *run) interleave(lists [][]draft) []draft {
	var all []draft
	for {
		var open []int
		for i := range lists {
			if len(lists[i]) > 0 {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			return all
		}
		i := open[r.rng.IntN(len(open))]
		all = append(all, lists[i][0])
		lists[i] = lists[i][1:]
	}
}

// story numbers events and looks at them from where each agent stands.
func story(id string, events []draft) Story {
	s := Story{Session: Session{ID: id}}
	for i, d := range events {
		d.ID, d.Time = fmt.Sprintf("%s-%04d", id, i), momentOf(i)
		s.Session.Events = append(s.Session.Events, d.Event)
		if !d.asked {
			continue
		}
		look := Look{Event: d.ID, Agent: d.Author, Branch: d.Branch}
		for j, earlier := range events[:i] {
			if d.lane.sees(earlier.lane) {
				look.Saw = append(look.Saw, s.Session.Events[j].ID)
			}
		}
		s.Looks = append(s.Looks, look)
	}
	return s
}
