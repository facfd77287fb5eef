package diff

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Source is a store that is compared.
type Source struct {
	store.Store
	Keyed bool // its records keep their keys as long as they are stored
}

// Comparison is two stores whose sessions were looked through.
type Comparison struct {
	a, b    *snapshot
	form    Form
	groups  *groups
	differs map[int]bool // the groups that are compared item by item
	limited bool         // to the group of one session
	damage  error        // why no records are compared, nil where they are
}

// CompareStores goes through both stores and finds out which trees may differ. only names a
// session to whose tree the comparison is limited, "" for all. Between stores of one form
// that needs no texts; else they are loaded, those of one tree at a time. Where the records
// of a store cannot be read, only what can be is compared: see Damage.
func CompareStores(ctx context.Context, a, b Source, only string) (*Comparison, error) {
	c := &Comparison{form: formOf(a, b), differs: map[int]bool{}, limited: only != ""}
	err := c.takeSnapshots(ctx, a, b)
	if c.dropUnreadable(err) {
		err = c.takeSnapshots(ctx, a, b)
	}
	if err != nil {
		return nil, err
	}
	if err := c.joinRenamed(ctx); err != nil {
		return nil, err
	}
	if c.limited {
		c.differs[c.groups.groupOf(only)] = true
		return c, nil
	}
	for _, pair := range [][2]*snapshot{{c.a, c.b}, {c.b, c.a}} {
		for id, was := range pair[0].states {
			if is, there := pair[1].states[id]; !there || !was.known || was != is {
				c.differs[c.groups.groupOf(id)] = true
			}
		}
	}
	return c, nil
}

func (c *Comparison) takeSnapshots(ctx context.Context, a, b Source) error {
	c.groups = &groups{numbers: map[string]int{}}
	c.a, c.b = &snapshot{Source: a, states: map[string]state{}}, &snapshot{Source: b, states: map[string]state{}}
	for _, s := range []*snapshot{c.a, c.b} {
		if err := s.readSessions(ctx, c.groups, c.form, c.limited); err != nil {
			return err
		}
	}
	return nil
}

// dropUnreadable reports whether an error kept records from being compared. From then on none
// are.
func (c *Comparison) dropUnreadable(err error) bool {
	if !c.form.Exact || problem.ClassOf(err) != problem.Unreadable {
		return false
	}
	c.form.Exact, c.damage = false, err
	return true
}

// Damage is why the stored records were not compared although both stores are of one form,
// but only what sessions and items say: a part of one cannot be read. nil where they were.
func (c *Comparison) Damage() error { return c.damage }

func formOf(a, b Source) Form {
	was, is := a.Facts(), b.Facts()
	_, first := a.Store.(store.Summer)
	_, second := b.Store.(store.Summer)
	alike := was.Kind == is.Kind
	return Form{
		Keyed: alike && a.Keyed && b.Keyed, Alike: alike,
		Exact:   alike && was.Generation == is.Generation && first && second,
		Assumed: [2]string{was.Model, is.Model},
	}
}

// Sizes are the numbers of trees in the first and in the second store.
func (c *Comparison) Sizes() (a, b int) { return c.a.trees, c.b.trees }

// Incomplete are the reasons why the first and the second store are not compared whole,
// "" where all of one was read.
func (c *Comparison) Incomplete() (a, b string) {
	return cmp.Or(c.a.Facts().Incomplete, c.a.lost.String()), cmp.Or(c.b.Facts().Incomplete, c.b.lost.String())
}

// Orphans are the numbers of records in the first and in the second store that belong to no
// session, as far as their adapters tell them one by one.
func (c *Comparison) Orphans() (a, b int) {
	if c.limited {
		return 0, 0
	}
	return c.a.countOrphans(), c.b.countOrphans()
}

// EachTree hands every tree that differs to fn: in the order of the second store, then those
// that only the first has. Of the first store the outlines of these trees are held, bodies
// of one tree at a time.
func (c *Comparison) EachTree(ctx context.Context, fn func(*Tree) error) (Tally, error) {
	var tally Tally
	before, order, err := c.collectTrees(ctx, c.a)
	if err != nil {
		return tally, err
	}
	c.countEqual(&tally)
	parts := c.groups.countTrees(c.b)
	after := map[int][]*session.Tree{}
	for tree, err := range c.b.Trees(ctx) {
		if err != nil {
			return tally, err
		}
		group := c.groups.groupOf(tree.Root().ID)
		if !c.differs[group] {
			continue
		}
		if after[group] = append(after[group], tree); len(after[group]) < parts[group] {
			continue
		}
		if err := c.compareGroup(ctx, before[group], after[group], &tally, fn); err != nil {
			return tally, err
		}
		delete(before, group)
		delete(after, group)
	}
	for _, group := range order {
		if trees := before[group]; trees != nil {
			if err := c.compareGroup(ctx, trees, nil, &tally, fn); err != nil {
				return tally, err
			}
			delete(before, group)
		}
	}
	return tally, nil
}

