package watch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// Part is what of a store is to be checked.
type Part struct {
	Only string // the tree of this session alone; "" for what follows
	All  bool   // all of it
	// Keep says which trees, where the store can leave others out unread; else all are checked. It is
	// to be asked of all trees even where All is set.
	Keep func(heads *session.Tree, newest time.Time) bool

	moved bool // another process has the store open, or none any more
}

// ErrNoSession says that the session of a Part is not stored.
var ErrNoSession = errors.New("there is no such session")

// mostOnes is how many sessions are checked one by one. More are checked with all others.
const mostOnes = 16

// tooSlow is how often in a row one session takes as long as all before all are checked.
const tooSlow = 3

// parted is what is known of which sessions of a store changed.
type parted struct {
	marks  map[string]string // what the store told of each session
	heads  map[string]int64  // the newest times of sessions, where Keep was asked
	recent []string          // the sessions that changed last
	whole  time.Time         // when all was checked, zero for never
	took   time.Duration     // that took so long
	partly bool              // since then, parts were
	slow   int               // how often in a row one session took as long as all
	doubt  bool              // something was written, and nothing that was checked differs from before
	// differs: something that was checked just now does.
	differs bool
}

// lookAt checks as little as tells what changed. With an error, some of it was checked.
func (w *watcher) lookAt(ctx context.Context, s *one, written bool) (events []Event, err error) {
	at, err := w.Glance(ctx, s.path)
	if err != nil {
		return nil, err
	}
	moved := s.store != nil && at.Writer != session.WriterUnknown && at.Writer != s.store.Writer
	parts, gone := s.findChanged(at, moved)
	if s.whole.IsZero() || isPast(w.nextWhole(s), w.Now()) {
		parts, gone = []Part{{All: true}}, nil
	}
	looked := map[string]bool{}
	check := func(part Part) error {
		part.moved = moved
		found, lost, err := w.checkPart(ctx, s, part, looked)
		events, gone = append(events, found...), append(gone, lost...)
		return err
	}
	s.differs = len(gone) > 0
	for _, part := range parts {
		if looked[part.Only] { // with another one of its tree
			continue
		}
		if err := check(part); err != nil {
			return events, err
		}
	}
	if written && at.Loose && !moved && !s.differs {
		s.doubt = true
		if isPast(w.nextWhole(s), w.Now()) {
			if err := check(Part{All: true}); err != nil {
				return events, err
			}
		}
	}
	if moved || len(gone) > 0 {
		store := *s.store
		if len(parts) == 0 {
			store.Writer, store.WriterName, s.partly = at.Writer, at.WriterName, true
		}
		events = append(events, s.takeLook(&Look{Store: &store}, gone)...)
	}
	s.marks = at.Marks
	return events, nil
}

// nextWhole is when all of a store is to be checked, zero for never.
func (w *watcher) nextWhole(s *one) (at time.Time) {
	if s.partly {
		at = s.whole.Add(w.Every)
	}
	if doubt := s.whole.Add(share * s.took); s.doubt && (at.IsZero() || doubt.Before(at)) {
		at = doubt
	}
	return at
}

// checkPart checks a part of a store, adds the sessions of its trees to looked, and gives those that
// are gone.
func (w *watcher) checkPart(ctx context.Context, s *one, part Part, looked map[string]bool) (events []Event, gone []string, err error) {
	heads, changed := map[string]int64{}, map[string]bool{}
	part.Keep = s.keeper(part, heads, changed)
	look, err := w.Check(ctx, s.path, part)
	switch {
	case part.Only != "" && errors.Is(err, ErrNoSession):
		return nil, []string{part.Only}, nil
	case err != nil:
		return nil, nil, err
	}
	for _, t := range look.Trees {
		looked[t.Root] = true
		for _, id := range t.Subs {
			looked[id] = true
		}
		s.differs = s.differs || s.trees[t.Root].Said != t.Said
	}
	if part.Only != "" && !looked[part.Only] { // it is how another id begins
		gone = append(gone, part.Only)
	}
	if len(heads) > 0 {
		for id := range s.heads {
			if _, is := heads[id]; !is {
				gone, s.differs = append(gone, id), true
			}
		}
		s.heads = heads
		if len(changed) > 0 && !part.All {
			s.recent = slices.Collect(maps.Keys(changed))
		}
	}
	if s.store == nil {
		events = append(events, Event{Kind: Begun})
	}
	if part.Only != "" {
		if s.slow++; !look.Slow {
			s.slow = 0
		}
	}
	if s.partly = !look.Whole; look.Whole {
		s.whole, s.took, s.doubt, s.differs = w.Now(), look.Took, false, true
	}
	events = append(events, s.takeLook(look, nil)...)
	w.Counts.noteCheck(s.path, look, s.tally(), w.Now())
	return events, gone, nil
}

// findChanged finds the sessions that may have changed, and those that are gone. Where nothing tells,
// all may have. moved says that another process has the store open, or none any more.
func (s *one) findChanged(at Glance, moved bool) (parts []Part, gone []string) {
	switch {
	case at.Marks == nil && s.heads != nil:
		return []Part{{}}, nil
	case at.Marks == nil || s.marks == nil || s.slow >= tooSlow:
		return []Part{{All: true}}, nil
	}
	var changed []string
	for id, mark := range at.Marks {
		if s.marks[id] != mark {
			changed = append(changed, id)
		}
	}
	for id := range s.marks {
		if _, is := at.Marks[id]; is {
			continue
		}
		if root := s.rootOf(id); root != "" && root != id {
			changed = append(changed, root)
		}
		gone = append(gone, id)
	}
	switch {
	case len(changed) > 0:
		s.recent = slices.Clone(changed)
	case at.Loose || moved: // a record may have been changed in its place, most likely there
		changed = slices.Clone(s.recent)
	}
	for root, t := range s.trees {
		if t.dependsOnWriter(moved) {
			changed = append(changed, root)
		}
	}
	slices.Sort(changed)
	if changed = slices.Compact(changed); len(changed) > mostOnes || at.Loose && len(gone) > 0 {
		return []Part{{All: true}}, nil
	}
	for _, id := range changed {
		parts = append(parts, Part{Only: id})
	}
	return parts, gone
}

// keeper tells the trees in which something changed by the newest time of each of their sessions, and
// notes these in heads and their roots in changed. Those that changed last are kept, too: a record may
// have been changed in its place. It is asked more than once of some.
func (s *one) keeper(part Part, heads map[string]int64, changed map[string]bool) func(*session.Tree, time.Time) bool {
	return func(tree *session.Tree, newest time.Time) bool {
		root := tree.Root().ID
		note := func(key string, at time.Time) {
			if _, noted := heads[key]; !noted {
				heads[key] = at.UnixNano()
			}
			if was, known := s.heads[key]; !known || was != heads[key] || at.IsZero() {
				changed[root] = true
			}
		}
		for _, one := range tree.Sessions {
			note(one.ID, one.Updated)
		}
		if !newest.IsZero() { // a server does not tell
			note(root+"\x00", newest)
		}
		return part.All || changed[root] || slices.Contains(s.recent, root) || s.trees[root].dependsOnWriter(part.moved)
	}
}

// dependsOnWriter reports whether what is found in a tree may be something else now. moved says that
// another process has the store open, or none any more.
func (t Tree) dependsOnWriter(moved bool) bool { return t.InUse || moved && len(t.Found) > 0 }
