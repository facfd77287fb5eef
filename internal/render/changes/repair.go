// Package changes prints what a repair changes, and in what two stores differ.
package changes

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// NewRepairWriter makes the writer of a format: text, json or html.
func NewRepairWriter(format string, opts render.RepairOptions) render.RepairWriter {
	switch format {
	case "json":
		return machine.NewRepair(opts)
	case "html":
		return newRepairHTML(opts)
	}
	return &repairPage{RepairOptions: opts, print: document.NewPrinter(format, opts.Screen)}
}

// repairPage prints for people: the same on a terminal and in a pipe, but for
// colour and the excerpts.
type repairPage struct {
	render.RepairOptions
	print document.Printer
	asked bool                         // then the path of the backup was shown
	sides map[string]document.Document // before and after, of each tree by its root; in HTML only
}

func (r *repairPage) Plan(plan *repair.Plan, store *session.Store, left []*check.Finding) error {
	var doc document.Document
	if !r.Quiet {
		doc = r.storeHead(store)
	}
	if !plan.IsEmpty() {
		doc = append(append(doc, r.treeBlocks(plan)...), tallyOf(plan))
	} else if !r.Quiet {
		doc = append(doc, render.Say(r.nothingFor(store, left)))
	}
	if !r.Quiet {
		doc = append(doc, r.footBlocks(plan, store, left)...)
	}
	return r.print(doc)
}

// storeHead names the store.
func (r *repairPage) storeHead(s *session.Store) document.Document {
	facts := document.Facts{document.Words(strings.Join(render.StoreFacts(s), ", "))}
	if live := render.WriterNote(s); live != "" {
		facts = append(facts, document.Words(live))
	}
	return document.Document{document.Heading{Level: 2, Text: render.NameOf(s, r.Home)}, facts, document.Gap{}}
}

