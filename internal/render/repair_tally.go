package render

import (
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// tallyOf says how much a plan changes, and what leaves the store.
func tallyOf(plan *repair.Plan) string {
	copies, leave, safety := 0, 0, rules.Lossless.String()
	for _, t := range plan.Trees {
		for _, f := range t.Fixes {
			if f.Safety == rules.Lossy.String() || f.Safety == rules.Kept.String() && safety == rules.Lossless.String() {
				safety = f.Safety
			}
			for _, e := range f.Edits {
				switch e.Op {
				case session.RemoveTwin:
					copies++
				case session.Quarantine:
					leave++
				}
			}
		}
	}
	text := ui.Count(plan.Edits(), "edit") + " in " + ui.Count(len(plan.Trees), "session") + ", " + ui.Bold.Render(safety) + ": "
	switch {
	case copies+leave == 0:
		return text + "every item stays in the store."
	case leave == 0:
		return text + itemsLeave(copies) + " the store, and a copy of each stays."
	}
	text += itemsLeave(copies+leave) + " the store for the receipt"
	if copies > 0 {
		text += ", " + ui.Number(copies) + " of them with a copy that stays"
	}
	return text + "."
}

func itemsLeave(n int) string {
	if n == 1 {
		return "1 item leaves"
	}
	return ui.Number(n) + " items leave"
}
