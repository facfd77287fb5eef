package render

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// storeSum is what the summary of several stores says of one.
type storeSum struct {
	name     string
	findings []*check.Finding
	trouble  string // why not everything was checked, "" if it was
}

// unremarkable reports whether one line says all about a store: it is one of several,
// and nothing is there that a person has to look at.
func (c *checkText) unremarkable(r *check.Result) bool {
	return c.Several && len(check.Fresh(r.Findings)) == 0 && r.Incomplete == "" && len(r.Answers) == 0 && !r.Recording
}

// sumUp takes note of a store for the summary.
func (c *checkText) sumUp(r *check.Result) {
	name := storeName(r.Store, c.Home)
	at := slices.IndexFunc(c.sums, func(s storeSum) bool { return s.name == name })
	if at < 0 {
		at = len(c.sums)
		c.sums = append(c.sums, storeSum{name: name})
	}
	c.sums[at].findings = check.Fresh(r.Findings)
	if r.Incomplete != "" {
		c.sums[at].trouble = "incomplete"
	}
}

// Unread takes note of a store for the summary; what is wrong with it is on standard
// error.
func (c *checkText) Unread(u Unread) {
	c.sums = append(c.sums, storeSum{name: ui.Clean(ui.Tilde(u.Store, c.Home)), trouble: "could not be read"})
}

// summary is what was found in all stores together: with more than a few, also in
// which of them, so that nobody has to look for it between the others.
func (c *checkText) summary() document.Document {
	const few = 3
	remarkable := slices.DeleteFunc(slices.Clone(c.sums), func(s storeSum) bool { return len(s.findings) == 0 && s.trouble == "" })
	if len(c.sums) <= few {
		remarkable = nil
	}
	found, widest := 0, 0
	for _, s := range remarkable {
		if len(s.findings) > 0 {
			found++
		}
		widest = max(widest, lipgloss.Width(s.name))
	}
	where := ui.Count(c.stores, "store")
	if found > 0 {
		where = ui.Number(found) + " of " + ui.Count(len(c.sums), "store")
	}
	doc := document.Document{document.Gap{}, document.Line(words(news(c.findings), " in "+where+leftOut(c.findings)))}
	for _, s := range remarkable {
		doc = append(doc, document.Line(words("  "+s.name+strings.Repeat(" ", widest-lipgloss.Width(s.name))+"  ", s.words())))
	}
	return doc
}

// words are the findings of a store and what keeps it from being checked.
func (s *storeSum) words() document.Text {
	var all document.Text
	if len(s.findings) > 0 {
		all = severities(s.findings)
	}
	if s.trouble != "" && all != nil {
		all = words(all, ", ")
	}
	return words(all, span(document.Notice, s.trouble))
}
