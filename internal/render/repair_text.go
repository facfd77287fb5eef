package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// repairText prints for people: the same on a terminal and in a pipe, but for
// colour and the excerpts.
type repairText struct {
	RepairOptions
	plan  *repair.Plan
	asked bool // then the path of the backup was shown
}

func (r *repairText) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	var out strings.Builder
	r.plan = plan
	if !r.Quiet {
		r.head(&out, store)
	}
	if plan.Empty() {
		if !r.Quiet {
			out.WriteString(r.nothingFor(left))
		}
	} else {
		r.trees(&out, plan)
		out.WriteString(ui.Hang("", "", tallyOf(plan), r.Screen.TextWidth()))
	}
	if !r.Quiet {
		r.foot(&out, plan, store, left)
	}
	_, err := io.WriteString(r.Screen, out.String())
	return err
}

// nothingFor says that there is no plan. Where something is wrong that has no
// repair, it must not sound as if nothing were.
func (r *repairText) nothingFor(left []*check.Finding) string {
	switch {
	case slices.ContainsFunc(left, func(f *check.Finding) bool { return r.needs(f) != nil && f.Severity > rules.Info }):
		return "Nothing is repaired without your leave.\n"
	case slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Severity > rules.Info }):
		return "There is nothing that sessctl can repair.\n"
	}
	return "There is nothing to repair.\n"
}

// foot says what stays as it is, and what damages new sessions again.
func (r *repairText) foot(out *strings.Builder, plan *repair.Plan, store *session.Store, left []*check.Finding) {
	for _, t := range plan.Refused {
		why := "Not repaired: session " + ui.Clean(rules.Short(t.Root)) + ": " + ui.Ended(ui.Clean(t.Why))
		if t.Rule != "" {
			why = "Left out: " + repairsOf(t.Count, t.Rule) + " in session " + ui.Clean(rules.Short(t.Root)) + ": " + ui.Ended(ui.Clean(t.Why))
		}
		out.WriteString(ui.Hang("", "  ", why, r.Screen.TextWidth()))
	}
	for _, l := range plan.Later {
		again := fmt.Sprintf("After this repair, look at session %s and run the repair again: it will have %s to make.",
			ui.Clean(rules.Short(l.Root)), repairsOf(l.Count, l.Rule))
		out.WriteString(ui.Hang("", "  ", again, r.Screen.TextWidth()))
	}
	if len(left) > 0 {
		what, where := "Left as it is: "+severities(left), r.listing(left)
		if !plan.Empty() { // some of these are found only when the repair is done
			what, where = "After this repair, "+severities(left)+" will remain", "then: "+where
		}
		out.WriteString(what + "  (" + ui.Clean(where) + ")\n")
		out.WriteString(r.allowable(left))
		out.WriteString(refusedStill(left, r.Screen.TextWidth()))
	}
	if !plan.Empty() {
		out.WriteString(triggered(store.Triggers, r.Screen.TextWidth()))
		for _, advice := range store.Advice {
			out.WriteString(ui.Hang("", "", ui.Clean(advice), r.Screen.TextWidth()))
		}
	}
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
func refusedStill(left []*check.Finding, width int) string {
	ids := refusedSessions(left)
	if len(ids) == 0 {
		return ""
	}
	const most = 3
	named := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		named = append(named, ui.Clean(rules.Short(id)))
	}
	text := "The next request of " + strings.Join(named, ", ")
	if more := len(ids) - len(named); more > 0 {
		text += " and " + ui.Count(more, "other session")
	}
	return ui.Hang("", "  ", text+" would still be refused because of what is left.", width)
}

// repairsOf counts the repairs of a rule.
func repairsOf(n int, rule string) string {
	if n == 1 {
		return "1 repair of " + rule
	}
	return fmt.Sprintf("%d repairs of %s", n, rule)
}

