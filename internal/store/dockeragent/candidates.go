package dockeragent

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// glimpse is what the bytes of the rows of a session tell, of which none is decoded.
type glimpse struct {
	lacking uint64 // see store.Options.Lacks
	newest  int64  // its last row
}

// lookInto looks into a row of a session.
func (st *agentStore) lookInto(number uint32, row int64, texts ...[]byte) {
	for int(number) >= len(st.glimpses) {
		st.glimpses = append(st.glimpses, glimpse{lacking: math.MaxUint64})
	}
	g := &st.glimpses[number]
	g.newest = max(g.newest, row)
	for _, text := range texts {
		g.lacking &= st.lacks(text)
	}
}

// candidates are the trees of a store that can hold what is looked for, each of which is read when
// its turn comes.
type candidates struct {
	*agentStore // of all trees, without what rows say
	list        []*session.Tree
}

// findCandidates finds the trees that can hold what is looked for. It gives nothing where damage
// makes it doubt what it saw, or most has to be read: then that is all.
func (st *agentStore) findCandidates(ctx context.Context, lacks func([]byte) uint64) (store.Store, error) {
	of := *st
	of.numbers, of.rowids, of.costs = map[string]uint32{}, map[string]int64{}, map[string]float64{}
	of.lacks, of.facts.Brief, of.facts.NewestFirst = lacks, true, true
	if err := of.readRows(ctx, nil, false); err != nil {
		return nil, err
	}
	of.facts.Brief = false
	found, newest := candidates{&of, nil}, map[*session.Tree]int64{}
	for _, tree := range of.trees {
		lacking := uint64(math.MaxUint64)
		for _, s := range tree.Sessions {
			of.lookInto(of.numbers[s.ID], 0)
			g := of.glimpses[of.numbers[s.ID]]
			lacking, newest[tree] = lacking&g.lacking, max(newest[tree], g.newest)
		}
		if lacking == 0 {
			found.list = append(found.list, tree)
		}
	}
	slices.SortStableFunc(found.list, func(a, b *session.Tree) int {
		return cmp.Or(cmp.Compare(newest[b], newest[a]), cmp.Compare(of.rowids[b.Root().ID], of.rowids[a.Root().ID]))
	})
	rest, err := st.db.UnscannedFaults(ctx)
	of.facts.Faults = append(of.facts.Faults, rest...)
	if err != nil || of.isDamaged() {
		return nil, err
	}
	return found, nil
}

// isDamaged reports whether something of the rows could not be read.
func (st *agentStore) isDamaged() bool {
	isDamage := func(f session.Fault) bool { return f.Kind == session.StoreDamaged }
	of := func(faults []session.Fault) bool { return slices.ContainsFunc(faults, isDamage) }
	return of(st.facts.Faults) || slices.ContainsFunc(st.sessions, func(s *session.Session) bool { return of(s.Faults) }) ||
		slices.ContainsFunc(st.parts, func(p *part) bool {
			for _, faults := range p.faults {
				if of(faults) {
					return true
				}
			}
			return false
		})
}

// Trees implements store.Store.
func (c candidates) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for _, bare := range c.list {
			trees, err := c.readAgain(ctx, bare)
			if err != nil {
				yield(nil, err)
				return
			}
			for tree, err := range trees.Trees(ctx) {
				if !yield(tree, err) {
					return
				}
			}
		}
	}
}

// readAgain reads the rows of a tree, by their numbers.
func (c candidates) readAgain(ctx context.Context, bare *session.Tree) (*agentStore, error) {
	var sessions, items []json.Number
	for _, s := range bare.Sessions {
		if row, ok := c.rowids[s.ID]; ok { // else it is in the column of another one
			sessions = append(sessions, json.Number(strconv.FormatInt(row, 10)))
		}
		for _, p := range c.parts {
			for it := range p.log.Items(c.numbers[s.ID]) {
				if it.Table == tableItems {
					items = append(items, json.Number(it.Key))
				}
			}
		}
	}
	only := subset{}
	for table, rows := range map[string][]json.Number{tableSessions: sessions, tableItems: items} {
		list, _ := json.Marshal(rows) // never fails on numbers
		only[table] = [2]string{c.schema.rowid[table], string(list)}
	}
	st := &agentStore{db: c.db, schema: c.schema, facts: c.facts, numbers: map[string]uint32{}, rowids: map[string]int64{}, costs: map[string]float64{}}
	return st, st.readRows(ctx, only, false)
}
