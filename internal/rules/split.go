package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

// split is the fix that parts a session which several calls share: the call that came
// first keeps it, and every other one gets a session of its own with what it started
// there. why says what is in the way, "" when nothing is.
//
// It repairs where things stand. What the agent said, it said with the others' messages
// in view.
func (p *Pass) split(s *share) (fixes []Fix, why string) {
	if why = p.unsplittable(s); why != "" {
		return nil, why
	}
	parts, why := partsOf(s.child.Session)
	if why != "" {
		return nil, why
	}
	m := newMatch(s, parts)
	if why = m.pair(); why != "" {
		return nil, why
	}
	slices.SortFunc(m.calls, func(a, b *asker) int { return cmp.Compare(a.part.first(), b.part.first()) })
	if why = unnamed(m.calls[1:], s.child); why != "" {
		return nil, why
	}
	fix := Fix{
		Title:  fmt.Sprintf("split session %s: %d calls into %d sessions", Short(s.child.ID), len(m.calls), len(m.calls)),
		Safety: Lossless, Allow: []string{"split"},
	}
	if guessed := m.guessed(); guessed > 0 {
		fix.Title += fmt.Sprintf(", %d of them paired by their order only", guessed)
		fix.Allow = append(fix.Allow, "guesses")
	}
	for _, c := range m.calls[1:] {
		fix.Edits = append(fix.Edits, p.partEdits(s.child.Session, c)...)
	}
	return []Fix{fix}, ""
}

// unsplittable says why nothing can be split, whatever belongs to what.
func (p *Pass) unsplittable(s *share) string {
	callers := 0
	for _, sp := range p.callers() {
		if sp.child == s.child {
			callers++
		}
	}
	switch {
	case s.child.Inseparable != "":
		return s.child.Inseparable
	case slices.ContainsFunc(s.child.Faults, func(f session.Fault) bool { return f.Kind == session.SharedID }):
		return "another user has a session with this id, and its runs go by the id alone"
	case callers > len(s.spawns):
		return "calls of another conversation use it, too"
	}
	for _, r := range s.child.Runs {
		if r.Open {
			return "its run " + Short(r.ID) + " has not ended (" + r.State + ")"
		}
	}
	for _, sp := range s.spawns {
		if at := sp.answers(); len(at) > 0 && sp.parent.result(at[len(at)-1]).Pending {
			return "call " + sp.Call().ID + " still waits"
		}
	}
	return ""
}

// unnamed says which of the calls has no result that names the session: there is no
// place then that could name another one.
func unnamed(calls []*asker, child *Subject) string {
	for _, c := range calls {
		if len(c.naming(child)) == 0 {
			return "call " + c.Call().ID + " has no result that names the session"
		}
	}
	return ""
}

// partEdits give a call a session of its own.
func (p *Pass) partEdits(child *session.Session, c *asker) []session.Edit {
	call := callRef(c.parent.Session, c.Item, c.Nth)
	id := p.partID(child, call)
	edits := []session.Edit{{Op: session.Create, To: c.parent.ID, NewID: id, Like: child.ID, Call: &call}}
	after := session.Ref{}
	for _, i := range c.part.items {
		edits = append(edits, session.Edit{Op: session.Move, Ref: child.ItemRef(i), To: id, After: after})
		after = child.ItemRef(i)
	}
	if c.part.run >= 0 {
		edits = append(edits, session.Edit{Op: session.MoveRun, Ref: child.RunRef(c.part.run), To: id})
	}
	for _, at := range c.naming(p.subject(child)) {
		ref := c.parent.ItemRef(at.Item)
		ref.Pointer = "/results/" + strconv.Itoa(at.Nth)
		edits = append(edits, session.Edit{Op: session.Set, Ref: ref, Field: session.FieldChild, Value: &id})
	}
	return edits
}

// partID is an id for a session that is split off, made of the session and the call,
// so that the same damage gives the same id.
func (p *Pass) partID(child *session.Session, call session.CallRef) string {
	id := DerivedID(child.ID, call)
	for p.Tree.Session(id) != nil {
		id = DerivedID(id, call)
	}
	return id
}
