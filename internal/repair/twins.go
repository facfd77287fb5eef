package repair

import "github.com/sessctl/sessctl/internal/session"

// keepWithoutCopy turns the removal of a twin into quarantine where its copy
// leaves in a later round: then nothing that stays has the same bytes.
func keepWithoutCopy(fixes []Fix) {
	left := map[string]*session.Place{} // where a copy of what left stays, by the record that left
	for i := len(fixes) - 1; i >= 0; i-- {
		edits, steps := fixes[i].Edits, fixes[i].Steps
		for n := len(edits) - 1; n >= 0; n-- {
			e, step := &edits[n], &steps[n]
			if e.Op != session.RemoveTwin && e.Op != session.Quarantine {
				continue
			}
			if copied, gone := left[whole(e.Twin)]; gone {
				e.Op, step.Op, step.Twin = session.Quarantine, session.Quarantine, copied
			}
			left[whole(e.Ref)] = step.Twin
		}
	}
}
