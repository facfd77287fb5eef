package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
)

func text(o render.CheckOptions) render.CheckWriter { return &checkText{CheckOptions: o} }

// checkText prints for people: the same on a terminal and in a pipe, but for
// colour.
type checkText struct {
	render.CheckOptions

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
		doc = append(doc, document.List{render.Entry(render.NameOf(r.Store, c.Home), ": ", c.verdict(r, took))})
	}
	return document.Lines(c.Screen)(doc)
}

// whole is all that is known of a store.
func (c *checkText) whole(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	fresh := c.Shown(r.Findings)
	if !c.Quiet || len(fresh) > 0 {
		doc = c.head(r)
	}
	if !c.Quiet && len(fresh) > 0 && !r.Recording && !r.Against {
		doc = append(doc, overview(r, fresh)...)
	}
	doc = append(doc, c.listed(r, fresh)...)
	for i := range r.Answers {
		doc = append(doc, render.Answer(&r.Answers[i])...)
	}
	if !c.Quiet {
		doc = append(doc, c.foot(r, took)...)
	}
	return doc
}

// head names the store.
func (c *checkText) head(r *check.Result) document.Document {
	name := document.Line(render.NameOf(r.Store, c.Home))
	if r.Recording {
		return document.Document{name}
	}
	facts := document.Facts{document.Words(c.Facts(r))}
	for _, fact := range []string{r.Store.Versions, render.CheckedAgainst(r.Profiles), render.Writer(r.Store)} {
		if fact != "" {
			facts = append(facts, document.Words(fact))
		}
	}
	if r.Recovery != "" {
		facts = append(facts, document.Words(render.Span(document.Bad, "Damaged:"), " this result does not cover all of the store: "+ui.Ended(ui.Clean(r.Incomplete))),
			document.Words(ui.Sentence(ui.Clean(r.Recovery))))
	}
	return document.Document{name, facts, document.Gap{}}
}

// foot sums up.
func (c *checkText) foot(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	if verdict := c.verdict(r, took); verdict != nil {
		doc = append(doc, document.Paragraph(verdict))
	}
	if r.Incomplete != "" && r.Recovery == "" {
		doc = append(doc, render.Say(render.Span(document.Notice, "Incomplete:"), " "+ui.Ended(ui.Clean(r.Incomplete))))
	}
	if len(check.Fresh(r.Findings)) > 0 {
		for _, advice := range r.Store.Advice {
			doc = append(doc, render.Say(advice))
		}
	}
	return doc
}

// verdict counts what was found, nil where nothing was looked at.
func (c *checkText) verdict(r *check.Result, took time.Duration) document.Text {
	switch {
	case r.Trees > 0 || len(r.Findings) > 0:
		return document.Words(tally(r), counted(r, took))
	case r.Incomplete != "" || r.Recording || r.Against:
		return nil
	case c.Limited:
		return document.Words("No session of this store is among those to check.")
	}
	return document.Words("There are no sessions in this store.")
}

// counted is how much was looked at: " (22 messages in 0.1 s)". A recording says
// nothing of messages that other runs left.
func counted(r *check.Result, took time.Duration) string {
	switch {
	case r.Recording:
		return ""
	case r.Against && r.Compared < r.Items:
		return fmt.Sprintf(" (%s of %s in the recording, the others were not compared; %.1f s)", ui.Number(r.Compared), ui.Count(r.Items, "message"), took.Seconds())
	}
	return fmt.Sprintf(" (%s in %.1f s)", ui.Count(r.Items, "message"), took.Seconds())
}

// Close sums up several stores and says what to type next.
func (c *checkText) Close(end render.Ending) error {
	if c.Quiet {
		return nil
	}
	var doc document.Document
	if c.stores > 1 {
		doc = c.summary()
	}
	if end.Baseline != nil {
		doc = append(doc, render.Say(end.Baseline.Sentence()))
	}
	if len(end.Next) > 0 {
		doc = append(doc, document.Commands{Lead: render.Nothing(end.Baseline) + " was changed. Next:", List: end.Next})
	}
	return document.Lines(c.Screen)(doc)
}

// tally is "1 error, 2 infos in 2 of 212 sessions, 3 known findings left out".
func tally(r *check.Result) document.Text {
	fresh, rest := check.Fresh(r.Findings), render.LeftOut(r.Findings)
	own := slices.ContainsFunc(fresh, func(f *check.Finding) bool { return f.Root == nil })
	sessions := ui.Number(render.Sessions(fresh)) + " of " + ui.Count(r.Trees, "session")
	switch {
	case len(fresh) == 0:
		return document.Words(render.News(r.Findings), " in "+ui.Count(r.Trees, "session")+rest)
	case r.Recording:
		sessions = "the recording itself"
	case own && render.Sessions(fresh) == 0:
		sessions = "the store itself"
	case own:
		sessions = "the store itself and " + sessions
	}
	return document.Words(render.News(r.Findings), " in "+sessions+rest)
}

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
	name := render.StoreName(r.Store, c.Home)
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
func (c *checkText) Unread(u render.Unread) {
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
	doc := document.Document{document.Gap{}, document.Line(document.Words(render.News(c.findings), " in "+where+render.LeftOut(c.findings)))}
	for _, s := range remarkable {
		doc = append(doc, document.Line(document.Words("  "+s.name+strings.Repeat(" ", widest-lipgloss.Width(s.name))+"  ", s.words())))
	}
	return doc
}

// words are the findings of a store and what keeps it from being checked.
func (s *storeSum) words() document.Text {
	var all document.Text
	if len(s.findings) > 0 {
		all = render.Severities(s.findings)
	}
	if s.trouble != "" && all != nil {
		all = document.Words(all, ", ")
	}
	return document.Words(all, render.Span(document.Notice, s.trouble))
}
