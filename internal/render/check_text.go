package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
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
	findings []*check.Finding
}

func (c *checkText) Store(r *check.Result, took time.Duration) error {
	var out strings.Builder
	if c.printed && !c.Quiet {
		out.WriteString("\n")
	}
	c.printed = true
	if !r.Recording {
		c.stores++
	}
	c.findings = append(c.findings, r.Findings...)
	if !c.Quiet || len(r.Findings) > 0 {
		c.head(&out, r)
	}
	shown, hidden := limit(r.Findings, c.MaxFindings)
	if len(shown) > 0 {
		if err := c.body(&out, &c.CheckOptions, shown); err != nil {
			return err
		}
		for _, h := range hidden {
			out.WriteString(h.sentence(c.Screen.TextWidth()))
		}
	}
	for _, a := range r.Answers {
		answer(&out, &a, c.Screen.TextWidth())
	}
	if !c.Quiet {
		c.foot(&out, r, took)
	}
	_, err := io.WriteString(c.Screen, out.String())
	return err
}

// head names the store.
func (c *checkText) head(out *strings.Builder, r *check.Result) {
	s, width := r.Store, c.Screen.TextWidth()
	out.WriteString(ui.Bold.Render(storeName(s, c.Home)) + "\n")
	if r.Recording {
		return
	}
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	facts = append(facts, ui.Bytes(s.Bytes), c.sessions(r))
	out.WriteString(ui.Hang("  ", "  ", strings.Join(facts, ", "), width))
	if s.Runtime != "" {
		out.WriteString(ui.Hang("  ", "  ", ui.Clean(s.Runtime), width))
	}
	if judges := judges(r.Profiles); judges != "" {
		out.WriteString(ui.Hang("  ", "  ", judges, width))
	}
	if live := writer(s); live != "" {
		out.WriteString(ui.Hang("  ", "  ", live, width))
	}
	out.WriteString("\n")
}

// sessions counts what was checked, as people count: a conversation with its
// sub-sessions is one.
func (c *checkText) sessions(r *check.Result) string {
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
	if r.Trees == 0 && r.Incomplete == "" && !r.Recording && !r.Against {
		none := "There are no sessions in this store."
		if c.Limited {
			none = "No session of this store is that recent."
		}
		out.WriteString(none + "\n")
	}
	if r.Trees > 0 || len(r.Findings) > 0 {
		out.WriteString(ui.Hang("", "", tally(r)+counted(r, took), width))
	}
	if r.Incomplete != "" {
		out.WriteString(ui.Hang("", "", ui.Yellow.Render("Incomplete:")+" "+ui.Ended(ui.Clean(r.Incomplete)), width))
	}
	if len(r.Findings) > 0 {
		for _, advice := range r.Store.Advice {
			out.WriteString(ui.Hang("", "", ui.Clean(advice), width))
		}
	}
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

// Unread says nothing: standard error has it.
func (c *checkText) Unread(Unread) {}

// Close sums up several stores and says what to type next.
func (c *checkText) Close(end Ending) error {
	if c.Quiet {
		return nil
	}
	var out strings.Builder
	if c.stores > 1 {
		fmt.Fprintf(&out, "\n%s in %s\n", severities(c.findings), ui.Count(c.stores, "store"))
	}
	if len(end.Next) > 0 {
		out.WriteString("Nothing was changed. Next:\n")
		out.WriteString(nextLines(end.Next, c.Screen.TextWidth()))
	}
	_, err := io.WriteString(c.Screen, out.String())
	return err
}

// tally is "1 error, 2 infos in 2 of 212 sessions".
func tally(r *check.Result) string {
	roots, own := map[string]bool{}, false
	for _, f := range r.Findings {
		if f.Root == nil {
			own = true
		} else {
			roots[f.Root.ID] = true
		}
	}
	sessions := ui.Number(len(roots)) + " of " + ui.Count(r.Trees, "session")
	switch {
	case len(r.Findings) == 0:
		return "No findings in " + ui.Count(r.Trees, "session")
	case r.Recording:
		sessions = "the recording itself"
	case own && len(roots) == 0:
		sessions = "the store itself"
	case own:
		sessions = "the store itself and " + sessions
	}
	return severities(r.Findings) + " in " + sessions
}

// severities is "1 error, 2 infos".
func severities(findings []*check.Finding) string {
	var parts []string
	for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		n := 0
		for _, f := range findings {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, styleOf(severity).Render(ui.Count(n, severity.String())))
		}
	}
	if len(parts) == 0 {
		return "No findings"
	}
	return strings.Join(parts, ", ")
}
