package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// checkText prints for people: the same on a terminal and in a pipe, but for
// colour. text and table differ in the body only.
type checkText struct {
	CheckOptions
	body func(findings []*check.Finding, width int) document.Document

	stores   int
	printed  bool // something
	short    bool // the last store got one line
	findings []*check.Finding
	sums     []storeSum
}

func (c *checkText) Store(r *check.Result, took time.Duration) error {
	var doc document.Document
	short := c.unremarkable(r)
	if c.printed && !c.Quiet && (!short || !c.short) {
		doc = append(doc, document.Gap{})
	}
	c.printed, c.short = true, short
	if !r.Recording {
		c.stores++
		c.sumUp(r)
	}
	c.findings = append(c.findings, r.Findings...)
	switch {
	case !short:
		doc = append(doc, c.whole(r, took)...)
	case !c.Quiet:
		doc = append(doc, document.List{entry(nameOf(r.Store, c.Home), ": ", c.verdict(r, took))})
	}
	return document.Lines(c.Screen)(doc)
}

// whole is all that is known of a store.
func (c *checkText) whole(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	fresh := c.shown(r.Findings)
	if !c.Quiet || len(fresh) > 0 {
		doc = c.head(r)
	}
	shown, hidden := limit(fresh, c.MaxFindings)
	if len(shown) > 0 {
		doc = append(append(doc, c.body(shown, c.Screen.TextWidth())...), hiddenLines(hidden))
	}
	for i := range r.Answers {
		doc = append(doc, answer(&r.Answers[i])...)
	}
	if !c.Quiet {
		doc = append(doc, c.foot(r, took)...)
	}
	return doc
}

// head names the store.
func (c *checkText) head(r *check.Result) document.Document {
	name := document.Line(nameOf(r.Store, c.Home))
	if r.Recording {
		return document.Document{name}
	}
	facts := document.Facts{words(c.facts(r))}
	for _, fact := range []string{r.Store.Versions, judges(r.Profiles), writer(r.Store)} {
		if fact != "" {
			facts = append(facts, words(fact))
		}
	}
	if r.Recovery != "" {
		facts = append(facts, words(span(document.Bad, "Damaged:"), " this result does not cover all of the store: "+ui.Ended(ui.Clean(r.Incomplete))),
			words(ui.Sentence(ui.Clean(r.Recovery))))
	}
	return document.Document{name, facts, document.Gap{}}
}

// facts are what a store is and how much of it was checked, on one line.
func (c *CheckOptions) facts(r *check.Result) string {
	return strings.Join(append(storeFacts(r.Store), c.sessions(r)), ", ")
}

// sessions counts what was checked, as people count: a conversation with its
// sub-sessions is one.
func (c *CheckOptions) sessions(r *check.Result) string {
	text := ui.Count(r.Trees, "session")
	if c.Limited {
		text += " of it"
	}
	if r.WithSubs > 0 {
		text += " (" + ui.Number(r.WithSubs) + " with sub-sessions)"
	}
	return text
}

// foot sums up.
func (c *checkText) foot(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	if verdict := c.verdict(r, took); verdict != nil {
		doc = append(doc, document.Paragraph(verdict))
	}
	if r.Incomplete != "" && r.Recovery == "" {
		doc = append(doc, say(span(document.Notice, "Incomplete:"), " "+ui.Ended(ui.Clean(r.Incomplete))))
	}
	if len(check.Fresh(r.Findings)) > 0 {
		for _, advice := range r.Store.Advice {
			doc = append(doc, say(advice))
		}
	}
	return doc
}

// verdict counts what was found, nil where nothing was looked at.
func (c *checkText) verdict(r *check.Result, took time.Duration) document.Text {
	switch {
	case r.Trees > 0 || len(r.Findings) > 0:
		return words(tally(r), counted(r, took))
	case r.Incomplete != "" || r.Recording || r.Against:
		return nil
	case c.Limited:
		return words("No session of this store is among those to check.")
	}
	return words("There are no sessions in this store.")
}

// counted is how much was looked at: " (22 items in 0.1 s)". A recording says
// nothing of items that other runs left.
func counted(r *check.Result, took time.Duration) string {
	switch {
	case r.Recording:
		return ""
	case r.Against && r.Compared < r.Items:
		return fmt.Sprintf(" (%s of %s in the recording, the others were not compared; %.1f s)", ui.Number(r.Compared), ui.Count(r.Items, "item"), took.Seconds())
	}
	return fmt.Sprintf(" (%s in %.1f s)", ui.Count(r.Items, "item"), took.Seconds())
}

// Close sums up several stores and says what to type next.
func (c *checkText) Close(end Ending) error {
	if c.Quiet {
		return nil
	}
	var doc document.Document
	if c.stores > 1 {
		doc = c.summary()
	}
	if end.Baseline != nil {
		doc = append(doc, say(end.Baseline.sentence()))
	}
	if len(end.Next) > 0 {
		doc = append(doc, document.Commands{Lead: nothing(end.Baseline) + " was changed. Next:", List: end.Next})
	}
	return document.Lines(c.Screen)(doc)
}

// tally is "1 error, 2 infos in 2 of 212 sessions, 3 known findings left out".
func tally(r *check.Result) document.Text {
	fresh, rest := check.Fresh(r.Findings), leftOut(r.Findings)
	roots, own := map[string]bool{}, false
	for _, f := range fresh {
		if f.Root == nil {
			own = true
		} else {
			roots[f.Root.ID] = true
		}
	}
	sessions := ui.Number(len(roots)) + " of " + ui.Count(r.Trees, "session")
	switch {
	case len(fresh) == 0:
		return words(news(r.Findings), " in "+ui.Count(r.Trees, "session")+rest)
	case r.Recording:
		sessions = "the recording itself"
	case own && len(roots) == 0:
		sessions = "the store itself"
	case own:
		sessions = "the store itself and " + sessions
	}
	return words(news(r.Findings), " in "+sessions+rest)
}

// severities is "1 error, 2 infos".
func severities(findings []*check.Finding) document.Text {
	var parts document.Text
	for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		n := 0
		for _, f := range findings {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 && parts != nil {
			parts = append(parts, document.Span{Text: ", "})
		}
		if n > 0 {
			parts = append(parts, span(roleOf(severity), ui.Count(n, severity.String())))
		}
	}
	if parts == nil {
		return words("No findings")
	}
	return parts
}
