package diff

import (
	"context"

	"github.com/sessctl/sessctl/internal/session"
)

// record is a stored record with what it says: a key alone may have been given out again.
type record struct {
	row  string
	said session.Digest
}

// joinRenamed makes one group of a session that only the first store has and one that only
// the second has, where these share most of their records: it got another id. Of such
// sessions the keys are held.
func (c *Comparison) joinRenamed(ctx context.Context) error {
	if !c.form.Keyed || !c.a.alone(c.b) || !c.b.alone(c.a) {
		return nil
	}
	home := map[record]string{}
	err := c.a.eachAlone(ctx, c.b, func(s *session.Session) {
		for i := range s.Items {
			home[record{s.ItemRef(i).Row(), s.Items[i].Meaning}] = s.ID
		}
	})
	if err != nil {
		return err
	}
	return c.b.eachAlone(ctx, c.a, func(s *session.Session) {
		shared := map[string]int{}
		for i := range s.Items {
			id, there := home[record{s.ItemRef(i).Row(), s.Items[i].Meaning}]
			if shared[id]++; there && 2*shared[id] > len(s.Items) {
				c.groups.join([]string{id, s.ID})
				return
			}
		}
	})
}

// alone reports whether a store has a session that the other lacks.
func (s *survey) alone(other *survey) bool {
	for id := range s.states {
		if _, there := other.states[id]; !there {
			return true
		}
	}
	return false
}

// eachAlone hands every session that the other store lacks to fn.
func (s *survey) eachAlone(ctx context.Context, other *survey, fn func(*session.Session)) error {
	for tree, err := range s.Trees(ctx) {
		if err != nil {
			return err
		}
		for _, one := range tree.Sessions {
			if _, there := other.states[one.ID]; !there {
				fn(one)
			}
		}
	}
	return nil
}
