// Package ci prints the reports of a check that are read elsewhere: SARIF, JUnit, the
// annotations of GitHub, and a page in Markdown.
package ci

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// collected keeps what was found for a format that is written as a whole: a
// CheckWriter but for its Close.
type collected struct {
	render.CheckOptions
	stores []*collectedStore
}

// collectedStore is a store that was looked at.
type collectedStore struct {
	path   string        // as it was named
	result *check.Result // nil where nothing could be read
	took   time.Duration
	// trouble is why the result is missing or does not cover everything, "" where it
	// does; next is what to do about that.
	trouble, next string
}

func (c *collected) Store(r *check.Result, took time.Duration) error {
	s := &collectedStore{path: r.Store.Path}
	if n := len(c.stores); n > 0 && c.stores[n-1].result == nil && c.stores[n-1].path == s.path {
		s = c.stores[n-1]
	} else {
		c.stores = append(c.stores, s)
	}
	s.result, s.took, s.trouble = r, took, cmp.Or(s.trouble, r.Incomplete)
	if r.Recovery != "" {
		s.next = cmp.Or(s.next, ui.AsSentence(r.Recovery))
	}
	return nil
}

func (c *collected) Unread(u render.Unread) {
	c.stores = append(c.stores, &collectedStore{path: u.Store, trouble: u.Message, next: u.Next})
}

// allFindings are those of the store, also those of the baseline.
func (s *collectedStore) allFindings() []*check.Finding {
	if s.result == nil {
		return nil
	}
	return s.result.Findings
}

// troubleWords say on one line what kept a store from being read, and what to do.
func (s *collectedStore) troubleWords() string {
	return strings.TrimSpace(ui.AsSentence(ui.Clean(s.trouble)) + " " + ui.Clean(s.next))
}

// summaryLine is "1 error in 212 sessions of 2 stores, 1 of them not read completely, 3
// known findings left out".
func (c *collected) summaryLine() string {
	var findings []*check.Finding
	sessions, troubled := 0, 0
	for _, s := range c.stores {
		findings = append(findings, s.allFindings()...)
		if s.result != nil {
			sessions += s.result.Trees
		}
		if s.trouble != "" {
			troubled++
		}
	}
	text := render.FreshSeverities(findings).String() + " in " + ui.Count(sessions, "session") + " of " + ui.Count(len(c.stores), "store")
	switch {
	case troubled > 0 && len(c.stores) == 1:
		text += ", which could not be read completely"
	case troubled > 0:
		text += ", " + ui.Number(troubled) + " of them not read completely"
	}
	return text + render.LeftOut(findings)
}

