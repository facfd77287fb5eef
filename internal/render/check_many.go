package render

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
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
func (c *checkText) summary(out *strings.Builder) {
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
	fmt.Fprintf(out, "\n%s in %s%s\n", news(c.findings), where, leftOut(c.findings))
	for _, s := range remarkable {
		gap := strings.Repeat(" ", widest-lipgloss.Width(s.name))
		fmt.Fprintf(out, "  %s%s  %s\n", s.name, gap, s.words())
	}
}

// words are the findings of a store and what keeps it from being checked.
func (s *storeSum) words() string {
	var words []string
	if len(s.findings) > 0 {
		words = append(words, severities(s.findings).Styled())
	}
	if s.trouble != "" {
		words = append(words, ui.Yellow.Render(s.trouble))
	}
	return strings.Join(words, ", ")
}
