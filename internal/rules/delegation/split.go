package delegation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// splitFix splits the fix that parts a session which several calls share. Of calls that ran at
// the same time the one that came first keeps it, and every other one gets a session of
// its own with what it started there; calls that ran one after another keep it, too.
// why says what is in the way, "" when nothing is.
//
// It repairs where things stand. What the agent said, it said with the others' messages
// in view.
func splitFix(p *rules.Pass, s *share, m *match, untold string) (fixes []rules.Fix, why string) {
	if why = cmp.Or(whyUnsplittable(p, s), m.stillRuns(untold == ""), untold); why != "" {
		return nil, why
	}
	leaving := m.leavingCalls()
	if len(leaving) == 0 {
		return nil, cmp.Or(describeUnnamed(m.calls), "only one of the calls that ran there at the same time names it")
	}
	fix := rules.Fix{
		Title:  fmt.Sprintf("split session %s: %d calls into %d sessions", rules.ShortID(s.child.ID), len(m.calls), len(leaving)+1),
		Safety: rules.Lossless, Allow: []string{"split"},
	}
	if guessed := m.countGuessed(); guessed > 0 {
		fix.Title += fmt.Sprintf(", %d of them matched by order alone", guessed)
		fix.Allow = append(fix.Allow, "guesses")
	}
	for _, c := range leaving {
		fix.Edits = append(fix.Edits, partEdits(p, s.child.Session, c)...)
	}
	return []rules.Fix{fix}, ""
}

// whyUnsplittable says why nothing can be split, whatever belongs to what.
func whyUnsplittable(p *rules.Pass, s *share) string {
	if why := inTheWay(s.child.Session); why != "" {
		return why
	}
	if treeSharing(p).calls[s.child] > len(s.spawns) {
		return "calls of another conversation use it too"
	}
	for _, sp := range s.spawns {
		if at := sp.answerResults(); len(at) > 0 && sp.From.ResultAt(at[len(at)-1]).Pending {
			return "call " + sp.Call().ID + " is still waiting"
		}
	}
	return ""
}

// inTheWay says what of a session itself is in the way of splitting it.
func inTheWay(s *session.Session) string {
	switch {
	case s.Inseparable != "":
		return s.Inseparable
	case s.Deleted:
		return "it was deleted, and its runtime shows it to nobody"
	}
	for _, f := range s.Faults {
		switch f.Kind {
		case session.SharedID:
			return "another user has a session with the same id, and runs are stored under the id alone"
		case session.Undecodable:
			return "one of its records cannot be read"
		case session.UnknownKind:
			return "one of its records is of an unknown kind"
		}
	}
	return ""
}

// stillRuns says which run may not have ended. That of a call which stays, where it is
// known, can be open for ever: the caller gave up, and the run stays where it is.
func (m *match) stillRuns(whole bool) string {
	stays := map[int]bool{}
	for _, c := range slices.Concat(m.calls, m.silent) {
		if whole && c.stays && c.part != nil && !c.guessed && !c.part.guessed {
			stays[c.part.run] = true
		}
	}
	for n, r := range m.child.Runs {
		switch {
		case !r.Open || stays[n]:
		case r.State == "":
			return "it is not known whether its run " + rules.ShortID(r.ID) + " has ended"
		default:
			return "its run " + rules.ShortID(r.ID) + " has not ended (" + r.State + ")"
		}
	}
	return ""
}

// describeUnnamed says which of the calls has no result that names the session.
func describeUnnamed(calls []*asker) string {
	for _, c := range calls {
		if c.stays {
			return "call " + c.Call().ID + " has no result that names the session"
		}
	}
	return ""
}

// partEdits give a call a session of its own.
func partEdits(p *rules.Pass, child *session.Session, c *asker) []session.Edit {
	call := rules.CallRef(c.From.Session, c.Item, c.Nth)
	id := partID(p, child, call)
	edits := []session.Edit{{Op: session.Create, To: c.From.ID, NewID: id, Like: child.ID, Call: &call}}
	after := session.Ref{}
	for _, i := range slices.Concat(c.part.marks, c.part.Items) {
		edits = append(edits, session.Edit{Op: session.Move, Ref: child.ItemRef(i), To: id, After: after})
		after = child.ItemRef(i)
	}
	if c.part.run >= 0 {
		edits = append(edits, session.Edit{Op: session.MoveRun, Ref: child.RunRef(c.part.run), To: id})
	}
	for _, ref := range c.namingPlaces(p.SubjectOf(child)) {
		edits = append(edits, session.Edit{Op: session.Set, Ref: ref, Field: session.FieldChild, Value: &id})
	}
	return edits
}

