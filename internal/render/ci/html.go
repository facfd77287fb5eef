package ci

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/ui"
)

// What a page has room for, so that a browser opens it in a second.
const (
	mostFindings = 10_000
	mostSteps    = 20_000 // of all its lanes
)

// checkHTML prints a report as a page that is sent to somebody.
type checkHTML struct {
	collected
	lanes   map[string]document.Diagram // of damaged sessions, by store and root
	steps   int                         // of them
	undrawn int                         // damaged sessions for whose lanes there was no room

	room, sections int // for findings; of sessions
}

// HTML prints a report as a page that is sent to somebody.
func HTML(o render.CheckOptions) render.CheckWriter {
	return &checkHTML{collected: collected{CheckOptions: o}, lanes: map[string]document.Diagram{}, room: mostFindings}
}

// Tree implements TreeWriter: it draws the lanes of a damaged session.
func (c *checkHTML) Tree(store *session.Store, tree *session.Tree, found []*check.Finding) {
	damaged := false
	for _, f := range found {
		damaged = damaged || f.Severity > rules.Info || f.IsRefused()
	}
	switch {
	case !damaged || c.Lanes == nil:
	case c.steps > mostSteps:
		c.undrawn++
	default:
		drawn := c.Lanes(store, tree, found)
		c.lanes[store.Path+"\x00"+tree.Root().ID] = drawn
		c.steps += len(drawn)
	}
}

func (c *checkHTML) Close(end render.Ending) error {
	var all []*check.Finding
	for _, s := range c.stores {
		all = append(all, s.allFindings()...)
	}
	doc := document.Document{
		document.Heading{Level: 1, Text: document.Words(c.Tool.Name+" check: ", render.FreshSeverities(all))},
		render.Say(c.summaryLine() + ". " + c.Started.Format("2006-01-02 15:04") + "."),
	}
	if end.Baseline != nil {
		doc = append(doc, render.Say(end.Baseline.Sentence()))
	}
	if len(end.Next) > 0 {
		doc = append(doc, document.Commands{Lead: render.UnchangedSubject(end.Baseline) + " was changed. Next, in a terminal", List: end.Next})
	}
	if fresh := check.FreshFindings(all); len(fresh) > 0 {
		counts := ruleCounts(fresh)
		counts.Picks = true
		doc = append(doc, counts)
	}
	var fine document.List
	for _, s := range c.stores {
		if s.trouble == "" && len(c.stores) > 1 && len(check.FreshFindings(s.allFindings())) == 0 {
			fine = append(fine, render.Entry(render.Span(document.Name, c.locatePath(s.path)), " "+c.Facts(s.result)+render.LeftOut(s.allFindings())))
			continue
		}
		doc = append(doc, c.storeBlocks(s)...)
	}
	if fine != nil {
		doc = append(doc, document.Heading{Level: 2, Text: document.Words("Without findings")}, fine)
	}
	if c.undrawn > 0 {
		doc = append(doc, missingCallout("the lanes of "+ui.Count(c.undrawn, "session"), "sessctl view SESSION --lanes"))
	}
	return document.NewPrinter("html", c.Screen)(doc)
}

// missingCallout says what a page has no room for.
func missingCallout(what, command string) document.Callout {
	return document.Callout{Role: document.Notice, Text: document.Words("Not on this page: "+what+". ", render.Span(document.Code, command), " shows it.")}
}

