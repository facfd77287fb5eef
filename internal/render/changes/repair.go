// Package changes prints what a repair changes, and in what two stores differ.
package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Repair makes the writer of a format: text or json.
func Repair(format string, opts render.RepairOptions) render.RepairWriter {
	if format == "json" {
		return machine.Repair(opts)
	}
	return &repairPage{RepairOptions: opts, print: document.New(format, opts.Screen)}
}

// repairPage prints for people: the same on a terminal and in a pipe, but for
// colour and the excerpts.
type repairPage struct {
	render.RepairOptions
	print document.Printer
	plan  *repair.Plan
	asked bool // then the path of the backup was shown
}

func (r *repairPage) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	var doc document.Document
	r.plan = plan
	if !r.Quiet {
		doc = r.head(store)
	}
	if !plan.Empty() {
		doc = append(append(doc, r.trees(plan)...), tallyOf(plan))
	} else if !r.Quiet {
		doc = append(doc, render.Say(r.nothingFor(left)))
	}
	if !r.Quiet {
		doc = append(doc, r.foot(plan, store, left)...)
	}
	return r.print(doc)
}

// head names the store.
func (r *repairPage) head(s *session.Store) document.Document {
	facts := document.Facts{document.Words(strings.Join(render.StoreFacts(s), ", "))}
	if live := render.Writer(s); live != "" {
		facts = append(facts, document.Words(live))
	}
	return document.Document{document.Heading{Level: 2, Text: render.NameOf(s, r.Home)}, facts, document.Gap{}}
}

// trees is the plan, up to the greatest number of steps.
func (r *repairPage) trees(plan *repair.Plan) document.Document {
	var doc document.Document
	room, hidden := r.MaxSteps, 0
	if room == 0 {
		room = plan.Edits()
	}
	for _, t := range plan.Trees {
		if room <= 0 {
			for i := range t.Fixes {
				hidden += len(t.Fixes[i].Edits)
			}
			continue
		}
		doc = append(doc, render.SessionHeading(t.Root, t.Title))
		for i := range t.Fixes {
			shown := min(max(room, 0), len(t.Fixes[i].Edits))
			if room > 0 {
				doc = append(doc, r.fix(&t.Fixes[i], shown)...)
			}
			room, hidden = room-shown, hidden+len(t.Fixes[i].Edits)-shown
		}
		doc = append(doc, firstChanges(t.First), document.Gap{})
	}
	if hidden > 0 {
		doc = append(doc, render.Say("…and "+ui.Count(hidden, "step")+" more (--format json lists all)"), document.Gap{})
	}
	return doc
}

// fix is one fix: a line that greps, what it does, and its steps. A plan that was read
// from a file has none.
func (r *repairPage) fix(f *repair.Fix, shown int) document.Document {
	head := document.Finding{
		Rule: f.Rule, Place: cmp.Or(stepPlace(f.Session, f.Item), "store"), Note: f.Safety.String(), Message: document.Words(ui.Sentence(ui.Clean(f.Title))),
	}
	if rule := catalogue.Find(f.Rule); rule != nil {
		head.Name = rule.Name
	}
	var steps document.Changes
	for i := range f.Steps[:min(shown, len(f.Steps))] {
		step := stepChange(&f.Steps[i], r.Content)
		if f.Joins && f.Steps[i].Op == session.Insert {
			step.Note = strings.TrimPrefix(step.Note+", in the same message", ", ")
		}
		steps = append(steps, step)
	}
	return document.Document{head, steps}
}

// foot says what stays as it is, and what damages new sessions again.
func (r *repairPage) foot(plan *repair.Plan, store *session.Store, left []*check.Finding) document.Document {
	var list document.List
	for _, t := range plan.Refused {
		what := "Not repaired: session "
		if t.Rule != "" {
			what = "Left out: " + repairsOf(t.Count, t.Rule) + " in session "
		}
		list = append(list, render.Entry(what+rules.Short(t.Root)+": "+ui.Ended(ui.Clean(t.Why))))
	}
	for _, l := range plan.Later {
		list = append(list, render.Entry(fmt.Sprintf("After this repair, look at session %s and run the repair again: it will have %s to make.",
			rules.Short(l.Root), repairsOf(l.Count, l.Rule))))
	}
	doc := document.Document{list}
	if len(left) > 0 {
		what, where := document.Words("Left as it is: ", render.Severities(left)), r.listing(left)
		if !plan.Empty() { // some of these are found only when the repair is done
			what, where = document.Words("After this repair, ", render.Severities(left), " will remain"), "then: "+where
		}
		doc = append(doc, document.Line(document.Words(what, "  ("+where+")")), append(r.allowable(left), refusedStill(left)...))
	}
	if plan.Empty() {
		return doc
	}
	doc = append(doc, triggered(store.Triggers))
	for _, advice := range store.Advice {
		doc = append(doc, render.Say(advice))
	}
	return doc
}

