package opencode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
)

// family is a tree, and how its sessions hang together.
type family struct {
	above   map[*session.Session][]*session.Session // the parent of each, and those above it
	callers map[string][]*session.Session           // by id, those that have a call of it
	below   map[string][]*session.Session           // by id, those that name it as their parent
}

func newFamily(tree *session.Tree) *family {
	f := &family{map[*session.Session][]*session.Session{}, map[string][]*session.Session{}, map[string][]*session.Session{}}
	byID := make(map[string]*session.Session, len(tree.Sessions))
	for _, s := range tree.Sessions {
		byID[s.ID] = s
		f.below[s.Parent] = append(f.below[s.Parent], s)
	}
	for _, s := range tree.Sessions {
		for up := byID[s.Parent]; up != nil && up != s && !slices.Contains(f.above[s], up); up = byID[up.Parent] { // parents may be a ring
			f.above[s] = append(f.above[s], up)
		}
		for i := range s.Items {
			for _, c := range s.Items[i].Calls {
				if d := c.Delegation; d != nil && !slices.Contains(f.callers[d.Child], s) {
					f.callers[d.Child] = append(f.callers[d.Child], s)
				}
			}
		}
	}
	return f
}

// moment tells a message from the others of a session, nearly always.
type moment struct {
	in    *session.Session
	role  session.Role
	agent string
	at    int64
}

// markCopies marks the messages of a session that a sub-session below it has, too, with its
// own ids: of the same millisecond, by the same agent, saying the same or less. They are
// copies here, because the sub-session was there before them. A fork of its caller calls it,
// too.
func (f *family) markCopies(tree *session.Tree) {
	of := func(in *session.Session, it *session.Item) moment {
		return moment{in, it.Role, it.Agent(), it.Time.UnixMilli()}
	}
	said := map[moment][]int{}
	each := func(fn func(s *session.Session, i int, it *session.Item)) {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				if it := &s.Items[i]; len(tree.Sessions) > 1 && it.Kind == session.Message && it.Role != session.Tool {
					fn(s, i, it)
				}
			}
		}
	}
	each(func(s *session.Session, i int, it *session.Item) { said[of(s, it)] = append(said[of(s, it)], i) })
	each(func(child *session.Session, at int, it *session.Item) {
		if child.Parent == "" || it.Time.Before(child.Created) {
			return
		}
		for _, s := range slices.Concat(f.above[child], f.callers[child.ID]) {
			for _, i := range said[of(s, it)] {
				if s != child {
					if copied, from := heldBy(s.Items[i:]), heldBy(child.Items[at:]); from.HoldsTurn(&copied) {
						copied.SetHome(child.ID, true)
					}
				}
			}
		}
	})
}

// heldBy are the message that a list begins with, and the results that it holds.
func heldBy(items []session.Item) eventlog.Turn {
	n := slices.IndexFunc(items, func(it session.Item) bool { return !packing.OneRecord(it.Position, items[0].Position) })
	if n < 0 {
		n = len(items)
	}
	return eventlog.Turn{Items: items[:n]}
}

// findStrays tells which messages another session's run stored than the one that they are in.
func (r *reader) findStrays(tree *session.Tree) {
	f := newFamily(tree)
	f.markCopies(tree)
	below, asked := map[*session.Session][]run{}, map[string]question{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			for _, ran := range r.runsOf(f, s, it) {
				for _, up := range f.above[s] {
					below[up] = append(below[up], ran)
				}
			}
			if it.Role == session.User && !it.Copied {
				asked[it.Key] = question{s, it.Agent()}
			}
		}
	}
	for _, s := range tree.Sessions {
		own := map[string]bool{} // agents that are asked here
		for i := range s.Items {
			if _, apart := r.apart.Load(s.Items[i].Key); s.Items[i].Role == session.User && !s.Items[i].Copied && !apart {
				own[s.Items[i].Agent()] = true
			}
		}
		r.setHome(f, s, below[s], func(it *session.Item) string {
			to := asked[it.Invocation()].in
			if other, apart := r.apart.Load(it.Key); apart {
				to = tree.Session(other.(string))
			} else if to != nil && asked[it.Invocation()].agent != it.Agent() {
				to = nil
			}
			if to == nil || own[it.Agent()] || agentOf(to) != it.Agent() || it.Time.Before(to.Created) || !slices.Contains(f.above[to], s) {
				return ""
			}
			return to.ID
		})
	}
}

