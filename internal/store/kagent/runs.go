package kagent

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// ended are the states in which a task stays, in the words of A2A before 1.0.
var ended = []string{"completed", "canceled", "cancelled", "failed", "rejected"}

// isOpen reports whether a task is not at its end, as far as its state says.
func isOpen(state string) bool {
	state = strings.TrimPrefix(strings.ToLower(state), "task_state_")
	return !slices.Contains(ended, state)
}

// worksOn reports whether a state says that somebody is at work, and waits for nobody.
func worksOn(state string) bool {
	state = strings.TrimPrefix(strings.ToLower(state), "task_state_")
	return state == "working" || state == "submitted"
}

// stamp is a call in a session's tasks.
type stamp struct{ session, call string }

// stampsOf reads the children that the parts of a task are stamped with. Whoever
// wrote them knew the tool only, so that they are evidence and no more (b3, link 2).
func (r *reader) stampsOf(in string, t *a2aTask) {
	read := func(parts []a2aPart) {
		for i := range parts {
			child := parts[i].Metadata.of("subagent_session_id")
			if child == "" {
				continue
			}
			if kind, call := parts[i].tool(); kind == "function_call" && call.ID != "" {
				r.stamps[stamp{in, call.ID}] = child
			}
		}
	}
	for i := range t.History {
		read(t.History[i].Parts)
	}
	for i := range t.Artifacts {
		read(t.Artifacts[i].Parts)
	}
	read(t.Status.Message.Parts)
}

// runsOf are the tasks of a session, those of which nobody knows whose they are left
// out: before 0.10 tasks name no user (K7).
func (r *reader) runsOf(key sessionKey) []session.Run {
	var runs []session.Run
	for i := range r.tasks[key.id] {
		if t := &r.tasks[key.id][i]; !t.deleted && r.ownerOf(t, key) == key.user {
			runs = append(runs, t.run)
		}
	}
	return runs
}

// ownerOf is the user whose task it is: the one that it names, or the only one who has
// a session with its id. "" when several have, and it does not say; key is one of
// these sessions.
func (r *reader) ownerOf(t *task, key sessionKey) string {
	switch {
	case t.owner != "":
		return t.owner
	case len(r.others(key)) == 0:
		return key.user
	}
	return t.named
}

// claim gives a session the tasks without an owner whose invocations are in it.
func (r *reader) claim(s *session.Session, key sessionKey) {
	if len(r.others(key)) == 0 {
		return
	}
	here := map[string]bool{}
	for i := range s.Items {
		here[s.Items[i].Invocation] = true
	}
	s.Runs = slices.Clone(s.Runs)
	for i := range r.tasks[key.id] {
		t := &r.tasks[key.id][i]
		if !t.deleted && r.ownerOf(t, key) == "" && t.run.Invocation != "" && here[t.run.Invocation] {
			s.Runs = append(s.Runs, t.run)
		}
	}
	slices.SortStableFunc(s.Runs, func(a, b session.Run) int { return a.Began.Compare(b.Began) })
}
