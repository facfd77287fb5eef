package diff

import (
	"context"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// snapshot is a store with a digest of every session.
type snapshot struct {
	Source
	trees  int
	roots  []string // the first session of each tree
	states map[string]state
	lost   session.Damage
}

// state is a session in short. Those of two stores are equal only if the sessions are.
type state struct {
	outline session.Digest
	record  string // the digest of its records, where they are compared
	items   int
	known   bool // the digests cover everything
}

// look reads the ids of all sessions, connects those of one tree, and unless no states are
// wanted makes these.
func (s *snapshot) look(ctx context.Context, connect *groups, form Form, idsOnly bool) error {
	s.lost.AddUnread(slices.DeleteFunc(slices.Clone(s.Facts().Faults), ofNoSession), nil)
	for tree, err := range s.Trees(ctx) {
		if err != nil {
			return err
		}
		s.trees++
		s.roots = append(s.roots, tree.Root().ID)
		connect.join(idsOf(tree))
		if !idsOnly && !form.Exact {
			if err := s.Fill(ctx, tree); err != nil {
				return err
			}
		}
		for _, one := range tree.Sessions {
			s.lost.AddUnread(one.Faults, one.Items)
			now := state{items: len(one.Items), known: !form.Exact}
			if !idsOnly {
				now.outline = form.outline(one)
			}
			s.states[one.ID] = now
		}
	}
	if idsOnly || !form.Exact {
		return nil
	}
	return s.sum(ctx)
}

// sum adds the digests of the records, so many sessions at a time: each reading costs a
// pass over the store where that has no index.
func (s *snapshot) sum(ctx context.Context) error {
	const many = 1000
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(s.states)), many) {
		sums, err := s.Store.(store.Summer).Sums(ctx, ids)
		if err != nil {
			return err
		}
		for id, sum := range sums {
			now := s.states[id]
			now.record, now.known = sum.Record, len(sum.Items) == now.items
			s.states[id] = now
		}
	}
	return nil
}

// orphans counts the records that belong to no session.
func (s *snapshot) orphans() int {
	n := 0
	for _, f := range s.Facts().Faults {
		if ofNoSession(f) {
			n += max(f.Count, 1)
		}
	}
	return n
}

// ofNoSession reports whether a fault is about records that belong to no session: these
// are counted.
func ofNoSession(f session.Fault) bool {
	return f.Kind == session.OrphanRecord || f.Kind == session.ForeignKey
}

// groups connects the sessions that belong together in either store: a tree of one may be
// several in the other.
type groups struct {
	numbers map[string]int
	parents []int
}

func newGroups() *groups { return &groups{numbers: map[string]int{}} }

// join makes one group of sessions.
func (g *groups) join(ids []string) {
	first := g.of(ids[0])
	for _, id := range ids {
		g.parents[g.of(id)] = first
	}
}

// of is the group of a session. It is final when all were joined.
func (g *groups) of(id string) int {
	n, known := g.numbers[id]
	if !known {
		n = len(g.parents)
		g.numbers[id], g.parents = n, append(g.parents, n)
	}
	for g.parents[n] != n {
		g.parents[n] = g.parents[g.parents[n]]
		n = g.parents[n]
	}
	return n
}

// parts counts the trees of a store in each group.
func (g *groups) parts(s *snapshot) map[int]int {
	counts := map[int]int{}
	for _, root := range s.roots {
		counts[g.of(root)]++
	}
	return counts
}
