package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/session"
)

// Holder is an agent of one run with the tokens that it had, and what it could see
// with them.
type Holder struct {
	Agent      string
	Branch     string // as it is stored
	Invocation string
	Tokens     branch.Set // nil when its branch is no token set
	Sees       []string   // the user and other agents of the same run, with an event that it sees
}

// run is one run of the runtime in one session.
type run struct {
	session    *session.Session
	invocation string
}

// holders say who of the viewers had which tokens, run by run. Who had others
// later in a run, because it waited for parallel agents, is listed again.
func (s *survey) holders(model *Model, viewers []Viewer) []Holder {
	type key struct {
		run
		agent, label string
	}
	seen := map[key]bool{}
	said := map[run][]*Event{} // one event of each speaker and set
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		if !e.spoken() && it.Role != session.User {
			continue
		}
		k := key{run{e.Session, it.Invocation}, it.Agent, model.label(it.Branch, e.Set)}
		if !seen[k] {
			seen[k] = true
			said[k.run] = append(said[k.run], e)
		}
	}
	var list []Holder
	seen = map[key]bool{}
	for i := range s.events {
		e := &s.events[i]
		it := e.Stored()
		k := key{run{e.Session, it.Invocation}, it.Agent, model.label(it.Branch, e.Set)}
		asked := slices.ContainsFunc(viewers, func(v Viewer) bool {
			return v.Session == e.Session && v.Branch == it.Branch && (v.Agent == it.Agent || v.Agent == "")
		})
		if !e.spoken() || seen[k] || !asked {
			continue
		}
		seen[k] = true
		list = append(list, Holder{
			Agent: it.Agent, Branch: it.Branch, Invocation: it.Invocation,
			Tokens: branch.Parse(k.label).Tokens,
			Sees:   model.heard(e, said[k.run]),
		})
	}
	return list
}

// heard are the speakers of the events that the agent of one event sees.
func (m *Model) heard(by *Event, said []*Event) []string {
	it := by.Stored()
	viewer := branch.Viewer{
		Label: m.label(it.Branch, by.Set), Invocation: it.Invocation,
		Session: by.Session.ID, Scope: it.Scope, Node: it.Node,
	}
	var names []string
	for _, e := range said {
		event := e.asked()
		event.Label = m.label(event.Label, e.Set)
		name := e.Stored().Agent
		if e.Stored().Role == session.User {
			name = session.User.String()
		}
		if visible, _ := m.rule.Visible(viewer, event); visible && name != it.Agent && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