func (c *checkHTML) storeBlocks(s *collectedStore) document.Document {
	doc := document.Document{document.Heading{Level: 2, Text: document.Words(render.Span(document.Name, c.locatePath(s.path)))}}
	if s.trouble != "" {
		doc = append(doc, document.Callout{Role: document.Bad, Text: document.Words(render.Span(document.Strong, "Not read completely:"), " ", s.troubleWords())})
	}
	r := s.result
	if r == nil {
		return doc
	}
	facts := document.Facts{document.Words(c.Facts(r))}
	if judges := render.CheckedAgainst(r.Profiles); judges != "" {
		facts = append(facts, document.Words(judges))
	}
	doc = append(doc, facts)
	fresh := check.FreshFindings(r.Findings)
	if len(fresh) == 0 {
		role := document.Good
		if s.trouble != "" {
			role = document.Notice
		}
		return append(doc, document.Callout{Role: role, Text: document.Words(render.FreshSeverities(r.Findings), render.LeftOut(r.Findings)+".")})
	}
	role := document.Notice
	for _, f := range fresh {
		if f.Root != nil && (f.Root.Outlook == check.Unloaded || f.Root.Outlook == check.Refused) {
			role = document.Bad
		}
	}
	for _, b := range render.SessionProspects(r) {
		if says, is := b.(document.Paragraph); is {
			doc = append(doc, document.Callout{Role: role, Text: document.Text(says)})
		}
	}
	shown, hidden := render.LimitFindings(render.NewestFirst(fresh), c.MaxFindings)
	doc = append(doc, render.SayEach(render.HiddenWords(hidden))...)
	if left := len(shown) - c.room; left > 0 {
		doc = append(doc, missingCallout(ui.Count(left, "more finding"), "sessctl check "+shell.Path(s.path)+" --format ndjson"))
		shown = shown[:c.room]
	}
	c.room -= len(shown)
	doc = append(doc, c.sessionBlocks(r, shown)...)
	doc = append(doc, render.SayEach(r.Store.Advice)...)
	return append(doc, render.AnswerBlocks(r.Answers)...)
}

// sessionBlocks are a list of the sessions with findings, and each of them with what was found and
// what happened in it.
func (c *checkHTML) sessionBlocks(r *check.Result, shown []*check.Finding) document.Document {
	table := document.Table{Columns: []document.Column{
		{Name: "Session"}, {Name: "Begun"}, {Name: "Errors", Right: true}, {Name: "Warnings", Right: true}, {Name: "Infos", Right: true}, {Name: "What becomes of it"},
	}}
	var doc document.Document
	for from := 0; from < len(shown); {
		to, root := from, shown[from].Root
		for ; to < len(shown) && (shown[to].Root == root || root != nil && shown[to].Root != nil && shown[to].Root.ID == root.ID); to++ {
		}
		found := shown[from:to]
		from = to
		c.sections++
		heading := document.Heading{Level: 3, At: fmt.Sprintf("session-%d", c.sections), Text: document.Words("The store itself")}
		if root != nil {
			heading.Text = c.sessionName(root)
			link := document.Span{Role: document.Link, Text: rules.ShortID(root.ID), URL: "#" + heading.At}
			row := []any{link, render.Date(root.Created)}
			for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
				row = append(row, ui.Number((&check.Result{Findings: found}).Count(severity)))
			}
			table.Rows = append(table.Rows, render.Cells(append(row, render.OutlookSentence(root.Outlook))...))
		}
		doc = append(doc, heading)
		for _, f := range found {
			message := render.ReportedMessage(f)
			if c.Content {
				message = render.SaidMessage(f)
			}
			doc = append(doc, render.WholeFinding(f, message))
		}
		if root == nil {
			continue
		}
		if lanes := c.lanes[r.Store.Path+"\x00"+root.ID]; lanes != nil {
			doc = append(doc, document.Fold{Title: document.Words("What happened between the agents"), Open: true, Below: []document.Block{lanes}})
		}
	}
	if len(table.Rows) > 1 {
		doc = append(document.Document{table}, doc...)
	}
	return doc
}

// sessionName is what a session is called: by its id alone, unless content is shown.
func (c *checkHTML) sessionName(root *check.Head) document.Text {
	name := document.Words("Session ", render.Span(document.Code, root.ID))
	if title := strings.TrimSpace(root.Title); c.Content && title != "" {
		name = document.Words(name, " "+title)
	}
	return name
}