// treeBlocks is the plan, up to the greatest number of steps.
func (r *repairPage) treeBlocks(plan *repair.Plan) document.Document {
	var doc document.Document
	room, hidden := cmp.Or(r.MaxSteps, math.MaxInt), 0
	for _, t := range plan.Trees {
		if room <= 0 {
			for i := range t.Fixes {
				hidden += len(t.Fixes[i].Edits)
			}
			continue
		}
		doc = append(doc, render.SessionHeading(t.Root, t.Title))
		for i := range t.Fixes {
			if room <= 0 {
				hidden += len(t.Fixes[i].Edits)
				continue
			}
			doc = append(doc, r.fixBlocks(&t.Fixes[i], room)...)
			room -= len(t.Fixes[i].Edits)
		}
		doc = append(append(doc, firstChanges(t), document.Gap{}), r.sides[t.Root]...)
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

// fixBlocks is one fix: a line that greps, what it does, and its steps, for which there is some
// room. A plan that was read from a file has none.
func (r *repairPage) fixBlocks(f *repair.Fix, room int) document.Document {
	head := document.Finding{
		Rule: f.Rule, Place: cmp.Or(stepPlace(f.Session, f.Item), "store"), Message: document.Words(ui.AsSentence(ui.Clean(f.Title))),
	}
	if rule := catalogue.FindRule(f.Rule); rule != nil {
		head.Name = rule.Name
	}
	var steps document.Changes
	var more document.Quotation
	shown := min(room, len(f.Steps))
	if r.MaxSteps > 0 && shown > longestFix {
		shown = longestFix - 1
	}
	if hidden := len(f.Steps) - shown; hidden > 0 {
		more = document.Quotation(document.Words(moreSteps(hidden)))
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

// footBlocks says what is not repaired, and what damages new sessions again.
func (r *repairPage) footBlocks(plan *repair.Plan, store *session.Store, left []*check.Finding) document.Document {
	var list document.List
	for _, t := range plan.Refused {
		what := "Session " + rules.ShortID(t.Root) + " will not be repaired: "
		if t.Rule != "" {
			what = "Session " + rules.ShortID(t.Root) + ", without " + repairsOf(t.Count, t.Rule) + ": "
		}
		list = append(list, render.Entry(what+ui.EndSentence(ui.Clean(t.Why))))
	}
	for _, l := range plan.Later {
		list = append(list, render.Entry(fmt.Sprintf("Session %s needs a second repair: look at it after this one, then repair again for %s.",
			rules.ShortID(l.Root), repairsOf(l.Count, l.Rule))))
	}
	doc := document.Document{list}
	if len(left) > 0 {
		remain := render.Say("Not repaired: ", render.SeverityCounts(left), " (see `"+r.listCommand(left)+"`)")
		if !plan.IsEmpty() { // some of these are found only when the repair is done
			remain = render.Say("After this repair, ", render.SeverityCounts(left), " will remain (see `"+r.listCommand(left)+"`)")
		}
		doc = append(doc, remain, append(refusedStill(left, !plan.IsEmpty()), r.allowableRepairs(left)...))
		if mayBeRunning(store, left) {
			doc = append(doc, render.Say("If "+store.Title+" has stopped, --assume-dead repairs what it left unfinished."))
		}
	}
	if plan.IsEmpty() {
		return doc
	}
	doc = append(doc, triggerList(store.Triggers))
	return append(doc, render.SayEach(store.Advice)...)
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
		return r.print(r.appliedBlocks(o))
	case len(o.Next) > 0 && !r.Quiet:
		return r.print(document.Document{document.Commands{Lead: "Nothing was changed. Next:", List: o.Next}})
	}
	return nil
}

func (r *repairPage) appliedBlocks(o render.Outcome) document.Document {
	done := document.Text{}
	for _, what := range []string{"backed up", "applied", "verified: " + accountedItems(*o.Ledger)} {
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
		text := "Session " + rules.ShortID(l.Root) + " could not be repaired and is as it was before: " + ui.EndSentence(ui.Clean(l.Why))
		if l.Next != "" {
			text += " " + ui.AsSentence(ui.Clean(l.Next))
		}
		items = append(items, render.Entry(text))
	}
	return items
}

// nothingFor says that there is no plan. Where something is wrong that has no
// repair, it must not sound as if nothing were.
func (r *repairPage) nothingFor(store *session.Store, left []*check.Finding) string {
	switch {
	case mayBeRunning(store, left):
		return "sessctl repairs nothing here while " + store.Title + " may be running."
	case slices.ContainsFunc(left, func(f *check.Finding) bool {
		return f.MissingWords(r.Allowed) != nil && (f.Severity > rules.Info || f.IsRefused())
	}):
		return "sessctl repairs nothing here unless you allow it."
	case slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Severity > rules.Info }):
		return "There is nothing that sessctl can repair."
	}
	return "There is nothing to repair."
}

// mayBeRunning reports whether a call has no result yet, which may come if the runtime is not dead.
func mayBeRunning(store *session.Store, left []*check.Finding) bool {
	return store.Writer == session.WriterUnknown && slices.ContainsFunc(left, func(f *check.Finding) bool {
		return f.Rule.ID == "SC102" && f.Severity == rules.Warning && f.AllowWords() == nil
	})
}

// refusedStill names the sessions that do not resume after the repair either, or without one.
func refusedStill(left []*check.Finding, repaired bool) document.List {
	ids := render.RefusedSessions(left)
	if len(ids) == 0 {
		return nil
	}
	const most = 3
	named := lists.MapEach(ids[:min(len(ids), most)], rules.ShortID)
	lead, reason := "The provider refuses the next request of ", ""
	if repaired {
		lead, reason = "The provider would still refuse the next request of ", " because of what remains"
	}
	text := lead + strings.Join(named, ", ")
	if more := len(ids) - len(named); more > 0 {
		text += " and " + ui.Count(more, "other session")
	}
	return document.List{render.Entry(text + reason + ".")}
}

// repairsOf counts the repairs of a rule.
func repairsOf(n int, rule string) string {
	if n == 1 {
		return "1 repair of " + rule
	}
	return fmt.Sprintf("%d repairs of %s", n, rule)
}

// triggerList says which triggers the database has that its runtime does not make.
func triggerList(list []session.Trigger) document.List {
	if len(list) == 0 {
		return nil
	}
	var names []string
	for _, t := range list {
		name := ui.Clean(t.Name) + " (" + strings.TrimSpace(ui.Clean(t.When)+" on "+ui.Clean(t.Table))
		if t.Function != "" {
			name += ", function " + ui.Clean(t.Function) + " of the role " + ui.Clean(t.Owner)
		}
		names = append(names, name+")")
	}
	text := "The database has " + ui.Count(len(list), "trigger") + " that its runtime did not create: " + strings.Join(names, ", ") +
		". A session is not repaired if a trigger would change anything else or make undo impossible."
	return document.List{render.Entry(text)}
}

// allowableRepairs says which repairs are made where somebody allows them: those that are
// likely and not certain, or that cost something.
func (r *repairPage) allowableRepairs(left []*check.Finding) document.List {
	missing := func(f *check.Finding) string { return strings.Join(f.MissingWords(r.Allowed), ",") }
	var list document.List
	for _, found := range lists.GroupBy(left, missing) {
		if words := missing(found[0]); words != "" {
			ids := rules.SortUnique(lists.MapEach(found, func(f *check.Finding) string { return f.Rule.ID }))
			list = append(list, render.Entry(fmt.Sprintf("With --allow %s, %d of these would be repaired (%s).", words, len(found), strings.Join(ids, ", "))))
		}
	}
	return list
}

// listCommand lists the command that lists what is left: a repair finds what --deep finds.
func (r *repairPage) listCommand(left []*check.Finding) string {
	if slices.ContainsFunc(left, func(f *check.Finding) bool { return f.Rule.Deep || f.Deep }) {
		return r.Check + " --deep"
	}
	return r.Check
}

// accountedItems holds the items that there were against those that are stored or
// left with a reason.
func accountedItems(l repair.Ledger) string {
	text := ui.Number(l.After-l.Synthetic+l.Quarantined+l.Removed) + " of " + ui.Count(l.Before, "message") + " accounted for"
	if l.Synthetic > 0 {
		text += ", " + ui.Number(l.Synthetic) + " added"
	}
	if l.Edited > 0 {
		text += ", " + ui.Number(l.Edited) + " changed"
	}
	return text
}

// firstChanges say from where on the next request of every changed session differs from
// the last one, and what that costs. What is added at the end costs nothing.
func firstChanges(tree *repair.Tree) document.Facts {
	if tree.Appends {
		return document.Facts{document.Words("Only adds messages at the end; no stored message changes.")}
	}
	var facts document.Facts
	for _, c := range tree.First {
		of := ""
		if c.Session != tree.Root {
			of = " of " + stepPlace(c.Session, -1)
		}
		text := "Cost: the next request" + of + " misses the prompt cache from message " + strconv.Itoa(c.Item) + " on (once)."
		if c.Signed != nil {
			text += " Message " + strconv.Itoa(*c.Signed) + storedIn(c) + " holds signed thinking: the newest Claude models refuse it after a change before it (SC505)."
		}
		facts = append(facts, document.Words(text))
	}
	return facts
}

// storedIn names the session of an item that a repair moves into another one.
func storedIn(c repair.FirstChange) string {
	if c.SignedIn == "" {
		return ""
	}
	return " of " + stepPlace(c.SignedIn, -1)
}

// tallyOf says how much a plan changes, and what leaves the store.
func tallyOf(plan *repair.Plan) document.Paragraph {
	copies, messages, results, appended := 0, 0, 0, 0
	for _, t := range plan.Trees {
		if t.Appends {
			appended++
		}
		for _, f := range t.Fixes {
			for _, e := range f.Edits {
				switch {
				case e.Op == session.RemoveTwin:
					copies++
				case e.Op == session.Quarantine && e.Ref.Pointer != "":
					results++
				case e.Op == session.Quarantine:
					messages++
				}
			}
		}
	}
	return render.Say(render.Span(document.Strong, ui.Count(plan.CountEdits(), "change")+" in "+ui.Count(len(plan.Trees), "session")), ": ",
		leavingSentence(copies, messages, results)+changingSentence(plan.CountEdited())+appendingSentence(appended, len(plan.Trees)))
}

// appendingSentence says how many of several sessions only get messages at their end.
func appendingSentence(n, of int) string {
	if n == 0 || of == 1 {
		return ""
	}
	return " " + ui.Count(n, "session") + map[bool]string{true: " only gets", false: " only get"}[n == 1] + " new messages at the end."
}

// leavingSentence says how many messages and how many results leave the store, and where they
// are then.
func leavingSentence(copies, messages, results int) string {
	var what, moved []string
	switch {
	case copies == 1:
		what = append(what, "1 duplicate will be removed, the original stays")
	case copies > 0:
		what = append(what, ui.Count(copies, "duplicate")+" will be removed, the originals stay")
	}
	if messages > 0 {
		moved = append(moved, ui.Count(messages, "message"))
	}
	if results > 0 {
		moved = append(moved, ui.Count(results, "result"))
	}
	if moved != nil {
		what = append(what, strings.Join(moved, " and ")+" will be moved to the receipt")
	}
	if what == nil {
		return "every message stays in the store."
	}
	return strings.Join(what, "; ") + "."
}

// changingSentence says how many messages say something else afterwards.
func changingSentence(edited int) string {
	switch edited {
	case 0:
		return ""
	case 1:
		return " 1 message will be changed; the receipt keeps the original."
	}
	return " " + ui.Count(edited, "message") + " will be changed; the receipt keeps the originals."
}

// widestExcerpt is how many columns of a value are shown at most.
const widestExcerpt = document.WidestQuote

// stepChange says what a step does, with what the item says where that is shown.
func stepChange(s *repair.Step, content bool) document.Change {
	c := document.Change{Place: stepPlace(s.Session, s.Item), What: itemWords(s, content)}
	say := func(what string) { c.What = document.Quote{Who: what} }
	switch s.Op {
	case session.RemoveTwin:
		c.Kind, c.Note = document.Gone, "same as "+twinPlace(s.Twin)
	case session.Quarantine:
		c.Kind, c.Note = document.Gone, "to the receipt"
		if s.Twin != nil {
			c.Note += "; also in " + twinPlace(s.Twin)
		}
	case session.Move:
		c.Kind, c.Note = document.Moved, destinationWords(s)
	case session.MoveRun:
		c.Kind, c.Note = document.Moved, destinationWords(s)
		say("run " + ui.Clean(rules.ShortID(s.Run)))
	case session.Insert:
		c.Kind, c.Note = document.Added, afterItem(s.After)
		if s.Role == session.System {
			c.Note = "at the start"
			say("task and start message")
		}
	case session.Create:
		c.Kind, c.Place, c.Note = document.Added, stepPlace(s.Child, -1), "below "+stepPlace(s.To, -1)
		switch {
		case s.Like != "" && s.Like != s.To: // all of one agent, so that only the calls tell them apart
			c.Note = "split from " + stepPlace(s.Like, -1)
			say("new sub-session for " + callID(s))
		case s.Agent != "":
			say("new sub-session for " + ui.Clean(s.Agent))
		default:
			say("new sub-session")
		}
	case session.Set, session.Wrap, session.Scrub, session.Omit:
		say(editWords(s))
	}
	return c
}

// editWords say what a record says from then on.
func editWords(s *repair.Step) string {
	part, id := partWord(s), ""
	if s.Value != nil {
		id = ui.Clean(*s.Value)
	}
	switch {
	case s.Op == session.Wrap:
		return "the arguments of call " + callID(s) + " are put into an object, as text"
	case s.Op == session.Omit:
		return "a part is left out, and a note says so where it was an image or a file"
	case s.Op == session.Scrub && s.Field == session.FieldNUL:
		return `each character U+0000 is replaced with the text \u0000`
	case s.Op == session.Scrub:
		return "invalid bytes are replaced with U+FFFD"
	case part == "calls" && s.Field == session.FieldChild:
		return "the question of " + callID(s) + " will name session " + rules.ShortID(id)
	case part == "calls":
		return "call " + callID(s) + " gets the id " + id
	case s.Field == session.FieldChild:
		return "the result of " + callID(s) + " will name session " + rules.ShortID(id)
	case part == "results":
		return "the result of " + callID(s) + " will answer call " + id
	case part == "blocks" && s.Value == nil:
		return "the provider's id is removed from a part"
	case part == "blocks":
		return "a part gets the provider's id " + id
	case s.Field == session.FieldText && s.Item >= 0:
		return "the blank text is removed"
	case s.Run != "":
		return "the state of task " + ui.Clean(rules.ShortID(s.Run)) + " becomes " + id
	case s.Field == session.FieldUnfinished:
		return "the message gets an end"
	}
	return ui.Clean(s.Field) + " → " + valueText(s.Value)
}

// partWord is the list that the part of a step is in, "" for a whole item.
func partWord(s *repair.Step) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(s.Part, "/"), "/")
	return part
}

