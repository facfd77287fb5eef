package diff

import (
	"cmp"
	"strconv"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// entry is an item of one of the trees that are compared.
type entry struct {
	home  *session.Session
	index int
	said  session.Digest // what it says
	pair  *entry         // the same item in the other tree, nil while there is none
	stays bool           // it stands in the same session, in the same order as the others that do
}

func (e *entry) item() *session.Item { return &e.home.Items[e.index] }

func (e *entry) row() string { return e.home.ItemRef(e.index).Row() }

func (e *entry) record() *Record {
	return &Record{e.home.At(e.index), e.row()}
}

// side is one of the two trees, which may be several that the other store connects.
type side struct {
	sessions []*session.Session
	byID     map[string]*session.Session
	entries  []*entry
	of       map[string][]*entry // by session
}

func newSide(trees []*session.Tree, alike bool) *side {
	s := &side{byID: map[string]*session.Session{}, of: map[string][]*entry{}}
	for _, tree := range trees {
		for _, one := range tree.Sessions {
			s.sessions = append(s.sessions, one)
			s.byID[one.ID] = one
			for i := range one.Items {
				e := &entry{home: one, index: i, said: saidOf(&one.Items[i], alike)}
				s.entries = append(s.entries, e)
				s.of[one.ID] = append(s.of[one.ID], e)
			}
		}
	}
	return s
}

// match finds the pairs of two trees, and which of them stay. The result is the same,
// turned around, when the trees change places.
func match(a, b *side, keyed bool) {
	if keyed && trusted(a, b) {
		pairByKey(a.entries, b.entries, (*entry).row)
		settle(a, b)
		return
	}
	for _, s := range a.sessions {
		pairInOrder(a.of[s.ID], b.of[s.ID], func(e *entry) session.Digest { return e.said })
	}
	pairByKey(a.entries, b.entries, func(e *entry) session.Digest { return e.said })
	settle(a, b)
	for _, s := range a.sessions {
		before, after := gaps(a.of[s.ID]), gaps(b.of[s.ID])
		pairInOrder(a.of[s.ID], b.of[s.ID], func(e *entry) session.Digest {
			if e.home == s {
				return before[e.index]
			}
			return after[e.index]
		})
	}
	settle(a, b)
}

// trusted reports whether records with the same key are the same ones: at least half of
// them agree, and no more items say the same as agree by key. Otherwise one of the stores
// was written anew, and the keys mean nothing.
func trusted(a, b *side) bool {
	rows, said := map[string]*entry{}, map[session.Digest]int{}
	for _, e := range b.entries {
		rows[e.row()] = e
		said[e.said]++
	}
	shared, agreed, same := 0, 0, 0
	for _, e := range a.entries {
		if said[e.said] > 0 {
			said[e.said]--
			same++
		}
		if f := rows[e.row()]; f != nil {
			shared++
			if agree(e, f) {
				agreed++
			}
		}
	}
	return shared > 0 && 2*agreed >= shared && agreed >= same
}

// agree reports whether two items with one key are the same one: they say the same, or the
// same voice spoke at the same time.
func agree(e, f *entry) bool {
	was, is := e.item(), f.item()
	return e.said == f.said ||
		was.Kind == is.Kind && was.Role == is.Role && was.Agent == is.Agent && !was.Time.IsZero() && was.Time.Equal(is.Time)
}

// pairByKey pairs what has no pair yet and the same key: the first with the first, and so on.
func pairByKey[K comparable](a, b []*entry, key func(*entry) K) {
	waiting := map[K][]*entry{}
	for _, e := range b {
		if e.pair == nil {
			waiting[key(e)] = append(waiting[key(e)], e)
		}
	}
	for _, e := range a {
		if e.pair != nil {
			continue
		}
		if list := waiting[key(e)]; len(list) > 0 {
			e.pair, list[0].pair = list[0], e
			waiting[key(e)] = list[1:]
		}
	}
}

// pairInOrder pairs what has no pair yet as a longest common subsequence of tokens.
func pairInOrder(a, b []*entry, token func(*entry) session.Digest) {
	a, was := single(a, token)
	b, is := single(b, token)
	for i, j := range common(was, is) {
		if j >= 0 {
			a[i].pair, b[j].pair = b[j], a[i]
		}
	}
}

// single are the entries without a pair, and their tokens.
func single(list []*entry, token func(*entry) session.Digest) ([]*entry, []session.Digest) {
	var left []*entry
	var tokens []session.Digest
	for _, e := range list {
		if e.pair == nil {
			left, tokens = append(left, e), append(tokens, token(e))
		}
	}
	return left, tokens
}

// settle finds the pairs that stay: of each session as many as can be in the same order
// in both stores. The others have moved.
func settle(a, b *side) {
	for _, s := range a.sessions {
		rank := map[*entry]int{}
		for _, e := range b.of[s.ID] {
			if e.pair != nil && e.pair.home.ID == s.ID {
				rank[e] = len(rank)
			}
		}
		var list []*entry
		var ranks []int
		for _, e := range a.of[s.ID] {
			if e.pair != nil && e.pair.home.ID == s.ID {
				list, ranks = append(list, e), append(ranks, rank[e.pair])
				e.stays, e.pair.stays = false, false
			}
		}
		stay := increasing(ranks, func(i, j int) int { return order(list[i], list[j]) })
		for _, i := range stay {
			list[i].stays, list[i].pair.stays = true, true
		}
	}
}

// order compares two pairs by what they are, whichever store comes first.
func order(e, f *entry) int {
	return cmp.Or(cmp.Compare(min(e.said, e.pair.said), min(f.said, f.pair.said)), cmp.Compare(min(e.row(), e.pair.row()), min(f.row(), f.pair.row())))
}

// gaps are tokens for the entries of a session: equal where kind, role and agent are, and
// where as many entries stay before them.
func gaps(list []*entry) []session.Digest {
	tokens := make([]session.Digest, len(list))
	before := 0
	for i, e := range list {
		it := e.item()
		tokens[i] = session.DigestOf(strconv.Itoa(before) + " " + it.Kind.String() + " " + it.Role.String() + " " + it.Agent)
		if e.stays {
			before++
		}
	}
	return tokens
}

// common finds a longest common subsequence. Of several it is the same one whichever
// sequence comes first.
func common(a, b []session.Digest) []int {
	if !turned(a, b) {
		return replay.CommonSubsequence(a, b)
	}
	partners := make([]int, len(a))
	for i := range partners {
		partners[i] = -1
	}
	for j, i := range replay.CommonSubsequence(b, a) {
		if i >= 0 {
			partners[i] = j
		}
	}
	return partners
}

// turned reports whether two sequences are to change places before they are compared.
func turned(a, b []session.Digest) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}
