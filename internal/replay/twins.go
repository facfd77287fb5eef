package replay

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// copies are the items of a child and of everything below it, to look for
// twins: each vouches for one leaked item only.
type copies struct {
	places map[session.Digest][]TreeItem
}

func copiesBelow(child *session.Session) *copies {
	c := &copies{places: map[session.Digest][]TreeItem{}}
	c.add(child, map[*session.Session]bool{})
	return c
}

func (c *copies) add(s *session.Session, seen map[*session.Session]bool) {
	if s == nil || seen[s] {
		return
	}
	seen[s] = true
	for i := range s.Items {
		if m := s.Items[i].Meaning; m != 0 {
			c.places[m] = append(c.places[m], TreeItem{s, i})
		}
	}
	for _, child := range s.Children {
		c.add(child, seen)
	}
}

// has reports whether a copy of the item is left that its time does not rule out.
func (c *copies) has(it *session.Item) bool { return c.find(it) >= 0 }

// take takes the copy of the item that has its time, else the first one whose
// time is not known. An agent may say the same thing several times, and not
// every time need be stored.
func (c *copies) take(it *session.Item) *TreeItem {
	n := c.find(it)
	if n < 0 {
		return nil
	}
	return c.remove(it.Meaning, n)
}

func (c *copies) find(it *session.Item) int {
	list := c.places[it.Meaning]
	for n := range list {
		if list[n].item().Time.Equal(it.Time) {
			return n
		}
	}
	return slices.IndexFunc(list, func(p TreeItem) bool { return it.Time.IsZero() || p.item().Time.IsZero() })
}

func (c *copies) remove(m session.Digest, n int) *TreeItem {
	taken := c.places[m][n]
	c.places[m] = slices.Delete(c.places[m], n, n+1)
	return &taken
}

// takeLeftOver gives the leaked items without a twin the copies of another time
// that none has taken: a store may date the two copies differently.
func (c *copies) takeLeftOver(d *Delegation) {
	for n := range d.Leaked {
		l := &d.Leaked[n]
		if m := d.Session.Items[l.Item].Meaning; l.Twin == nil && len(c.places[m]) > 0 {
			l.Twin = c.remove(m, 0)
		}
	}
}

func (p TreeItem) item() *session.Item { return &p.Session.Items[p.Item] }
