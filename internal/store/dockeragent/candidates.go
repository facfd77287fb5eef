package dockeragent

import (
	"context"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// lookInto looks into a row of a session.
func (st *agentStore) lookInto(number uint32, row int64, texts ...[]byte) {
	for int(number) >= len(st.glimpses) {
		st.glimpses = append(st.glimpses, store.Glimpse{})
	}
	st.glimpses[number].Look(st.lacks, row, texts...)
}

// findCandidates reads the links between all sessions and looks into their rows: wanted are the sessions
// of the trees that can hold what is looked for, by the place of their tree among these. Where
// something is damaged, that is nil: nothing is left out. The faults are those of the store.
func (st *agentStore) findCandidates(ctx context.Context, lacks func([]byte) uint64) (wanted map[string]int, faults []session.Fault, err error) {
	of := *st
	of.numbers, of.rowids, of.costs = map[string]uint32{}, map[string]int64{}, map[string]float64{}
	of.lacks, of.facts.Brief = lacks, true
	if err := of.readRows(ctx, nil, false); err != nil {
		return nil, nil, err
	}
	var damage session.Damage
	damage.AddFaults(of.facts.Faults)
	for _, s := range of.sessions {
		damage.AddFaults(s.Faults)
	}
	for _, p := range of.parts {
		for _, faults := range p.faults {
			damage.AddFaults(faults)
		}
	}
	if damage.Count > 0 {
		return nil, nil, nil
	}
	wanted = map[string]int{}
	for i, tree := range store.NewestTrees(of.trees, func(s *session.Session) store.Glimpse {
		of.lookInto(of.numbers[s.ID], 0)
		return of.glimpses[of.numbers[s.ID]]
	}) {
		for _, s := range tree.Sessions {
			wanted[s.ID] = i
		}
	}
	return wanted, of.facts.Faults, nil
}

// isWanted reports whether a session is read.
func (st *agentStore) isWanted(id string) bool {
	_, wanted := st.wanted[id]
	return wanted || st.wanted == nil
}