// locatePath locates the path of a store for those who know the folder of the run: what is
// below it without it, with slashes on every system.
func (c *collected) locatePath(path string) string {
	if path == "-" {
		return "standard input"
	}
	if below, err := filepath.Rel(c.Folder, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(below) {
		path = below
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// checkPage prints a report for a pull request, a ticket or a mail.
type checkPage struct {
	collected
	format string
}

// NewPage makes the report in a format that has pages.
func NewPage(format string) func(render.CheckOptions) render.CheckWriter {
	return func(o render.CheckOptions) render.CheckWriter { return &checkPage{collected{CheckOptions: o}, format} }
}

func (c *checkPage) Close(end render.Ending) error {
	return document.NewPrinter(c.format, c.Screen)(c.reportPage(end))
}

// reportPage is the whole report.
func (c *collected) reportPage(end render.Ending) document.Document {
	doc := document.Document{document.Heading{Level: 2, Text: document.Words(c.Tool.Name + " check")}, render.Say(c.summaryLine() + ".")}
	if end.Baseline != nil {
		doc = append(doc, render.Say(end.Baseline.Sentence()))
	}
	for _, s := range c.stores {
		doc = append(doc, c.storePage(s)...)
	}
	if len(end.Next) == 0 {
		return doc
	}
	next := document.List(lists.MapEach(end.Next, func(n render.Command) document.Item {
		return render.Entry(render.Span(document.Code, n.Line), ": ", n.Why)
	}))
	return append(doc, document.Heading{Level: 3, Text: document.Words("Next")}, render.Say(render.UnchangedSubject(end.Baseline)+" was changed. Type:"), next)
}

func (c *collected) storePage(s *collectedStore) document.Document {
	doc := document.Document{document.Heading{Level: storeLevel, Text: document.Words(render.Span(document.Name, c.locatePath(s.path)))}}
	if s.trouble != "" {
		doc = append(doc, render.Say(render.Span(document.Strong, "Not read completely:"), " ", s.troubleWords()))
	}
	r := s.result
	if r == nil {
		return doc
	}
	facts := c.Facts(r)
	if judges := render.CheckedAgainst(r.Profiles); judges != "" {
		facts += "; " + judges
	}
	doc = append(doc, render.Say(facts))
	if fresh := check.FreshFindings(r.Findings); len(fresh) == 0 {
		doc = append(doc, render.Say(render.FreshSeverities(r.Findings).String()+render.LeftOut(r.Findings)+"."))
	} else {
		shown, hidden := render.LimitFindings(fresh, c.MaxFindings)
		doc = append(doc, ruleCounts(fresh), findingRows(shown))
		doc = append(doc, render.SayEach(render.HiddenWords(hidden))...)
		doc = append(doc, render.SayEach(r.Store.Advice)...)
	}
	for i := range r.Answers { // to the next request of the session
		a := &r.Answers[i]
		doc = append(doc, document.Heading{Level: 4, Text: document.Words("The next request, to " + a.Profile.Name)}, render.Say(strings.Join(render.AnswerSentences(a), " ")))
		if a.Error != "" {
			doc = append(doc, document.Quotation(document.Words(a.Error)))
		}
	}
	return doc
}

// ruleCounts is a table of the rules, the worst first.
func ruleCounts(findings []*check.Finding) document.Table {
	table := document.Table{Columns: []document.Column{{Name: "Severity"}, {Name: "Rule"}, {Name: "Findings", Right: true}, {Name: "Sessions", Right: true}}}
	for _, found := range render.ByRule(findings) {
		table.Rows = append(table.Rows, render.Cells(render.SeverityOf(found[0].Severity), ruleLink(found[0].Rule),
			ui.Number(len(found)), ui.Number(render.CountSessions(found))))
	}
	return table
}

// findingRows is a table of the findings.
func findingRows(findings []*check.Finding) document.Table {
	table := document.Table{Columns: []document.Column{{Name: "Severity"}, {Name: "Rule"}, {Name: "Place"}, {Name: lastColumn}}}
	for _, f := range findings {
		text := document.Words(ui.EndSentence(ui.Clean(render.ReportedMessage(f))))
		for _, c := range render.Consequences(f) {
			text = document.Words(text, "\n→ "+ui.Clean(c.String()))
		}
		place := render.Span(document.Code, ui.Truncate(render.FindingPlace(f), render.WidestPlace))
		table.Rows = append(table.Rows, render.Cells(render.SeverityOf(f.Severity), ruleLink(f.Rule), place, text))
	}
	return table
}

func ruleLink(r *rules.Rule) document.Text {
	return document.Words(document.Span{Role: document.Link, Text: r.ID, URL: render.RulePages + r.ID + ".md"}, " ", r.Name)
}

const (
	storeLevel = 3         // of the headings of stores
	lastColumn = "Finding" // of the table of findings
)

// stepSummarySize is how much of a report goes to GitHub, in bytes. It refuses what
// one step writes as a whole above 1024 KiB ("supports content up to a size of
// 1024k"); several checks of a step share that.
const stepSummarySize = 256 << 10

// summaryPage is a report in Markdown of at most so many bytes: whole lines, and what is
// missing.
func summaryPage(doc document.Document, size int) string {
	var page document.Page
	var stores, rows []int // where they begin
	for _, b := range doc {
		at, cells := page.Len(), len(page.Cells)
		page.Add(b)
		switch b := b.(type) {
		case document.Heading:
			if b.Level == storeLevel && b.Text[0].Role == document.Name {
				stores = append(stores, at)
			}
		case document.Table:
			if b.Columns[len(b.Columns)-1].Name == lastColumn {
				rows = append(rows, page.Cells[cells:]...)
			}
		}
	}
	text := page.String()
	if len(text) <= size {
		return text
	}
	const room = 500 // for the last paragraph
	end := strings.LastIndexByte(text[:size-room], '\n') + 1
	var missing []string
	for _, part := range []struct {
		begins []int
		noun   string
	}{{rows, "finding"}, {stores, "store"}} {
		if at, _ := slices.BinarySearch(part.begins, end); at < len(part.begins) {
			missing = append(missing, ui.Count(len(part.begins)-at, part.noun))
		}
	}
	if missing == nil {
		missing = []string{"the end"}
	}
	return text[:end] + "\n**Cut here:** " + strings.Join(missing, " and ") + " left out, because GitHub takes no larger summary. `--report markdown=FILE` writes everything.\n"
}
