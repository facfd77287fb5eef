package eventlog

import (
	"reflect"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// difference is what a change makes of one session.
type difference struct {
	*session.Session                // as it is to be
	like             string         // of a session that is new: the one that it is split from
	sets             []session.Edit // of its own record
	was              []stored       // its events before
	steps            []step         // what becomes of its events, in their order
	removed          []*session.Item
	// parted: an event went to another session, or a run came or went.
	parted bool
	// adopted: it has another parent than before.
	adopted bool
	// fresh is the index in steps of the first event that has to get a new number,
	// where the store numbers them; the number of steps when none does.
	fresh int
}

// stored is an event of the tree before, and what becomes of it.
type stored struct {
	*session.Item
	session string
	at      int   // its index in the session
	stays   bool  // it is an event afterwards,
	moves   bool  // and one of another session
	parts   []int // those of its results that are events of their own
}

// step is what becomes of one event that is there afterwards.
type step struct {
	was   *stored // that which it is, or of which it was a part; nil when it is new
	is    *session.Item
	part  int   // the index among the results of was, -1 for what is no part
	taken []int // the results of was that it has no longer, in ascending order
	sets  []session.Edit
	edits bool // something of it differs
}

// stays reports whether the event is stored already.
func (s *step) stays() bool { return s.was != nil && s.part < 0 }

// moves reports whether the event is stored in another session.
func (s *step) moves() bool { return s.stays() && s.was.moves }

// complete sets what is known when all sessions have their steps, and reports whether
// the session differs.
func (d *difference) complete(c *comparison) (differs bool, err error) {
	d.sets = c.sets[d.Ref().Row()]
	for i := range d.steps {
		s := &d.steps[i]
		if !s.stays() {
			continue
		}
		if s.taken, err = taken(s.was.Item, s.is, s.was.parts); err != nil {
			return false, err
		}
		s.sets = c.sets[d.ItemRef(i).Row()]
		s.edits = s.moves() || len(s.taken) > 0 || differ(*s.was.Item, *s.is, c.numbers())
		differs = differs || s.edits || len(s.sets) > 0
	}
	for i := range d.was {
		switch was := &d.was[i]; {
		case !was.stays:
			d.removed = append(d.removed, was.Item)
		case was.moves:
			d.parted = true
		}
	}
	return differs || d.like != "" || d.parted || d.adopted || len(d.sets)+len(d.removed) > 0 || d.fresh < len(d.steps), nil
}

// differ reports whether anything of an item that stays differs.
func differ(was, is session.Item, numbers bool) bool {
	if numbers {
		was.Position = is.Position
	}
	return !reflect.DeepEqual(was, is)
}

// taken are the results that an item has no longer: those that are parts of their
// own, and those that left for the receipt. What is left keeps its order, and may
// answer to another id.
func taken(was, is *session.Item, parts []int) ([]int, error) {
	alike := func(a, b *session.Result) bool {
		return a.Digest == b.Digest && a.Name == b.Name && a.IsError == b.IsError
	}
	for _, same := range []func(a, b *session.Result) bool{
		func(a, b *session.Result) bool { return alike(a, b) && a.CallID == b.CallID }, alike,
	} {
		var gone []int
		next := 0
		for n := range was.Results {
			if !slices.Contains(parts, n) && next < len(is.Results) && same(&was.Results[n], &is.Results[next]) {
				next++
				continue
			}
			gone = append(gone, n)
		}
		if next == len(is.Results) {
			return gone, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "", "%s/%s has results in the repaired tree that it did not have before", was.Table, was.Key)
}