func (r *repairPage) Ask(backup string, bytes int64) error {
	r.asked = true
	return r.print(document.Document{document.Gap{}, document.Line(document.Words("Backup: " + ui.Tilde(backup, r.Home) + " (" + ui.Bytes(bytes) + ")"))})
}

// Close prints what became of the plan. What has to be copied stands on a line
// of its own, whole.
func (r *repairPage) Close(o render.Outcome) error {
	switch {
	case o.Applied:
		return r.print(r.applied(o))
	case len(o.Next) > 0 && !r.Quiet:
		return r.print(document.Document{document.Commands{Lead: "Nothing was changed. Next:", List: o.Next}})
	}
	return nil
}

func (r *repairPage) applied(o render.Outcome) document.Document {
	done := document.Text{}
	for _, what := range []string{"backed up", "applied", "verified: " + accounted(*o.Ledger)} {
		if what != "backed up" || o.Backup != "" {
			done = append(done, render.Span(document.Good, "✓"), document.Span{Text: " " + what + "  "})
		}
	}
	doc := append(document.Document{document.Paragraph(done), r.leftOut(o.LeftOut)}, r.firstOfAll(o.LeftOut))
	line := func(text string) { doc = append(doc, document.Line(document.Words(text))) }
	if o.Output != "" {
		line("Written to: " + ui.Tilde(o.Output, r.Home))
		line("What left:  " + ui.Tilde(o.Receipt, r.Home))
		line("The store itself was not changed.")
		return doc
	}
	if o.Backup != "" && !r.asked {
		line("Backup: " + ui.Tilde(o.Backup, r.Home))
	}
	for _, n := range o.Next {
		line("Undo with: " + n.Line)
	}
	return doc
}

// leftOut names the sessions that could not be repaired.
func (r *repairPage) leftOut(list []repair.LeftOut) document.List {
	var items document.List
	for i, l := range list {
		if i == r.MaxSteps && r.MaxSteps > 0 {
			return append(items, render.Entry("…and "+ui.Count(len(list)-i, "session")+" more left out (--format json lists all)"))
		}
		text := "Left out: session " + rules.Short(l.Root) + " is as before: " + ui.Ended(ui.Clean(l.Why))
		if l.Next != "" {
			text += " " + ui.Sentence(ui.Clean(l.Next))
		}
		items = append(items, render.Entry(text))
	}
	return items
}

// firstOfAll says where the next requests of all trees that were changed begin to differ,
// in short.
func (r *repairPage) firstOfAll(leftOut []repair.LeftOut) document.List {
	var changed, signed []string
	for _, t := range r.plan.Trees {
		if slices.ContainsFunc(leftOut, func(l repair.LeftOut) bool { return l.Root == t.Root }) {
			continue
		}
		for _, c := range t.First {
			changed = append(changed, stepPlace(c.Session, c.Item))
			if c.Signed != nil {
				signed = append(signed, stepPlace(cmp.Or(c.SignedIn, c.Session), *c.Signed))
			}
		}
	}
	var list document.List
	if len(changed) > 0 {
		list = append(list, render.Entry("The prompt cache is void from here on: "+r.some(changed)+"."))
	}
	if len(signed) > 0 {
		list = append(list, render.Entry("Signed thinking follows: "+r.some(signed)+". "+refusesThinking))
	}
	return list
}

// some lists words, no more than steps may be shown.
func (r *repairPage) some(words []string) string {
	if r.MaxSteps == 0 || len(words) <= r.MaxSteps {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:r.MaxSteps], ", ") + " and " + ui.Number(len(words)-r.MaxSteps) + " more"
}
