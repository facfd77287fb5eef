package eventlog

import (
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
)

// Turn is a record of a Parted database as the items that are read of it.
type Turn struct {
	Items []session.Item
	At    int // the index of the first in its session
}

// TurnsOf are the records of some items, which alike says of two that follow each other.
func TurnsOf(items []session.Item, alike func(a, b *session.Item) bool) (list []Turn) {
	for i := range items {
		if n := len(list) - 1; n >= 0 && alike(&items[i-1], &items[i]) {
			list[n].Items = items[list[n].At : i+1]
			continue
		}
		list = append(list, Turn{items[i : i+1], i})
	}
	return list
}

// SpeakerRole is who speaks.
func (t *Turn) SpeakerRole() session.Role { return t.Items[0].Role }

// CallNames are the calls of a record, by id, with their tools.
func (t *Turn) CallNames() map[string]string {
	calls := map[string]string{}
	for i := range t.Items {
		for _, c := range t.Items[i].Calls {
			calls[c.ID] = c.Name
		}
	}
	return calls
}

// HoldsTurn reports whether a record says all that another one does: it makes the calls, and has the
// same texts and results.
func (t *Turn) HoldsTurn(o *Turn) bool {
	calls := t.CallNames()
	for id, name := range o.CallNames() {
		if calls[id] != name {
			return false
		}
	}
	says := func(it *session.Item) session.Digest {
		if it.Role == session.Tool {
			return it.Meaning
		}
		return it.Text
	}
	return !slices.ContainsFunc(o.Items, func(it session.Item) bool {
		return says(&it) != 0 && !it.Flags.Has(session.Blank) && !slices.ContainsFunc(t.Items, func(own session.Item) bool { return says(&own) == says(&it) && own.Role == it.Role })
	})
}

// SetHome says whose run stored a record, and whether it is a copy.
func (t *Turn) SetHome(home string, copied bool) {
	for i := range t.Items {
		t.Items[i].Own().Home, t.Items[i].Copied = home, copied
	}
}

// CheckWhole refuses a change that parts records, which record tells by the session that an item is
// in and the item, and one that puts two records of one time in another order than inOrder allows: it gets the first item of each.
func CheckWhole[R comparable](n Packing, sessions []*change.Session, record func(in string, it *session.Item) R, inOrder func(a, b *change.Item) bool) error {
	refuse := func(text string) error { return problem.New(problem.RolledBack, "", "%s", text) }
	home := map[R]string{} // of those that stay
	for _, s := range sessions {
		var last *change.Item
		for i := range s.Items {
			it := &s.Items[i]
			if it.Was == nil {
				continue
			}
			if other, known := home[record(it.From, it.Was)]; known && other != s.Is.ID {
				return refuse("one record holds several messages, and the plan parts them")
			}
			home[record(it.From, it.Was)] = s.Is.ID
			if last != nil && record(last.From, last.Was) == record(it.From, it.Was) {
				continue
			}
			if last != nil && n.OneTime(last.Is.Position, it.Is.Position) && !inOrder(last, it) {
				return refuse("messages of the same millisecond have an order of their own in the store, and the plan has them in another one")
			}
			last = it
		}
	}
	for _, s := range sessions {
		for _, it := range s.Removed {
			if _, stays := home[record(s.Was.ID, it)]; stays {
				return refuse("one record holds several messages, and the plan parts them")
			}
		}
	}
	return nil
}
