package eventlog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// comparison holds two trees against each other.
type comparison struct {
	*store.Change
	layout *Layout
	sets   map[string][]session.Edit // by the row of the record
	stored map[string]*stored        // the events of the tree before, by row
}

// numbers: positions are only an order.
func (c *comparison) numbers() bool { return c.layout.Write.Renumber != nil }

// compare lists what differs, session by session; those that are new come last.
func compare(change *store.Change, layout *Layout) ([]*difference, error) {
	c := &comparison{change, layout, map[string][]session.Edit{}, map[string]*stored{}}
	for _, e := range c.Sets {
		if e.Op != session.Set {
			return nil, problem.New(problem.RolledBack, "", "the edit %q of %s is not one that this store knows", e.Op, e.Ref.Row())
		}
		whole := e.Ref
		whole.Pointer = ""
		c.sets[whole.Row()] = append(c.sets[whole.Row()], e)
	}
	all, err := c.sessions()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if err := c.steps(d); err != nil {
			return nil, err
		}
	}
	var differing []*difference
	for _, d := range all {
		differs, err := d.complete(c)
		if err != nil {
			return nil, err
		}
		if differs {
			differing = append(differing, d)
		}
	}
	return differing, nil
}

// sessions makes a difference of every session, with what it was before.
func (c *comparison) sessions() ([]*difference, error) {
	var all []*difference
	befores, afters := byID(c.Before), byID(c.After)
	for _, before := range c.Before.Sessions {
		after := afters[before.ID]
		if after == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is missing after the repair, which deletes none", before.ID)
		}
		d := &difference{Session: after, was: make([]stored, len(before.Items)), parted: !slices.Equal(before.Runs, after.Runs), adopted: before.Parent != after.Parent}
		if d.parted && c.layout.Write.Beside == nil {
			return nil, problem.New(problem.RolledBack, "", "the runs of session %s change in the repair, and this store holds none", before.ID)
		}
		if d.adopted && c.layout.Sessions.Parent == "" {
			return nil, problem.New(problem.RolledBack, "", "the parent of session %s changes in the repair, and this store records none", before.ID)
		}
		for i := range before.Items {
			d.was[i] = stored{Item: &before.Items[i], session: before.ID, at: i}
			c.stored[before.ItemRef(i).Row()] = &d.was[i]
		}
		all = append(all, d)
	}
	for _, s := range c.After.Sessions {
		if befores[s.ID] != nil {
			continue
		}
		like := c.Split[s.ID]
		if c.layout.Write.Create == nil || befores[like] == nil {
			return nil, problem.New(problem.RolledBack, "", "session %s is new after the repair, and a session of this store cannot be made so", s.ID)
		}
		all = append(all, &difference{Session: s, like: like})
	}
	return all, nil
}

func byID(tree *session.Tree) map[string]*session.Session {
	sessions := make(map[string]*session.Session, len(tree.Sessions))
	for _, s := range tree.Sessions {
		sessions[s.ID] = s
	}
	return sessions
}

// steps finds what is stored of the events of a session.
func (c *comparison) steps(d *difference) error {
	d.fresh = len(d.Items)
	last := -1
	for i := range d.Items {
		s, err := c.find(d.Session, i)
		if err != nil {
			return err
		}
		at := -1
		switch {
		case s.part >= 0:
			s.was.parts = append(s.was.parts, s.part)
		case s.was != nil:
			if s.was.stays {
				return problem.New(problem.RolledBack, "", "%s is in the repaired tree twice", d.ItemRef(i).Row())
			}
			s.was.stays, s.was.moves = true, s.was.session != d.ID
			at = s.was.at
		}
		if !s.stays() || s.moves() || at < last {
			d.fresh = min(d.fresh, i)
		}
		last = max(last, at)
		d.steps = append(d.steps, s)
	}
	return nil
}

// partMark stands in the key of a part of an item between the key of the item and
// the index of the part among its results.
const partMark = "#results/"

// find finds what is stored of an item.
func (c *comparison) find(after *session.Session, i int) (step, error) {
	it, row := &after.Items[i], after.ItemRef(i).Row()
	if it.Table == "" {
		return step{is: it, part: -1}, nil
	}
	if was := c.storedIn(after, row); was != nil {
		return step{was: was, is: it, part: -1}, nil
	}
	if at := strings.LastIndex(row, partMark); at >= 0 {
		nth, err := strconv.Atoi(row[at+len(partMark):])
		if was := c.storedIn(after, row[:at]); was != nil && err == nil && nth < len(was.Results) {
			return step{was: was, is: it, part: nth}, nil
		}
	}
	return step{}, problem.New(problem.RolledBack, "", "%s is in session %s of the repaired tree and was not in it before", row, after.ID)
}

// storedIn is the event of a row that may be one of the session's; nil if there is none.
func (c *comparison) storedIn(s *session.Session, row string) *stored {
	if was := c.stored[row]; was != nil && (was.session == s.ID || c.layout.OneID) {
		return was
	}
	return nil
}
