package diff

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/lists"
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

func (e *entry) asRecord() *Record {
	return &Record{e.home.ItemPlace(e.index), e.row()}
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

// pairEntries finds the pairs of two trees, and which of them stay. The result is the same,
// turned around, when the trees change places.
func pairEntries(a, b *side, keyed bool) {
	if keyed && canTrustKeys(a, b) {
		pairByKey(a.entries, b.entries, (*entry).row)
		markStaying(a, b)
		return
	}
	for _, s := range a.sessions {
		pairInOrder(a.of[s.ID], b.of[s.ID], func(e *entry) session.Digest { return e.said })
	}
	pairByKey(a.entries, b.entries, func(e *entry) session.Digest { return e.said })
	markStaying(a, b)
	for _, s := range a.sessions {
		before, after := gapTokens(a.of[s.ID]), gapTokens(b.of[s.ID])
		pairInOrder(a.of[s.ID], b.of[s.ID], func(e *entry) session.Digest {
			if e.home == s {
				return before[e.index]
			}
			return after[e.index]
		})
	}
	markStaying(a, b)
}

// canTrustKeys reports whether records with the same key are the same ones: at least half of
// them agree, and no more items say the same as agree by key. Otherwise one of the stores
// was written anew, and the keys mean nothing.
func canTrustKeys(a, b *side) bool {
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
			if itemsAgree(e, f) {
				agreed++
			}
		}
	}
	return shared > 0 && 2*agreed >= shared && agreed >= same
}

// itemsAgree reports whether two items with one key are the same one: they say the same, or the
// same viewer spoke at the same time.
func itemsAgree(e, f *entry) bool {
	was, is := e.item(), f.item()
	return e.said == f.said ||
		was.Kind == is.Kind && was.Role == is.Role && was.Agent() == is.Agent() && !was.Time.IsZero() && was.Time.Equal(is.Time)
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
	a, was := unpairedTokens(a, token)
	b, is := unpairedTokens(b, token)
	for i, j := range commonSubsequence(was, is) {
		if j >= 0 {
			a[i].pair, b[j].pair = b[j], a[i]
		}
	}
}

// unpairedTokens are the entries without a pair, and their tokens.
func unpairedTokens(list []*entry, token func(*entry) session.Digest) ([]*entry, []session.Digest) {
	var left []*entry
	var tokens []session.Digest
	for _, e := range list {
		if e.pair == nil {
			left, tokens = append(left, e), append(tokens, token(e))
		}
	}
	return left, tokens
}

// markStaying finds the pairs that stay: of each session as many as can be in the same order
// in both stores. The others have moved.
func markStaying(a, b *side) {
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
		stay := increasingSubsequence(ranks, func(i, j int) int { return comparePairs(list[i], list[j]) })
		for _, i := range stay {
			list[i].stays, list[i].pair.stays = true, true
		}
	}
}

// comparePairs compares two pairs by what they are, whichever store comes first: by when their
// items were, and by how long they are, because digests are others in each run.
func comparePairs(e, f *entry) int {
	time := func(e *entry) int64 { return min(e.item().Time.UnixNano(), e.pair.item().Time.UnixNano()) }
	size := func(e *entry) int64 { return min(e.item().Size, e.pair.item().Size) }
	return cmp.Or(cmp.Compare(time(e), time(f)), cmp.Compare(size(e), size(f)),
		cmp.Compare(min(e.row(), e.pair.row()), min(f.row(), f.pair.row())), cmp.Compare(min(e.said, e.pair.said), min(f.said, f.pair.said)))
}

// gapTokens are tokens for the entries of a session: equal where kind, role and agent are, and
// where as many entries stay before them.
func gapTokens(list []*entry) []session.Digest {
	tokens := make([]session.Digest, len(list))
	before := 0
	for i, e := range list {
		it := e.item()
		tokens[i] = session.DigestOf(strconv.Itoa(before) + " " + it.Kind.String() + " " + it.Role.String() + " " + it.Agent())
		if e.stays {
			before++
		}
	}
	return tokens
}

// commonSubsequence finds a longest common subsequence. Of several it is the same one whichever
// sequence comes first.
func commonSubsequence(a, b []session.Digest) []int {
	if !needsTurn(a, b) {
		return replay.CommonSubsequence(a, b)
	}
	partners := slices.Repeat([]int{-1}, len(a))
	for j, i := range replay.CommonSubsequence(b, a) {
		if i >= 0 {
			partners[i] = j
		}
	}
	return partners
}

// needsTurn reports whether two sequences are to change places before they are compared.
func needsTurn(a, b []session.Digest) bool {
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

// increasingSubsequence finds a longest increasing subsequence of a permutation of the numbers from 0
// on, as indexes. Of several it is the one with the least sums of index and number, then
// the one that order prefers, so that the inverse permutation has the same one.
func increasingSubsequence(numbers []int, order func(i, j int) int) []int {
	before, after := subsequenceLevels(numbers), make([]int, len(numbers))
	turned := lists.MapEach(numbers, func(n int) int { return -n })
	slices.Reverse(turned)
	for i, level := range subsequenceLevels(turned) {
		after[len(numbers)-1-i] = level
	}
	longest := 0
	for i := range numbers {
		longest = max(longest, before[i]+after[i]+1)
	}
	candidates := make([][]int, longest) // by their place in a longest one
	for i := range numbers {
		if before[i]+after[i]+1 == longest {
			candidates[before[i]] = append(candidates[before[i]], i)
		}
	}
	found := make([]int, 0, longest)
	for _, list := range candidates {
		best := -1
		for _, i := range list {
			if last := len(found) - 1; last >= 0 && (i < found[last] || numbers[i] < numbers[found[last]]) {
				continue
			}
			if best < 0 || cmp.Or(cmp.Compare(i+numbers[i], best+numbers[best]), order(i, best)) < 0 {
				best = i
			}
		}
		found = append(found, best)
	}
	return found
}

// subsequenceLevels is for each number how many can stand before it in an increasing subsequence.
func subsequenceLevels(numbers []int) []int {
	var ends []int // of those of each length, the least last number
	list := make([]int, len(numbers))
	for i, n := range numbers {
		level, _ := slices.BinarySearch(ends, n)
		if level == len(ends) {
			ends = append(ends, n)
		} else {
			ends[level] = n
		}
		list[i] = level
	}
	return list
}

// record is a stored record with what it says: a key alone may have been given out again.
type record struct {
	row  string
	said session.Digest
}

// joinRenamed makes one group of a session that only the first store has and one that only
// the second has, where these share most of their records: it got another id. Of such
// sessions the keys are held.
func (c *Comparison) joinRenamed(ctx context.Context) error {
	if !c.form.Keyed || !c.a.hasOwnSession(c.b) || !c.b.hasOwnSession(c.a) {
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
				c.groups.joinSessions([]string{id, s.ID})
				return
			}
		}
	})
}

// hasOwnSession reports whether a store has a session that the other lacks.
func (s *snapshot) hasOwnSession(other *snapshot) bool {
	for id := range s.states {
		if _, there := other.states[id]; !there {
			return true
		}
	}
	return false
}

// eachAlone hands every session that the other store lacks to fn.
func (s *snapshot) eachAlone(ctx context.Context, other *snapshot, fn func(*session.Session)) error {
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