// namingPlaces are where the caller names the child for this call: the results of the call,
// and the questions about its run with their answers.
func (c *asker) namingPlaces(child *rules.Subject) []session.Ref {
	var refs []session.Ref
	add := func(at pairing.Occurrence, list string) {
		ref := c.From.ItemRef(at.Item)
		ref.Pointer = list + strconv.Itoa(at.Nth)
		refs = append(refs, ref)
	}
	naming := c.namingResults(child)
	for _, at := range naming {
		add(at, "/results/")
	}
	if c.part.run < 0 {
		return refs
	}
	about := session.Question{Child: child.ID, Run: child.Runs[c.part.run].ID}
	for i := range c.From.Items {
		it := &c.From.Items[i]
		for n := range it.Calls {
			if it.Calls[n].Question == about {
				add(pairing.Occurrence{Item: i, Nth: n}, "/calls/")
			}
		}
		for n := range it.Results {
			if at := (pairing.Occurrence{Item: i, Nth: n}); it.Results[n].Question == about && !slices.Contains(naming, at) {
				add(at, "/results/")
			}
		}
	}
	return refs
}

// partID is an id for a session that is split off, made of the session and the call,
// so that the same damage gives the same id.
func partID(p *rules.Pass, child *session.Session, call session.CallRef) string {
	id := DerivedID(child.ID, call)
	for p.Tree.Session(id) != nil {
		id = DerivedID(id, call)
	}
	return id
}

// concurrentGroups groups the calls that ran at the same time: those of one turn, and those
// whose parts of the session overlap. A call that ran when no other did is a group of
// its own.
func (m *match) concurrentGroups() [][]*asker {
	above := make([]int, len(m.calls))
	for i := range above {
		above[i] = i
	}
	top := func(i int) int {
		for above[i] != i {
			above[i] = above[above[i]]
			i = above[i]
		}
		return i
	}
	for _, pair := range append(m.sameTurn(), m.overlappingPairs()...) {
		above[top(pair[1])] = top(pair[0])
	}
	var groups [][]*asker
	at := map[int]int{}
	for i, c := range m.calls {
		n, known := at[top(i)]
		if !known {
			n, groups = len(groups), append(groups, nil)
			at[top(i)] = n
		}
		groups[n] = append(groups[n], c)
	}
	return groups
}

// sameTurn are pairs of calls that one turn made, so that they connect all of a turn.
func (m *match) sameTurn() (pairs [][2]int) {
	type turn struct {
		parent *rules.Subject
		item   int
	}
	first := map[turn]int{}
	for i, c := range m.calls {
		t := turn{c.From, c.Item}
		if n, known := first[t]; known {
			pairs = append(pairs, [2]int{n, i})
		} else {
			first[t] = i
		}
	}
	return pairs
}

// overlappingPairs are pairs of calls whose parts overlap, so that they connect all that do.
func (m *match) overlappingPairs() (pairs [][2]int) {
	var order []int
	for i, c := range m.calls {
		if c.part != nil {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(m.calls[i].part.First(), m.calls[j].part.First()) })
	longest := -1 // of those so far, the call whose part ends last
	for _, i := range order {
		a := m.calls[i].part
		if longest >= 0 && a.First() < m.calls[longest].part.Last() {
			pairs = append(pairs, [2]int{longest, i})
		}
		if longest < 0 || a.Last() > m.calls[longest].part.Last() {
			longest = i
		}
	}
	return pairs
}

// leavingCalls are the calls that get a session of their own: of those that ran together all
// but the one whose request came first, or all but those that have to stay. The others
// stay, one after another.
func (m *match) leavingCalls() []*asker {
	var list []*asker
	for _, group := range m.concurrentGroups() {
		if can := slices.DeleteFunc(slices.Clone(group), func(c *asker) bool { return c.stays }); len(can) < len(group) {
			list = append(list, can...)
			continue
		}
		timeless := slices.ContainsFunc(group, func(c *asker) bool { return c.part.beganAt(m.child).IsZero() })
		slices.SortFunc(group, func(a, b *asker) int {
			order := cmp.Compare(a.part.First(), b.part.First())
			if timeless {
				return order
			}
			return cmp.Or(a.part.beganAt(m.child).Compare(b.part.beganAt(m.child)), order)
		})
		list = append(list, group[1:]...)
	}
	slices.SortFunc(list, func(a, b *asker) int { return cmp.Compare(a.part.First(), b.part.First()) })
	return list
}
