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
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

func newCheckText(o render.CheckOptions) render.CheckWriter { return &checkText{CheckOptions: o} }

// checkText prints for people: the same on a terminal and in a pipe, but for
// colour.
type checkText struct {
	render.CheckOptions

	stores   int
	printed  bool // something
	short    bool // the last store got one line
	findings []*check.Finding
	cut      int // findings of all stores that a line has no room for
	sums     []storeSum
}

func (c *checkText) Store(r *check.Result, took time.Duration) error {
	var doc document.Document
	short := c.isUnremarkable(r)
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
		doc = append(doc, c.storeBlocks(r, took)...)
	case !c.Quiet:
		doc = append(doc, document.List{render.Entry(render.NameOf(r.Store, c.Home), ": ", c.verdictText(r, took))})
	}
	c.cut += document.ShortenedFindings(c.Screen, doc)
	return document.Lines(c.Screen)(doc)
}

// storeBlocks is all that is known of a store.
func (c *checkText) storeBlocks(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	fresh := c.ShownFindings(r.Findings)
	if !c.Quiet || len(fresh) > 0 {
		doc = c.headBlocks(r)
	}
	if !c.Quiet && len(fresh) > 0 && !r.Recording && !r.Against {
		doc = append(doc, overviewTable(r, fresh)...)
	}
	doc = append(doc, c.listFindings(r, fresh)...)
	doc = append(doc, render.AnswerBlocks(r.Answers)...)
	if !c.Quiet {
		doc = append(doc, c.footBlocks(r, took)...)
	}
	return doc
}

// headBlocks names the store.
func (c *checkText) headBlocks(r *check.Result) document.Document {
	name := document.Line(render.NameOf(r.Store, c.Home))
	if r.Recording {
		return document.Document{name}
	}
	facts := document.Facts{document.Words(c.Facts(r))}
	for _, fact := range []string{r.Store.Versions, render.CheckedAgainst(r.Profiles), render.WriterNote(r.Store)} {
		if fact != "" {
			facts = append(facts, document.Words(fact))
		}
	}
	if r.Recovery != "" {
		facts = append(facts, document.Words(render.Span(document.Bad, "Damaged:"), " this result does not cover all of the store: "+ui.EndSentence(ui.Clean(r.Incomplete))),
			document.Words(ui.AsSentence(ui.Clean(r.Recovery))))
	}
	return document.Document{name, facts, document.Gap{}}
}

// footBlocks sums up.
func (c *checkText) footBlocks(r *check.Result, took time.Duration) document.Document {
	var doc document.Document
	if verdict := c.verdictText(r, took); verdict != nil {
		doc = append(doc, document.Paragraph(verdict))
	}
	if r.Incomplete != "" && r.Recovery == "" {
		doc = append(doc, render.Say(render.Span(document.Notice, "Incomplete:"), " "+ui.EndSentence(ui.Clean(r.Incomplete))))
	}
	if len(check.FreshFindings(r.Findings)) > 0 {
		for _, advice := range r.Store.Advice {
			doc = append(doc, render.Say(advice))
		}
	}
	return doc
}

// verdictText counts what was found, nil where nothing was looked at.
func (c *checkText) verdictText(r *check.Result, took time.Duration) document.Text {
	switch {
	case r.Trees > 0 || len(r.Findings) > 0:
		return document.Words(tallyText(r), countedClause(r, took))
	case r.Incomplete != "" || r.Recording || r.Against:
		return nil
	case c.Limited:
		return document.Words("No session of this store is among those to check.")
	}
	return document.Words("There are no sessions in this store.")
}

// countedClause is how much was looked at: " (22 messages in 0.1 s)". A recording says
// nothing of messages that other runs left.
func countedClause(r *check.Result, took time.Duration) string {
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
		doc = c.summaryBlocks()
	}
	if c.cut > 0 && !c.Full {
		doc = append(doc, render.Say("Shortened: "+ui.Count(c.cut, "finding")+" (--full prints "+rules.VerbForm(c.cut, "it", "them")+" whole)"))
	}
	if end.Baseline != nil {
		doc = append(doc, render.Say(end.Baseline.Sentence()))
	}
	if len(end.Next) > 0 {
		doc = append(doc, document.Commands{Lead: render.UnchangedSubject(end.Baseline) + " was changed. Next:", List: end.Next})
	}
	return document.Lines(c.Screen)(doc)
}

// tallyText is "1 error, 2 infos in 2 of 212 sessions, 3 known findings left out".
func tallyText(r *check.Result) document.Text {
	fresh, rest := check.FreshFindings(r.Findings), render.LeftOut(r.Findings)
	own := slices.ContainsFunc(fresh, func(f *check.Finding) bool { return f.Root == nil })
	sessions := ui.Number(render.CountSessions(fresh)) + " of " + ui.Count(r.Trees, "session")
	switch {
	case len(fresh) == 0:
		return document.Words(render.FreshSeverities(r.Findings), " in "+ui.Count(r.Trees, "session")+rest)
	case r.Recording:
		sessions = "the recording itself"
	case own && render.CountSessions(fresh) == 0:
		sessions = "the store itself"
	case own:
		sessions = "the store itself and " + sessions
	}
	return document.Words(render.FreshSeverities(r.Findings), " in "+sessions+rest)
}

// storeSum is what the summary of several stores says of one.
type storeSum struct {
	name     string
	findings []*check.Finding
	trouble  string // why not everything was checked, "" if it was
}

