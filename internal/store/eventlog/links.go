package eventlog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// linkedSession is the session that a row of the owner means by an id: the other columns of
// its key are the owner's.
func (o *owners) linkedSession(from *owner, id string) (n int, ok bool) {
	return o.numberByKey(append(slices.Clone(*from.within), id))
}

// nameOf is what the session is called that a row of the owner means by an id. One
// that does not exist keeps its id; where the session of another owner is called
// that, it goes by all of its key, so that nothing is taken for a reference to it.
func (o *owners) nameOf(from *owner, id string) string {
	if n, ok := o.linkedSession(from, id); ok {
		return o.list[n].name
	}
	if _, taken := o.numberByName(id); !taken {
		return id
	}
	missing := owner{within: from.within, name: id}
	return missing.keyPath()
}

// nameChildren makes of the stored ids of an item's children those under which they
// are yielded.
func (o *owners) nameChildren(from *owner, it *session.Item) {
	for i := range it.Results {
		r := &it.Results[i]
		o.nameChild(from, &r.Child)
		o.nameChild(from, &r.Question.Child)
	}
	for i := range it.Calls {
		c := &it.Calls[i]
		if c.Delegation != nil {
			o.nameChild(from, &c.Delegation.Child)
		}
		o.nameChild(from, &c.Question.Child)
	}
}

func (o *owners) nameChild(from *owner, id *string) {
	if *id != "" {
		*id = o.nameOf(from, *id)
	}
}

// noteLinks notes the sessions that an event names.
func (st *logStore) noteLinks(from int, row Row) {
	for _, id := range st.layout.Links(row) {
		to, ok := st.linkedSession(&st.list[from], id)
		if known := st.links[from]; ok && (len(known) == 0 || known[len(known)-1] != to) { // the results of a batch often name one session
			st.links[from] = append(known, to)
		}
	}
}

// groupHeads makes trees of the heads.
func (st *logStore) groupHeads() {
	heads := make([]forest.Head, 0, len(st.heads))
	for i, s := range st.heads {
		if s == nil {
			continue
		}
		head := forest.Head{Session: s}
		for _, to := range st.links[i] {
			head.Refs = append(head.Refs, st.list[to].name) // forest passes over those that are not read
		}
		heads = append(heads, head)
	}
	st.trees = forest.GroupHeads(heads)
}

// regroupTree puts the sessions of a tree that a repair changed in memory into the order, and
// below the sessions, in which they would be read if it were stored so: its new sessions
// are then behind all others.
func (st *logStore) regroupTree(tree *session.Tree) {
	row := func(s *session.Session) int {
		if i, ok := st.numberByName(s.ID); ok {
			return i
		}
		return len(st.list)
	}
	slices.SortStableFunc(tree.Sessions, func(a, b *session.Session) int { return cmp.Compare(row(a), row(b)) })
	heads := make([]forest.Head, len(tree.Sessions))
	for n, s := range tree.Sessions {
		s.Children = nil
		heads[n] = forest.Head{Session: s, Refs: slices.Collect(maps.Keys(namedIn(s)))}
		if i := row(s); i < len(st.list) {
			heads[n].Refs = append(heads[n].Refs, st.unsaid[i]...)
		}
	}
	tree.Sessions = nil
	for _, t := range forest.GroupHeads(heads) {
		tree.Sessions = append(tree.Sessions, t.Sessions...)
	}
}

// keepUnsaid notes which of the sessions that the rows of one name none of its items does:
// an approval names them beside what is said, and so does a row that does not decode.
func (st *logStore) keepUnsaid(s *session.Session) {
	i, _ := st.numberByName(s.ID)
	if len(st.links[i]) == 0 {
		return
	}
	said := namedIn(s)
	st.unsaid[i] = nil
	for _, to := range st.links[i] {
		if name := st.list[to].name; !said[name] {
			said[name], st.unsaid[i] = true, append(st.unsaid[i], name)
		}
	}
}

// namedIn are the sessions that the items of one name.
func namedIn(s *session.Session) map[string]bool {
	ids := map[string]bool{}
	for i := range s.Items {
		maps.Copy(ids, namedBy(&s.Items[i]))
	}
	return ids
}