// collectTrees reads the outlines of the trees that may differ, by group.
func (c *Comparison) collectTrees(ctx context.Context, s *snapshot) (trees map[int][]*session.Tree, order []int, err error) {
	trees = map[int][]*session.Tree{}
	for tree, err := range s.Trees(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if group := c.groups.groupOf(tree.Root().ID); c.differs[group] {
			if trees[group] == nil {
				order = append(order, group)
			}
			trees[group] = append(trees[group], tree)
		}
	}
	return trees, order, nil
}

// compareGroup compares the trees of a group.
func (c *Comparison) compareGroup(ctx context.Context, a, b []*session.Tree, tally *Tally, fn func(*Tree) error) error {
	for _, part := range []struct {
		from  *snapshot
		trees []*session.Tree
	}{{c.a, a}, {c.b, b}} {
		for _, tree := range part.trees {
			if err := part.from.Fill(ctx, tree); err != nil {
				return err
			}
		}
	}
	sums, err := c.readSums(ctx, a, b)
	if err != nil && !c.dropUnreadable(err) {
		return err
	}
	tree, counted := CompareTrees(a, b, c.form, sums)
	tally.Add(counted)
	if tree == nil {
		return nil
	}
	return fn(tree)
}

// readSums reads the digests of trees, where records are compared.
func (c *Comparison) readSums(ctx context.Context, a, b []*session.Tree) (sums Sums, err error) {
	if !c.form.Exact {
		return sums, nil
	}
	if sums.A, err = c.a.Store.(store.Summer).Sums(ctx, slices.Concat(lists.MapEach(a, idsOf)...)); err != nil {
		return Sums{}, err
	}
	if sums.B, err = c.b.Store.(store.Summer).Sums(ctx, slices.Concat(lists.MapEach(b, idsOf)...)); err != nil {
		return Sums{}, err
	}
	return sums, nil
}

// countEqual takes in the trees that are equal.
func (c *Comparison) countEqual(tally *Tally) {
	if c.limited {
		return
	}
	seen := map[int]bool{}
	for id, s := range c.b.states {
		group := c.groups.groupOf(id)
		if c.differs[group] {
			continue
		}
		tally.Sessions.Equal++
		tally.Items.Equal += s.items
		if !seen[group] {
			seen[group] = true
			tally.Trees.Equal++
		}
	}
}

func idOf(s *session.Session) string { return s.ID }

func idsOf(tree *session.Tree) []string { return lists.MapEach(tree.Sessions, idOf) }

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

// readSessions reads the ids of all sessions, connects those of one tree, and unless no states are
// wanted makes these.
func (s *snapshot) readSessions(ctx context.Context, connect *groups, form Form, idsOnly bool) error {
	s.lost.AddUnread(slices.DeleteFunc(slices.Clone(s.Facts().Faults), ofNoSession), nil)
	for tree, err := range s.Trees(ctx) {
		if err != nil {
			return err
		}
		s.trees++
		s.roots = append(s.roots, tree.Root().ID)
		connect.joinSessions(idsOf(tree))
		if !idsOnly && !form.Exact {
			if err := s.Fill(ctx, tree); err != nil {
				return err
			}
		}
		for _, one := range tree.Sessions {
			s.lost.AddUnread(one.Faults, one.Items)
			now := state{items: len(one.Items), known: !form.Exact}
			if !idsOnly {
				now.outline = form.outlineDigest(one)
			}
			s.states[one.ID] = now
		}
	}
	if idsOnly || !form.Exact {
		return nil
	}
	return s.addDigests(ctx)
}

// addDigests adds the digests of the records, so many sessions at a time: each reading costs a
// pass over the store where that has no index.
func (s *snapshot) addDigests(ctx context.Context) error {
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

// countOrphans counts the records that belong to no session.
func (s *snapshot) countOrphans() int {
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

// joinSessions makes one group of sessions.
func (g *groups) joinSessions(ids []string) {
	first := g.groupOf(ids[0])
	for _, id := range ids {
		g.parents[g.groupOf(id)] = first
	}
}

// groupOf is the group of a session. It is final when all were joined.
func (g *groups) groupOf(id string) int {
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

// countTrees counts the trees of a store in each group.
func (g *groups) countTrees(s *snapshot) map[int]int {
	counts := map[int]int{}
	for _, root := range s.roots {
		counts[g.groupOf(root)]++
	}
	return counts
}
