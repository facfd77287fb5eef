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
	return text + leaving(copies, leave) + changing(plan.Edited())
}

// leaving says how many items leave the store, and what stays of them.
func leaving(copies, leave int) string {
	switch {
	case copies+leave == 0:
		return "every item stays in the store."
	case leave == 0:
		return itemsLeave(copies) + " the store, and a copy of each stays."
	}
	text := itemsLeave(copies+leave) + " the store for the receipt"
	if copies > 0 {
		text += ", " + ui.Number(copies) + " of them with a copy that stays"
	}
	return text + "."
}

// changing says how many items say something else afterwards.
func changing(edited int) string {
	switch edited {
	case 0:
		return ""
	case 1:
		return " 1 item changes, and the receipt keeps it as it was."
	}
	return " " + ui.Number(edited) + " items change, and the receipt keeps them as they were."
}

func itemsLeave(n int) string {
	if n == 1 {
		return "1 item leaves"
	}
	return ui.Number(n) + " items leave"
}
