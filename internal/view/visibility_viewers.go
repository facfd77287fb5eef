package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// Viewer is an agent as it reads. It sees with the branch and, where a model asks
// for it, in the run of the last event that it produced.
type Viewer struct {
	Key     string // tells it from the others: its branch, with more where that is not enough
	Session *session.Session
	Branch  string // its label as it is stored
	Agent   string // "" when several agents ran there, or nothing says who
	Scope   string
	Set     string // the token set that was computed for its last event, as a label
	Sees    [2]int // events, under each model
	Note    string // that nothing is stored on its branch, "" otherwise

	as [2]branch.Viewer // under each model
}

// speaker is who produced an event.
type speaker struct {
	session *session.Session
	branch  string
	agent   string
	scope   string
}

// viewers are those that a question names, in the order of their first events.
func (s *survey) viewers(q Question, models []Model) ([]Viewer, error) {
	var list []Viewer
	if q.Branch != nil && q.Agent == "" {
		one := s.onBranch(*q.Branch)
		if one.last == nil && one.branch != "" && slices.ContainsFunc(models, knowsOnlyStored) {
			return nil, s.unknownBranch(one.branch)
		}
		list = []Viewer{one.viewer(models)}
		list[0].Note = s.unused(one)
	} else {
		bySession := !slices.ContainsFunc(models, func(m Model) bool { return m.Name != modelSession })
		for _, one := range s.speakers(q, bySession) {
			list = append(list, one.viewer(models))
		}
	}
	if len(list) == 0 {
		return nil, s.nobody(q)
	}
	name(list, models)
	return list, nil
}

// reading is a viewer before it is put to a model: who it is, and its last event.
type reading struct {
	speaker
	last *Event // nil when it has none
}

func (r *reading) viewer(models []Model) Viewer {
	v := Viewer{Session: r.session, Branch: r.branch, Agent: r.agent, Scope: r.scope}
	as := branch.Viewer{Session: r.session.ID, Scope: r.scope}
	if r.last != nil {
		v.Set = r.last.Set
		as.Invocation, as.Node = r.last.Stored().Invocation, r.last.Stored().Node
	}
	for i := range models {
		as.Label = models[i].label(r.branch, v.Set)
		v.as[i] = as
	}
	return v
}

// speakers are all that produced events and that the question asks for. Where
// agents are kept apart by sessions, the session is who speaks.
func (s *survey) speakers(q Question, bySession bool) []*reading {
	var list []*reading
	known := map[speaker]*reading{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !e.spoken() || q.Agent != "" && agentOf(it) != q.Agent || q.Branch != nil && !sameBranch(it.Branch, *q.Branch) {
			continue
		}
		who := speaker{e.Session, it.Branch, cmp.Or(q.Agent, it.Agent), it.Scope}
		if bySession {
			who = speaker{session: e.Session, agent: cmp.Or(q.Agent, replay.FirstAgent(e.Session))}
		}
		if known[who] == nil {
			known[who] = &reading{speaker: who}
			list = append(list, known[who])
		}
		known[who].last = e
	}
	return list
}

// agentOf is who produced an item. Where a store keeps no names, the last segment
// of a path is one.
func agentOf(it *session.Item) string {
	if it.Agent != "" || strings.HasPrefix(it.Branch, "{") {
		return it.Agent
	}
	return it.Branch[strings.LastIndexByte(it.Branch, '.')+1:]
}

// onBranch is the viewer on a branch, whoever runs there, or would: an agent that
// has stored nothing yet has no last event.
func (s *survey) onBranch(label string) *reading {
	out := &reading{speaker: speaker{session: s.shown, branch: label}}
	best, unscoped := 0, false
	agents := map[string]bool{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !sameBranch(it.Branch, label) {
			continue
		}
		rank := 1
		if e.spoken() {
			agents[it.Agent] = true
			rank = 2
		}
		if e.Session == s.shown {
			rank += 2
		}
		if rank >= best {
			best, out.last = rank, e
		}
		unscoped = unscoped || it.Scope == ""
	}
	if out.last == nil {
		return out
	}
	out.session, out.branch = out.last.Session, out.last.Stored().Branch
	if !unscoped {
		out.scope = out.last.Stored().Scope
	}
	if len(agents) == 1 {
		for out.agent = range agents {
		}
	}
	return out
}

// knowsOnlyStored reports whether a model can say nothing of a branch that no event
// has: a set of tokens is computed of what ran there, and a session is what it holds.
func knowsOnlyStored(m Model) bool { return m.Recomputed || m.Name == modelSession }

// sameBranch compares a stored label with one that was typed.
func sameBranch(stored, typed string) bool {
	return stored == typed || strings.HasPrefix(typed, "{") && strings.HasPrefix(stored, "{") &&
		branch.Parse(stored).String() == branch.Parse(typed).String()
}

// name gives every viewer a key of its own.
func name(list []Viewer, models []Model) {
	taken := map[string]bool{}
	for i := range list {
		v := &list[i]
		v.Key = v.Branch
		if len(models) == 1 && models[0].Name == modelSession {
			v.Key = v.Session.ID
		}
		for _, more := range []string{v.Agent, v.Scope, v.Session.ID} {
			if taken[v.Key] && more != "" {
				v.Key = strings.TrimSpace(v.Key + " (" + more + ")")
			}
		}
		taken[v.Key] = true
	}
}
