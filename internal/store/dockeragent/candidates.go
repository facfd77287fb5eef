package dockeragent

import (
	"context"
	"math"

	"github.com/sessctl/sessctl/internal/session"
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

// candidates are the sessions of the trees that can hold what is looked for, nil for all.
type candidates struct {
	sessions map[string]bool
	newest   map[string]int64 // the last row of each tree, by its root
	faults   []session.Fault  // of the store
}

// findCandidates reads the links between all sessions, and looks into their rows. Where something of
// them is damaged, nothing is left out.
func (st *agentStore) findCandidates(ctx context.Context, lacks func([]byte) uint64) (*candidates, error) {
	of := *st
	of.numbers, of.rowids, of.costs = map[string]uint32{}, map[string]int64{}, map[string]float64{}
	of.lacks, of.facts.Brief = lacks, true
	if err := of.readRows(ctx, nil, false); err != nil {
		return nil, err
	}
	var damage session.Damage
	damage.AddFaults(of.facts.Faults)
	for _, p := range of.parts {
		for _, faults := range p.faults {
			damage.AddFaults(faults)
		}
	}
	found := &candidates{map[string]bool{}, map[string]int64{}, of.facts.Faults}
	for _, tree := range of.trees {
		all := glimpse{lacking: math.MaxUint64}
		for _, s := range tree.Sessions {
			of.lookInto(of.numbers[s.ID], 0)
			g := of.glimpses[of.numbers[s.ID]]
			all = glimpse{all.lacking & g.lacking, max(all.newest, g.newest)}
			damage.AddFaults(s.Faults)
		}
		found.newest[tree.Root().ID] = all.newest
		for _, s := range tree.Sessions {
			if all.lacking == 0 {
				found.sessions[s.ID] = true
			}
		}
	}
	if damage.Count > 0 {
		found.sessions = nil
	}
	return found, nil
}