// callID is the id of the call that a step is about.
func callID(s *repair.Step) string {
	if s.Call == "" {
		return "(no id)"
	}
	return ui.Clean(s.Call)
}

func destinationWords(s *repair.Step) string {
	if s.To != s.Session {
		return "to " + stepPlace(s.To, -1)
	}
	if s.After < 0 {
		return "to the start"
	}
	return afterItem(s.After)
}

func afterItem(item int) string {
	if item < 0 {
		return ""
	}
	return "after message " + strconv.Itoa(item)
}

func twinPlace(p *session.Place) string {
	if p == nil {
		return "another message"
	}
	return stepPlace(p.Session, p.Item)
}

// stepPlace is SESSION:ITEM as in a finding, or SESSION for what has no place yet.
func stepPlace(session string, item int) string {
	id := ui.Clean(rules.ShortID(session))
	if item < 0 {
		return id
	}
	return id + ":" + strconv.Itoa(item)
}

// itemWords say what an item is, with what it says where that is wanted.
func itemWords(s *repair.Step, content bool) document.Quote {
	said := ""
	if content {
		said = s.Text
	}
	switch {
	case s.Kind == session.SubSession:
		return document.Quote{Who: "reference to sub-session " + stepPlace(s.Child, -1)}
	case s.Kind == session.Summary:
		return document.Quote{Who: "summary", Said: said}
	case s.Kind == session.Other:
		return document.Quote{Who: "record"}
	case s.Rest:
		return document.Quote{Who: "only the result of " + callID(s), Said: said}
	case s.Role == session.Tool || partWord(s) == "results":
		return document.Quote{Who: "result of " + callID(s), Said: said}
	}
	q := document.Quote{Who: cmp.Or(ui.Clean(s.Agent), s.Role.String()), Said: said, Bare: "message"}
	if len(s.Calls) > 0 {
		q.More = " + " + ui.Clean(strings.Join(s.Calls, ", "))
	}
	return q
}

// valueText is what a field becomes.
func valueText(v *string) string {
	if v == nil {
		return "NULL"
	}
	return `"` + ui.Excerpt(*v, widestExcerpt) + `"`
}
