package render

import (
	"fmt"
	"io"
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
	body func(out *strings.Builder, o *CheckOptions, findings []*check.Finding) error

	stores   int
	printed  bool // something
	short    bool // the last store got one line
	findings []*check.Finding
	sums     []storeSum
}

func (c *checkText) Store(r *check.Result, took time.Duration) error {
	var out strings.Builder
	short := c.unremarkable(r)
	if c.printed && !c.Quiet && (!short || !c.short) {
		out.WriteString("\n")
	}
	c.printed, c.short = true, short
	if !r.Recording {
		c.stores++
		c.sumUp(r)
	}
	c.findings = append(c.findings, r.Findings...)
	switch {
	case !short:
		if err := c.whole(&out, r, took); err != nil {
			return err
		}
	case !c.Quiet:
		out.WriteString(ui.Hang("", "  ", ui.Bold.Render(storeName(r.Store, c.Home))+": "+c.verdict(r, took), c.Screen.TextWidth()))
	}
	_, err := io.WriteString(c.Screen, out.String())
	return err
}

// whole prints all that is known of a store.
func (c *checkText) whole(out *strings.Builder, r *check.Result, took time.Duration) error {
	fresh := c.shown(r.Findings)
	if !c.Quiet || len(fresh) > 0 {
		c.head(out, r)
	}
	shown, hidden := limit(fresh, c.MaxFindings)
	if len(shown) > 0 {
		if err := c.body(out, &c.CheckOptions, shown); err != nil {
			return err
		}
		for _, h := range hidden {
			out.WriteString(h.sentence(c.Screen.TextWidth()))
		}
	}
	for _, a := range r.Answers {
		answer(out, &a, c.Screen.TextWidth())
	}
	if !c.Quiet {
		c.foot(out, r, took)
	}
	return nil
}

// head names the store.
func (c *checkText) head(out *strings.Builder, r *check.Result) {
	s, width := r.Store, c.Screen.TextWidth()
	out.WriteString(ui.Bold.Render(storeName(s, c.Home)) + "\n")
	if r.Recording {
		return
	}
	out.WriteString(ui.Hang("  ", "  ", c.facts(r), width))
	if s.Versions != "" {
		out.WriteString(ui.Hang("  ", "  ", ui.Clean(s.Versions), width))
	}
	if judges := judges(r.Profiles); judges != "" {
		out.WriteString(ui.Hang("  ", "  ", judges, width))
	}
	if live := writer(s); live != "" {
		out.WriteString(ui.Hang("  ", "  ", live, width))
	}
	if r.Recovery != "" {
		out.WriteString(ui.Hang("  ", "  ", ui.Red.Render("Damaged:")+" this result does not cover all of the store: "+
			ui.Ended(ui.Clean(r.Incomplete)), width))
		out.WriteString(ui.Hang("  ", "  ", ui.Sentence(ui.Clean(r.Recovery)), width))
	}
	out.WriteString("\n")
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
func (c *checkText) foot(out *strings.Builder, r *check.Result, took time.Duration) {
	width := c.Screen.TextWidth()
	if verdict := c.verdict(r, took); verdict != "" {
		out.WriteString(ui.Hang("", "", verdict, width))
	}
	if r.Incomplete != "" && r.Recovery == "" {
		out.WriteString(ui.Hang("", "", ui.Yellow.Render("Incomplete:")+" "+ui.Ended(ui.Clean(r.Incomplete)), width))
	}
	if len(check.Fresh(r.Findings)) > 0 {
		for _, advice := range r.Store.Advice {
			out.WriteString(ui.Hang("", "", ui.Clean(advice), width))
		}
	}
}

// verdict counts what was found, "" where nothing was looked at.
func (c *checkText) verdict(r *check.Result, took time.Duration) string {
	switch {
	case r.Trees > 0 || len(r.Findings) > 0:
		return tally(r) + counted(r, took)
	case r.Incomplete != "" || r.Recording || r.Against:
		return ""
	case c.Limited:
		return "No session of this store is among those to check."
	}
	return "There are no sessions in this store."
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
	var out strings.Builder
	if c.stores > 1 {
		c.summary(&out)
	}
	if end.Baseline != nil {
		out.WriteString(ui.Hang("", "", end.Baseline.sentence(), c.Screen.TextWidth()))
	}
	if len(end.Next) > 0 {
		out.WriteString(nothing(end.Baseline) + " was changed. Next:\n")
		out.WriteString(nextLines(end.Next, c.Screen.TextWidth()))
	}
	_, err := io.WriteString(c.Screen, out.String())
	return err
}

// tally is "1 error, 2 infos in 2 of 212 sessions, 3 known findings left out".
func tally(r *check.Result) string {
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
		return news(r.Findings) + " in " + ui.Count(r.Trees, "session") + rest
	case r.Recording:
		sessions = "the recording itself"
	case own && len(roots) == 0:
		sessions = "the store itself"
	case own:
		sessions = "the store itself and " + sessions
	}
	return news(r.Findings) + " in " + sessions + rest
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
