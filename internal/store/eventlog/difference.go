package eventlog

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// difference is what a change makes of one session.
type difference struct {
	*session.Session                // as it is to be
	sets             []session.Edit // of its own record
	steps            []step         // what becomes of its events, in their order
	removed          []*session.Item
	// fresh is the index in steps of the first event that has to get a new number,
	// where the store numbers them; the number of steps when none does.
	fresh int
}

// step is what becomes of one event that is there afterwards.
type step struct {
	was   *session.Item // the stored item, or that of which this one was a part; nil when it is new
	is    *session.Item
	part  int   // the index among the results of was, -1 for what is no part
	taken []int // the results of was that it has no longer, in ascending order
	sets  []session.Edit
	edits bool // something of it differs
}

// stays reports whether the event is stored already.
func (s *step) stays() bool { return s.was != nil && s.part < 0 }

// compare lists what differs, session by session. With numbers, positions are only
// an order.
func compare(c *store.Change, numbers bool) ([]*difference, error) {
	sets := map[string][]session.Edit{}
	for _, e := range c.Sets {
		if e.Op != session.Set {
			return nil, problem.New(problem.RolledBack, "", "the edit %q of %s is not one that this store knows", e.Op, e.Ref.Row())
		}
		whole := e.Ref
		whole.Pointer = ""
		sets[whole.Row()] = append(sets[whole.Row()], e)
	}
	if len(c.Before.Sessions) != len(c.After.Sessions) {
		return nil, problem.New(problem.RolledBack, "", "a repair of this store neither creates nor deletes a session")
	}
	var all []*difference
	for _, before := range c.Before.Sessions {
		after := c.After.Session(before.ID)
		if after == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is missing after the repair, which deletes none", before.ID)
		}
		d, err := differenceOf(before, after, sets, numbers)
		if err != nil {
			return nil, err
		}
		if d != nil {
			all = append(all, d)
		}
	}
	return all, nil
}

// differenceOf is the difference of one session, nil when there is none.
func differenceOf(before, after *session.Session, sets map[string][]session.Edit, numbers bool) (*difference, error) {
	d := &difference{Session: after, sets: sets[after.Ref().Row()], fresh: -1}
	places := make(map[string]int, len(before.Items))
	for i := range before.Items {
		places[before.ItemRef(i).Row()] = i
	}
	parts, stays := map[*session.Item][]int{}, make([]bool, len(before.Items))
	last, changes := -1, len(d.sets) > 0
	for i := range after.Items {
		s, place, err := find(after, i, before, places)
		if err != nil {
			return nil, err
		}
		switch {
		case s.part >= 0:
			parts[s.was] = append(parts[s.was], s.part)
		case s.was != nil:
			stays[place] = true
		}
		if d.fresh < 0 && (!s.stays() || place < last) {
			d.fresh = i
		}
		last = max(last, place)
		d.steps = append(d.steps, s)
		changes = changes || !s.stays()
	}
	if d.fresh < 0 {
		d.fresh = len(d.steps)
	}
	for i := range d.steps {
		s := &d.steps[i]
		if !s.stays() {
			continue
		}
		var err error
		if s.taken, err = taken(s.was, s.is, parts[s.was]); err != nil {
			return nil, err
		}
		s.sets = sets[after.ItemRef(i).Row()]
		s.edits = len(s.taken) > 0 || differ(*s.was, *s.is, numbers)
		changes = changes || s.edits || len(s.sets) > 0
	}
	for i := range before.Items {
		if !stays[i] {
			d.removed = append(d.removed, &before.Items[i])
		}
	}
	if !changes && len(d.removed) == 0 && d.fresh == len(d.steps) {
		return nil, nil
	}
	return d, nil
}

// partMark stands in the key of a part of an item between the key of the item and
// the index of the part among its results.
const partMark = "#results/"

// find finds what is stored of an item.
func find(after *session.Session, i int, before *session.Session, places map[string]int) (s step, place int, _ error) {
	it, row := &after.Items[i], after.ItemRef(i).Row()
	if it.Table == "" {
		return step{is: it, part: -1}, -1, nil
	}
	if place, ok := places[row]; ok {
		return step{was: &before.Items[place], is: it, part: -1}, place, nil
	}
	if at := strings.LastIndex(row, partMark); at >= 0 {
		nth, err := strconv.Atoi(row[at+len(partMark):])
		if place, ok := places[row[:at]]; ok && err == nil && nth < len(before.Items[place].Results) {
			return step{was: &before.Items[place], is: it, part: nth}, -1, nil
		}
	}
	return s, -1, problem.New(problem.RolledBack, "", "%s is in session %s of the repaired tree and was not in it before", row, after.ID)
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