// isUnremarkable reports whether one line says all about a store: it is one of several,
// and nothing is there that a person has to look at.
func (c *checkText) isUnremarkable(r *check.Result) bool {
	return c.Several && len(check.FreshFindings(r.Findings)) == 0 && r.Incomplete == "" && len(r.Answers) == 0 && !r.Recording
}

// sumUp takes note of a store for the summary.
func (c *checkText) sumUp(r *check.Result) {
	name := render.StoreName(r.Store, c.Home)
	at := slices.IndexFunc(c.sums, func(s storeSum) bool { return s.name == name })
	if at < 0 {
		at = len(c.sums)
		c.sums = append(c.sums, storeSum{name: name})
	}
	c.sums[at].findings = check.FreshFindings(r.Findings)
	if r.Incomplete != "" {
		c.sums[at].trouble = "incomplete"
	}
}

// Unread takes note of a store for the summary; what is wrong with it is on standard
// error.
func (c *checkText) Unread(u render.Unread) {
	c.sums = append(c.sums, storeSum{name: ui.Clean(ui.Tilde(u.Store, c.Home)), trouble: "could not be read"})
}

// summaryBlocks is what was found in all stores together: with more than a few, also in
// which of them, so that nobody has to look for it between the others.
func (c *checkText) summaryBlocks() document.Document {
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
	doc := document.Document{document.Gap{}, document.Line(document.Words(render.FreshSeverities(c.findings), " in "+where+render.LeftOut(c.findings)))}
	for _, s := range remarkable {
		doc = append(doc, document.Line(document.Words("  "+s.name+strings.Repeat(" ", widest-lipgloss.Width(s.name))+"  ", s.sumWords())))
	}
	return doc
}

// sumWords are the findings of a store and what keeps it from being checked.
func (s *storeSum) sumWords() document.Text {
	var all document.Text
	if len(s.findings) > 0 {
		all = render.SeverityCounts(s.findings)
	}
	if s.trouble != "" && all != nil {
		all = document.Words(all, ", ")
	}
	return document.Words(all, render.Span(document.Notice, s.trouble))
}

// overviewTable says how many sessions cannot resume, and counts the findings by rule.
func overviewTable(r *check.Result, fresh []*check.Finding) document.Document {
	table := document.Table{Columns: []document.Column{
		{Name: "SEVERITY"}, {Name: "RULE"}, {Name: "NAME", Give: document.Cut}, {Name: "FINDINGS", Right: true}, {Name: "SESSIONS", Right: true}, {Name: "REPAIR"},
	}}
	for _, found := range render.ByRule(fresh) {
		f := found[0]
		table.Rows = append(table.Rows, render.Cells(render.SeverityOf(f.Severity), f.Rule.ID, f.Rule.Name,
			ui.Number(len(found)), ui.Number(render.CountSessions(found)), repairSummary(found)))
	}
	return append(render.SessionProspects(r), table, document.Gap{})
}

// repairSummary say whether what one rule found can be repaired: all of it or some, and what
// has to be typed besides.
func repairSummary(found []*check.Finding) string {
	best, count := "no", map[string]int{}
	for _, f := range found {
		how := repairOf(f)
		count[how]++
		if how == "yes" || best == "no" {
			best = how
		}
	}
	if count[best] == len(found) {
		return best
	}
	return best + " (" + ui.Number(count[best]) + " of " + ui.Number(len(found)) + ")"
}

func repairOf(f *check.Finding) string {
	switch {
	case f.IsRepairable():
		return "yes"
	case f.AllowWords() != nil:
		return "with --allow " + strings.Join(f.AllowWords(), ",")
	case f.IsAccepted() && len(f.Fixes) > 0 && len(f.Fixes[0].Edits) > 0:
		return "with --select " + f.Rule.ID
	}
	return "no"
}

// listFindings lists the findings one by one, those of the newest session first. A stream and a
// recording keep their order, as their lines do. The cap leaves something of the newest
// session, however much there is about the store itself.
func (c *checkText) listFindings(r *check.Result, fresh []*check.Finding) document.Document {
	var shown, minor, hidden []*check.Finding
	session := false // one is among those shown
	for _, f := range render.NewestFirst(fresh) {
		switch {
		case f.Severity < c.Least && !f.IsRefused():
			minor = append(minor, f)
		case c.MaxFindings > 0 && len(shown) >= c.MaxFindings && (session || f.Root == nil):
			hidden = append(hidden, f)
		default:
			shown, session = append(shown, f), session || f.Root != nil
		}
	}
	more := render.CountSessions(slices.Concat(shown, hidden)) - render.CountSessions(shown)
	if r.Recording || r.Store.CountsKeys {
		place := map[*check.Finding]int{}
		for i, f := range fresh {
			place[f] = i
		}
		slices.SortFunc(shown, func(a, b *check.Finding) int { return place[a] - place[b] })
	}
	var doc document.Document
	if len(shown) > 0 {
		form := render.FindingLines
		if c.Full {
			form = render.FindingsText
		}
		doc = append(form(shown, c.Screen.TextWidth()), document.Gap{})
	}
	if len(hidden) > 0 {
		where := ""
		if more > 0 {
			where = " in " + ui.Count(more, "more session")
		}
		doc = append(doc, render.Say("Not listed: ", render.SeverityCounts(hidden), where+" (--max-findings 0 lists all)"))
	}
	if len(minor) > 0 {
		doc = append(doc, render.Say("Not listed: ", render.SeverityCounts(minor), " (--severity "+rules.Info.String()+" lists them)"))
	}
	return doc
}