// question is a message of the user in its session, and the agent that was asked.
type question struct {
	in    *session.Session
	agent string
}

// agentOf is the agent of a sub-session, which its title ends with.
func agentOf(s *session.Session) string {
	title, delegated := strings.CutSuffix(s.Title, " subagent)")
	if at := strings.LastIndex(title, "(@"); delegated && at >= 0 {
		return title[at+2:]
	}
	return ""
}

// run is that of a sub-session, and from when to when it worked.
type run struct {
	*session.Delegation
	while [2]float64
}

// runsOf are those that the calls of a message started. A call whose row does not name its
// sub-session started the only one of its agent that was created while it ran, and that no
// other call names.
func (r *reader) runsOf(f *family, s *session.Session, it *session.Item) (runs []run) {
	for n, c := range it.Calls {
		ran, delegates := r.ran.Load(fmt.Sprint(it.Key, " ", n))
		if !delegates || c.Delegation == nil {
			continue
		}
		d, while := *c.Delegation, ran.([2]float64)
		if d.Child == "" {
			for _, child := range f.below[s.ID] {
				if at := float64(child.Created.UnixMilli()); agentOf(child) != d.Agent || at < while[0] || at > while[1] || len(f.callers[child.ID]) > 0 {
					continue
				}
				if d.Child != "" { // one of several
					d.Child = session.HomeUnknown
					break
				}
				d.Child = child.ID
			}
		}
		if d.Child != "" {
			runs = append(runs, run{&d, while})
		}
	}
	return runs
}

// setHome tells which messages the run of a sub-session stored, or one that this started. While
// a call runs, its caller begins no answer: one of its agent to a message that is not here is
// the sub-session's, and so is a message with its task, with all that answers it. Where the
// end of a run is not known, the next answer of its caller ends it, and what the caller's user
// says next. Without such a call, what a message answers tells whose it is, or what its parts
// say.
func (r *reader) setHome(f *family, s *session.Session, below []run, told func(it *session.Item) string) {
	var runs []run
	homes := map[string]string{} // of messages of the user, and of what answers them
	for i := range s.Items {
		it := &s.Items[i]
		at, asks := float64(it.Time.UnixMilli()), it.Role == session.User
		below = slices.DeleteFunc(below, func(r run) bool {
			if r.while[0] <= at {
				runs = append(runs, r)
			}
			return r.while[0] <= at
		})
		home, known := homes[it.Invocation()]
		if it.Copied {
			home, known = it.Home(), true
		}
		for _, ran := range runs {
			switch {
			case known || it.Agent() != ran.Agent || at < ran.while[0] || at > ran.while[1] || asks && it.Text != ran.Task:
			case home == "" || home == ran.Child:
				home = ran.Child
			default: // two worked at once
				home = session.HomeUnknown
			}
		}
		if !known && home == "" {
			home = told(it)
		}
		if it.Own().Home, homes[it.Invocation()] = home, home; asks {
			it.Own().Agent = ""
		}
		if home == "" && (asks || known && it.Role == session.Assistant) {
			runs = slices.DeleteFunc(runs, func(r run) bool { return math.IsInf(r.while[1], 1) })
		}
		runs = append(runs, r.runsOf(f, s, it)...)
	}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool { // its parts go home, too
		return f.Kind == session.CopiesDiffer && s.Items[f.Item].Home() != ""
	})
}
