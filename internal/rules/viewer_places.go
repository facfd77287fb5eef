package rules

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// Viewer is the subject whose request is the next one: that of the viewer that goes
// on, where several agents share the session.
func (p *Pass) Viewer(s *session.Session) *Subject {
	for _, v := range p.Viewers {
		if v.Session == s || v.Whole != nil && v.Whole.Session == s {
			return v
		}
	}
	return p.Subject(s)
}

// ViewersOf are all who send requests from a session, the one that goes on first.
func (p *Pass) ViewersOf(s *session.Session) []*Subject {
	var list []*Subject
	for _, v := range p.Viewers {
		if v.Session == s || v.Whole != nil && v.Whole.Session == s {
			list = append(list, v)
		}
	}
	return list
}

// Place is where an item stands in the session.
func (s *Subject) Place(item int) int {
	if s.Whole == nil || item < 0 {
		return item
	}
	return s.Indexes[item]
}

// Heard is the index that an item of the session has for the viewer, -1 when it is
// not shown it.
func (s *Subject) Heard(item int) int {
	if s.Whole == nil || item < 0 {
		return item
	}
	if n, found := slices.BinarySearch(s.Indexes, item); found {
		return n
	}
	return -1
}

// PlaceOf is a place of the tree as findings about the subject name it; false for one
// of its own session that it is not shown.
func (s *Subject) PlaceOf(place session.Place) (session.Place, bool) {
	if place.Session == s.ID {
		place.Item = s.Heard(place.Item)
	}
	return place, place.Item >= 0
}

// Speaks is who a viewer is, in words; "" for the only one of a session.
func (s *Subject) Speaks() string {
	switch {
	case s.Whole == nil:
		return ""
	case s.who.branch == "" && s.who.Agent == "":
		return "the agent without a branch"
	case s.who.branch == "":
		return Quoted(s.who.Agent)
	case s.who.Agent == "":
		return "the agent on " + Quoted(s.who.branch)
	}
	return Quoted(s.who.Agent) + " on " + Quoted(s.who.branch)
}

// translate gives a finding about a viewer the places of the session.
func (f *Finding) translate(v *Subject) {
	if v == nil || v.Whole == nil {
		return
	}
	f.viewer, f.Viewer, f.Session, f.Item = v, v.Speaks(), v.Whole.Session, v.Place(f.Item)
	f.Items = slices.Clone(f.Items)
	for n, i := range f.Items {
		f.Items[n] = v.Place(i)
	}
	f.Related = slices.Clone(f.Related)
	for n, r := range f.Related {
		if r.Session == v.ID {
			f.Related[n].Item = v.Place(r.Item)
		}
	}
}
