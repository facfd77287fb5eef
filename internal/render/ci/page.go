package ci

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkPage prints a report for a pull request, a ticket or a mail.
type checkPage struct {
	collected
	format string
}

// Page makes the report in a format that has pages.
func Page(format string) func(render.CheckOptions) render.CheckWriter {
	return func(o render.CheckOptions) render.CheckWriter { return &checkPage{collected{CheckOptions: o}, format} }
}

func (c *checkPage) Close(end render.Ending) error {
	return document.New(c.format, c.Screen)(c.page(end))
}

// page is the whole report.
func (c *collected) page(end render.Ending) document.Document {
	doc := document.Document{document.Heading{Level: 2, Text: document.Words(c.Tool.Name + " check")}, render.Say(c.summary() + ".")}
	if end.Baseline != nil {
		doc = append(doc, render.Say(end.Baseline.Sentence()))
	}
	for _, s := range c.stores {
		doc = append(doc, c.storePage(s)...)
	}
	if len(end.Next) == 0 {
		return doc
	}
	var next document.List
	for _, n := range end.Next {
		next = append(next, render.Entry(render.Span(document.Code, n.Line), ": ", n.Why))
	}
	return append(doc, document.Heading{Level: 3, Text: document.Words("Next")}, render.Say(render.Nothing(end.Baseline)+" was changed. Type:"), next)
}

func (c *collected) storePage(s *collectedStore) document.Document {
	doc := document.Document{document.Heading{Level: storeLevel, Text: document.Words(render.Span(document.Name, c.located(s.path)))}}
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
	if fresh := check.Fresh(r.Findings); len(fresh) == 0 {
		doc = append(doc, render.Say(render.News(r.Findings).String()+render.LeftOut(r.Findings)+"."))
	} else {
		shown, hidden := render.Limit(fresh, c.MaxFindings)
		doc = append(doc, ruleCounts(fresh), findingRows(shown))
		for _, h := range hidden {
			doc = append(doc, render.Say(h.Words()))
		}
		for _, advice := range r.Store.Advice {
			doc = append(doc, render.Say(advice))
		}
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
			ui.Number(len(found)), ui.Number(render.Sessions(found))))
	}
	return table
}

// findingRows is a table of the findings.
func findingRows(findings []*check.Finding) document.Table {
	table := document.Table{Columns: []document.Column{{Name: "Severity"}, {Name: "Rule"}, {Name: "Place"}, {Name: lastColumn}}}
	for _, f := range findings {
		text := document.Words(ui.Ended(ui.Clean(render.Reported(f))))
		for _, c := range render.Consequences(f) {
			text = document.Words(text, "\n→ "+ui.Clean(c.String()))
		}
		place := render.Span(document.Code, ui.Truncate(render.Place(f), render.WidestPlace))
		table.Rows = append(table.Rows, render.Cells(render.SeverityOf(f.Severity), ruleLink(f.Rule), place, text))
	}
	return table
}

// rulePages is where the pages of rules are.
const rulePages = "https://github.com/sessctl/sessctl/blob/main/docs/rules/"

func ruleLink(r *rules.Rule) document.Text {
	return document.Words(document.Span{Role: document.Link, Text: r.ID, URL: rulePages + r.ID + ".md"}, " ", r.Name)
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
