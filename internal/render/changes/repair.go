// Package changes prints what a repair changes, and in what two stores differ.
package changes

import (
	"cmp"
	"fmt"
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
	asked bool // then the path of the backup was shown
}

func (r *repairPage) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	var doc document.Document
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
		doc = append(doc, firstChanges(t), document.Gap{})
	}
	if hidden > 0 {
		doc = append(doc, render.Say(moreSteps(hidden)), document.Gap{})
	}
	return doc
}

func moreSteps(n int) string {
	return "…and " + ui.Count(n, "more step") + " (--max-findings 0 shows all)"
}

// longestFix is how many steps of a fix are shown, so that the plan for a session is one
// screen.
const longestFix = 6

// fix is one fix: a line that greps, what it does, and its steps. A plan that was read
// from a file has none.
func (r *repairPage) fix(f *repair.Fix, shown int) document.Document {
	head := document.Finding{
		Rule: f.Rule, Place: cmp.Or(stepPlace(f.Session, f.Item), "store"), Message: document.Words(ui.Sentence(ui.Clean(f.Title))),
	}
	if rule := catalogue.Find(f.Rule); rule != nil {
		head.Name = rule.Name
	}
	var steps document.Changes
	var more document.Quotation
	shown = min(shown, len(f.Steps))
	if r.MaxSteps > 0 && shown > longestFix {
		shown, more = longestFix-1, document.Quotation(document.Words(moreSteps(len(f.Steps)-longestFix+1)))
	}
	for i := range f.Steps[:shown] {
		step := stepChange(&f.Steps[i], r.Content)
		if f.Joins && f.Steps[i].Op == session.Insert {
			step.Note = strings.TrimPrefix(step.Note+", in the same message", ", ")
		}
		steps = append(steps, step)
	}
	doc := document.Document{head, steps}
	if more != nil {
		doc = append(doc, more)
	}
	return doc
}

// foot says what is not repaired, and what damages new sessions again.
func (r *repairPage) foot(plan *repair.Plan, store *session.Store, left []*check.Finding) document.Document {
	var list document.List
	for _, t := range plan.Refused {
		what := "Session " + rules.Short(t.Root) + " will not be repaired: "
		if t.Rule != "" {
			what = "Session " + rules.Short(t.Root) + ", without " + repairsOf(t.Count, t.Rule) + ": "
		}
		list = append(list, render.Entry(what+ui.Ended(ui.Clean(t.Why))))
	}
	for _, l := range plan.Later {
		list = append(list, render.Entry(fmt.Sprintf("Session %s needs a second repair: look at it after this one, then repair again for %s.",
			rules.Short(l.Root), repairsOf(l.Count, l.Rule))))
	}
	doc := document.Document{list}
	if len(left) > 0 {
		remain := render.Say("Not repaired: ", render.Severities(left), " (see `"+r.listing(left)+"`)")
		if !plan.Empty() { // some of these are found only when the repair is done
			remain = render.Say("After this repair, ", render.Severities(left), " will remain (see `"+r.listing(left)+"`)")
		}
		doc = append(doc, remain, append(refusedStill(left, !plan.Empty()), r.allowable(left)...))
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

func (r *repairPage) Ask(backup string, bytes int64, undo render.Command) error {
	r.asked = true
	return r.print(document.Document{
		document.Gap{},
		document.Line(document.Words("Backup: " + ui.Tilde(backup, r.Home) + " (" + ui.Bytes(bytes) + ")")),
		document.Line(document.Words("Undo:   " + undo.Line)),
	})
}

// Close prints what became of the plan. What has to be copied is on a line of its
// own, whole.
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
	doc := document.Document{document.Paragraph(done), r.leftOut(o.LeftOut)}
	line := func(text string) { doc = append(doc, document.Line(document.Words(text))) }
	if o.Output != "" {
		line("Repaired copy: " + ui.Tilde(o.Output, r.Home))
		line("Receipt:       " + ui.Tilde(o.Receipt, r.Home))
		line("The original was not changed.")
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
			return append(items, render.Entry("…and "+ui.Count(len(list)-i, "more session")+" that could not be repaired (--format json lists all)"))
		}
		text := "Session " + rules.Short(l.Root) + " could not be repaired and is as it was before: " + ui.Ended(ui.Clean(l.Why))
		if l.Next != "" {
			text += " " + ui.Sentence(ui.Clean(l.Next))
		}
		items = append(items, render.Entry(text))
	}
	return items
}