// triggered says which triggers the database has that its runtime does not make.
func triggered(list []session.Trigger, width int) string {
	if len(list) == 0 {
		return ""
	}
	var names []string
	for _, t := range list {
		names = append(names, ui.Clean(t.Name)+" ("+strings.TrimSpace(ui.Clean(t.When)+" on "+ui.Clean(t.Table))+")")
	}
	text := "The database has " + ui.Count(len(list), "trigger") + " that its runtime does not make: " + strings.Join(names, ", ") +
		". A session is left out where one would change something besides, or keep undo from working."
	return ui.Hang("", "  ", text, width)
}

// allowable says which repairs are made where somebody allows them: those that are
// likely and not certain, or that cost something.
func (r *repairText) allowable(left []*check.Finding) string {
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
	text := ""
	for _, key := range words {
		count := len(of[key])
		slices.Sort(of[key])
		said := fmt.Sprintf("--allow %s would repair %d of these (%s).", key, count, strings.Join(slices.Compact(of[key]), ", "))
		text += ui.Hang("", "  ", said, r.Screen.TextWidth())
	}
	return text
}

// needs are the words of --allow with which a finding would be repaired: nil where all of
// them were given, and something else is in the way.
func (r *repairText) needs(f *check.Finding) []string {
	if slices.ContainsFunc(f.Allow(), func(word string) bool { return !slices.Contains(r.Allowed, word) }) {
		return f.Allow()
	}
	return nil
}

// listing is the command that lists what is left.
func (r *repairText) listing(left []*check.Finding) string {
	if slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Rule.Deep }) {
		return r.Check + " --deep"
	}
	return r.Check
}

// head names the store.
func (r *repairText) head(out *strings.Builder, s *session.Store) {
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	facts = append(facts, ui.Bytes(s.Bytes))
	out.WriteString(ui.Bold.Render(storeName(s, r.Home)) + "\n")
	out.WriteString(ui.Hang("  ", "  ", strings.Join(facts, ", "), r.Screen.TextWidth()))
	if live := writer(s); live != "" {
		out.WriteString(ui.Hang("  ", "  ", live, r.Screen.TextWidth()))
	}
	out.WriteString("\n")
}

// trees prints the plan, up to the greatest number of steps.
func (r *repairText) trees(out *strings.Builder, plan *repair.Plan) {
	room, hidden := r.MaxSteps, 0
	if room == 0 {
		room = plan.Edits()
	}
	for _, t := range plan.Trees {
		if room <= 0 {
			hidden += editsOf(t)
			continue
		}
		id := ui.Clean(rules.Short(t.Root))
		out.WriteString(ui.Bold.Render(id) + "  " + ui.Truncate(title(t.Title), r.Screen.TextWidth()-lipgloss.Width(id)-2) + "\n")
		for i := range t.Fixes {
			shown := min(max(room, 0), len(t.Fixes[i].Edits))
			if room > 0 {
				r.fix(out, &t.Fixes[i], shown)
			}
			room, hidden = room-shown, hidden+len(t.Fixes[i].Edits)-shown
		}
		r.first(out, "  ", t.First)
		out.WriteString("\n")
	}
	if hidden > 0 {
		fmt.Fprintf(out, "…and %s more (--format json lists all)\n\n", ui.Count(hidden, "step"))
	}
}

// fix prints one fix: a line that greps, what it does, and its steps. A plan
// that was read from a file has none.
func (r *repairText) fix(out *strings.Builder, f *repair.Fix, shown int) {
	name := ""
	if rule := rules.Find(f.Rule); rule != nil {
		name = " " + rule.Name
	}
	at := stepPlace(f.Session, f.Item)
	if at == "" {
		at = "store"
	}
	fmt.Fprintf(out, "  %s%s  %s  %s\n", ui.Bold.Render(ui.Clean(f.Rule)), name, ui.Cyan.Render(at), f.Safety.String())
	out.WriteString(ui.Hang("    ", "    ", ui.Sentence(ui.Clean(f.Title)), r.Screen.TextWidth()))
	out.WriteString(stepLines(f.Steps[:min(shown, len(f.Steps))], r.Content, r.Screen.TextWidth()))
}

func editsOf(t *repair.Tree) int {
	n := 0
	for i := range t.Fixes {
		n += len(t.Fixes[i].Edits)
	}
	return n
}
