package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// tallyOf says how much a plan changes, and what leaves the store.
func tallyOf(plan *repair.Plan) string {
	copies, items, results, safety := 0, 0, 0, rules.Lossless
	for _, t := range plan.Trees {
		for _, f := range t.Fixes {
			if f.Safety <= rules.Lossy {
				safety = max(safety, f.Safety)
			}
			for _, e := range f.Edits {
				switch {
				case e.Op == session.RemoveTwin:
					copies++
				case e.Op == session.Quarantine && e.Ref.Pointer != "":
					results++
				case e.Op == session.Quarantine:
					items++
				}
			}
		}
	}
	text := ui.Count(plan.Edits(), "edit") + " in " + ui.Count(len(plan.Trees), "session") + ", " + ui.Bold.Render(safety.String()) + ": "
	return text + leaving(copies, items, results) + changing(plan.Edited())
}

// leaving says how many items and how many results of items leave the store, and
// what stays of them.
func leaving(copies, items, results int) string {
	verb := " leave"
	if copies+items+results == 1 {
		verb = " leaves"
	}
	var what []string
	if copies+items > 0 {
		what = append(what, ui.Count(copies+items, "item"))
	}
	if results > 0 {
		what = append(what, ui.Count(results, "result"))
	}
	switch {
	case len(what) == 0:
		return "every item stays in the store."
	case items+results == 0:
		return what[0] + verb + " the store, and a copy of each stays."
	}
	text := strings.Join(what, " and ") + verb + " the store for the receipt"
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
