// Package watch goes on checking: it waits until a store changes, has as little of it checked as
// tells what changed, and says what is new and what is gone. It finds nothing itself: a Checker does.
package watch

import (
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/session"
)

// Look is what one check saw of a store.
type Look struct {
	Store  *session.Store
	Whole  bool             // it looked at everything, and not at some trees only
	Slow   bool             // to look at these took as long as to look at all would
	Own    bool             // it looked at what concerns the store itself
	Itself []*check.Finding // about that
	Trees  []Tree
	Took   time.Duration
}

// Tree is a conversation as a check saw it.
type Tree struct {
	Root    string
	Subs    []string // its sub-sessions
	InUse   bool     // by what the session itself tells, and not the store
	Outlook check.Outlook
	Found   []*check.Finding
	Said    session.Digest // of what is stored in it
}

// EventKind is what an event tells.
type EventKind string

// The kinds of events.
const (
	Begun      EventKind = "watching" // the first check of a store is done
	Found      EventKind = "found"
	Worse      EventKind = "worse" // a finding that was known is about more, or more severe
	Gone       EventKind = "gone"
	InUse      EventKind = "in-use" // a store, or one session of it
	Left       EventKind = "left"   // it is in use no longer
	Unreadable EventKind = "unreadable"
	Readable   EventKind = "readable"
)

// Event is one thing that happened to a store.
type Event struct {
	Kind    EventKind
	Time    time.Time
	Path    string
	Store   *session.Store // as the last check has it, nil before the first
	Session string         // of InUse and Left, "" where it is the store
	Finding *check.Finding
	Err     error // of Unreadable
	Tally   Tally // of Begun
}

// Tally is how much there is in a store.
type Tally struct {
	Sessions map[check.Outlook]int // conversations
	Findings []*check.Finding
}

// seen is what is known of a store from the checks so far.
type seen struct {
	store  *session.Store // nil before the first check
	itself []*check.Finding
	trees  map[string]Tree // by root
}

// takeLook takes in what a check saw, and gives what is new since the last one. gone are sessions
// that are no longer stored.
func (s *seen) takeLook(look *Look, gone []string) (events []Event) {
	replaced := map[string]bool{}
	for _, id := range gone {
		replaced[id] = true
	}
	before, is := s.trees, slices.Clone(look.Itself)
	s.trees = maps.Clone(before)
	if s.trees == nil || look.Whole {
		s.trees = map[string]Tree{}
	}
	for _, t := range look.Trees {
		for _, id := range slices.Concat(t.Subs, []string{t.Root}) { // each may have been a tree of its own
			replaced[id] = true
			delete(s.trees, id)
		}
		is = append(is, t.Found...)
	}
	for _, id := range gone {
		delete(s.trees, id)
	}
	for _, t := range look.Trees {
		s.trees[t.Root] = t
	}
	var was []*check.Finding
	if look.Own {
		was, s.itself = s.itself, look.Itself
	}
	for _, id := range slices.Sorted(maps.Keys(before)) {
		if look.Whole || replaced[id] {
			was = append(was, before[id].Found...)
			if before[id].InUse && !s.trees[id].InUse {
				events = append(events, Event{Kind: Left, Session: id})
			}
		}
	}
	for _, t := range look.Trees {
		if t.InUse && !before[t.Root].InUse {
			events = append(events, Event{Kind: InUse, Session: t.Root})
		}
	}
	switch {
	case isLive(look.Store) && !isLive(s.store):
		events = append(events, Event{Kind: InUse})
	case !isLive(look.Store) && isLive(s.store):
		events = append(events, Event{Kind: Left})
	}
	s.store = look.Store
	return append(events, compareFindings(was, is)...)
}

func isLive(st *session.Store) bool { return st != nil && st.Writer == session.WriterLive }

// compareFindings tells what is new, worse and gone, by what a baseline knows findings by: the
// fingerprint, of which several findings may have one, and how bad each is.
func compareFindings(was, is []*check.Finding) (events []Event) {
	open := map[string][]*check.Finding{}
	for _, f := range was {
		open[f.Fingerprint] = append(open[f.Fingerprint], f)
	}
	take := func(f *check.Finding, fits func(*check.Finding) bool) bool {
		list := open[f.Fingerprint]
		at := slices.IndexFunc(list, fits)
		if at >= 0 {
			open[f.Fingerprint] = slices.Delete(slices.Clone(list), at, at+1)
		}
		return at >= 0
	}
	var rest []*check.Finding
	for _, f := range is {
		if !take(f, func(old *check.Finding) bool { return old.Extent().Covers(f.Extent()) }) {
			rest = append(rest, f)
		}
	}
	for _, f := range rest {
		kind := Found
		if take(f, func(*check.Finding) bool { return true }) {
			kind = Worse
		}
		events = append(events, Event{Kind: kind, Finding: f})
	}
	for _, f := range was {
		if slices.Contains(open[f.Fingerprint], f) {
			events = append(events, Event{Kind: Gone, Finding: f})
		}
	}
	return events
}

// rootOf is the root of the tree that a session is in, "" where it is in none.
func (s *seen) rootOf(id string) string {
	if _, is := s.trees[id]; is {
		return id
	}
	for root, t := range s.trees {
		if slices.Contains(t.Subs, id) {
			return root
		}
	}
	return ""
}

func (s *seen) tally() Tally {
	t := Tally{Sessions: map[check.Outlook]int{}, Findings: slices.Clone(s.itself)}
	for _, tree := range s.trees {
		t.Sessions[tree.Outlook]++
		t.Findings = append(t.Findings, tree.Found...)
	}
	return t
}

// isInUse reports whether somebody writes to the store or to one of its sessions.
func (s *seen) isInUse() bool {
	used := isLive(s.store)
	for _, t := range s.trees {
		used = used || t.InUse
	}
	return used
}
