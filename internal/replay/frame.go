package replay

import "github.com/sessctl/sessctl/internal/session"

// over reports whether the frame's call, or one around it, had its result before
// the item.
func (f *Frame) over(it *session.Item) bool {
	for ; f != nil; f = f.Parent {
		if f.done || f.Copy != nil && !f.Copy.covers(it) {
			return true
		}
	}
	return false
}

// running is the innermost frame that is not over at the item: this one, that of
// a later call of its item, or one around them.
func (f *Frame) running(it *session.Item) *Frame {
	for ; f.Parent != nil; f = f.Parent {
		for sibling := f; sibling != nil; sibling = sibling.next {
			if !sibling.over(it) {
				return sibling
			}
		}
	}
	return f
}

// within reports whether the frame is another one or lies inside it.
func (f *Frame) within(other *Frame) bool {
	for ; f != nil; f = f.Parent {
		if f == other {
			return true
		}
	}
	return false
}

// covers reports whether an item can have been said between the call and its
// result, as far as times are known.
func (d *Delegation) covers(it *session.Item) bool {
	if it.Time.IsZero() {
		return true
	}
	if it.Time.Before(d.Session.Items[d.Item].Time) {
		return false
	}
	if d.Final < 0 {
		return true
	}
	answered := d.Session.Items[d.Final].Time
	return answered.IsZero() || !it.Time.After(answered)
}

// timed reports whether it is known when the call was made and answered.
func (d *Delegation) timed() bool {
	return d.Final >= 0 && !d.Session.Items[d.Item].Time.IsZero() && !d.Session.Items[d.Final].Time.IsZero()
}

// session is the replay of a session of the tree.
func (t *Trace) session(s *session.Session) *Session {
	if len(t.Sessions) == 1 {
		return t.Sessions[0]
	}
	return t.bySession[s]
}

// delegation is the nth call of an item as a delegation, nil when there is no
// item or it is no own delegation of its session.
func (t *Trace) delegation(at *TreeItem, nth int) *Delegation {
	if at == nil {
		return nil
	}
	for _, d := range t.session(at.Session).Delegations {
		if d.Item == at.Item && d.Nth == nth {
			return d
		}
	}
	return nil
}

// lies reports whether s is the session top or lies below it.
func lies(s, top *session.Session) bool {
	if top == nil || s == top {
		return top != nil
	}
	for _, child := range top.Children {
		if lies(s, child) {
			return true
		}
	}
	return false
}
