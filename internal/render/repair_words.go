package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// nothingFor says that there is no plan. Where something is wrong that has no
// repair, it must not sound as if nothing were.
func (r *repairPage) nothingFor(left []*check.Finding) string {
	switch {
	case slices.ContainsFunc(left, func(f *check.Finding) bool { return r.needs(f) != nil && f.Severity > rules.Info }):
		return "Nothing is repaired without your leave."
	case slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Severity > rules.Info }):
		return "There is nothing that sessctl can repair."
	}
	return "There is nothing to repair."
}

// refusedSessions are the sessions whose next request a provider refuses because of what
// is left, in the order of the findings.
func refusedSessions(left []*check.Finding) []string {
	var ids []string
	for _, f := range left {
		if f.Refused() && f.Session != "" && !slices.Contains(ids, f.Session) {
			ids = append(ids, f.Session)
		}
	}
	return ids
}

// refusedStill says that a repair which does all it may does not make every session
// resume.
func refusedStill(left []*check.Finding) document.List {
	ids := refusedSessions(left)
	if len(ids) == 0 {
		return nil
	}
	const most = 3
	named := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		named = append(named, rules.Short(id))
	}
	text := "The next request of " + strings.Join(named, ", ")
	if more := len(ids) - len(named); more > 0 {
		text += " and " + ui.Count(more, "other session")
	}
	return document.List{entry(text + " would still be refused because of what is left.")}
}

// repairsOf counts the repairs of a rule.
func repairsOf(n int, rule string) string {
	if n == 1 {
		return "1 repair of " + rule
	}
	return fmt.Sprintf("%d repairs of %s", n, rule)
}

// triggered says which triggers the database has that its runtime does not make.
func triggered(list []session.Trigger) document.List {
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, t := range list {
		names = append(names, ui.Clean(t.Name)+" ("+strings.TrimSpace(ui.Clean(t.When)+" on "+ui.Clean(t.Table))+")")
	}
	text := "The database has " + ui.Count(len(list), "trigger") + " that its runtime does not make: " + strings.Join(names, ", ") +
		". A session is left out where one would change something besides, or keep undo from working."
	return document.List{entry(text)}
}

// allowable says which repairs are made where somebody allows them: those that are
// likely and not certain, or that cost something.
func (r *repairPage) allowable(left []*check.Finding) document.List {
	var words []string // in the order of the findings
	of := map[string][]string{}
	for _, f := range left {
		key := strings.Join(r.needs(f), ",")
		if key == "" {
			continue
		}
		if of[key] == nil {
			words = append(words, key)
		}
		of[key] = append(of[key], f.Rule.ID)
	}
	var list document.List
	for _, key := range words {
		count := len(of[key])
		slices.Sort(of[key])
		said := fmt.Sprintf("--allow %s would repair %d of these (%s).", key, count, strings.Join(slices.Compact(of[key]), ", "))
		list = append(list, entry(said))
	}
	return list
}

// needs are the words of --allow with which a finding would be repaired: nil where all of
// them were given, and something else is in the way.
func (r *repairPage) needs(f *check.Finding) []string {
	if slices.ContainsFunc(f.Allow(), func(word string) bool { return !slices.Contains(r.Allowed, word) }) {
		return f.Allow()
	}
	return nil
}

// listing is the command that lists what is left.
func (r *repairPage) listing(left []*check.Finding) string {
	if slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Rule.Deep }) {
		return r.Check + " --deep"
	}
	return r.Check
}

// accounted holds the items that there were against those that are stored or
// left with a reason.
func accounted(l repair.Ledger) string {
	text := ui.Number(l.After-l.Synthetic+l.Quarantined+l.Removed) + " of " + ui.Count(l.Before, "item") + " accounted for"
	if l.Synthetic > 0 {
		text += ", " + ui.Number(l.Synthetic) + " added"
	}
	if l.Edited > 0 {
		text += ", " + ui.Number(l.Edited) + " changed"
	}
	return text
}

// firstChanges say where the next request of every changed session begins to differ
// from the last one, and what that costs.
func firstChanges(changes []repair.FirstChange) document.Facts {
	var facts document.Facts
	for _, c := range changes {
		text := "From item " + strconv.Itoa(c.Item) + " of " + stepPlace(c.Session, -1) + " on, the prompt cache is void."
		if c.Signed != nil {
			text += " Item " + strconv.Itoa(*c.Signed) + storedIn(c) + " holds thinking that its provider signed: the" + refusesThinking[len("The"):]
		}
		facts = append(facts, words(text))
	}
	return facts
}

const refusesThinking = "The newest Claude models refuse it after a change before it (SC505)."

// storedIn names the session of an item that a repair moves into another one.
func storedIn(c repair.FirstChange) string {
	if c.SignedIn == "" {
		return ""
	}
	return " of " + stepPlace(c.SignedIn, -1)
}

// tallyOf says how much a plan changes, and what leaves the store.
func tallyOf(plan *repair.Plan) document.Paragraph {
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
	return say(ui.Count(plan.Edits(), "edit")+" in "+ui.Count(len(plan.Trees), "session")+", ", span(document.Strong, safety.String()), ": ",
		leaving(copies, items, results)+changing(plan.Edited()))
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
