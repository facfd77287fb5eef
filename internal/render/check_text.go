package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

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

// judges says whose requests were judged, and why: "requests judged as by
// anthropic (the model is claude-opus-4-1) and generic (2 sessions)".
func judges(uses []check.Use) string {
	var words []string
	for _, p := range check.Profiles(uses) {
		words = append(words, p.Name+because(p, uses))
	}
	if len(words) == 0 {
		return ""
	}
	return "requests judged as by " + strings.Join(words, ", ")
}

// because is the reason for a profile in parentheses: what the sessions say,
// with their number where they do not say the same.
func because(p *rules.Profile, uses []check.Use) string {
	var why []string
	sessions := 0
	for _, use := range uses {
		if use.Profile == p {
			sessions += use.Sessions
			why = append(why, ui.Clean(use.Why))
		}
	}
	switch {
	case why[0] == "":
		return " (--profile)"
	case len(why) == 1:
		return " (" + why[0] + ")"
	}
	return fmt.Sprintf(" (%s: %s, and more)", ui.Count(sessions, "session"), why[0])
}

// answer is what a provider says to the next request of the session.
func answer(a *check.Answer) document.Document {
	head := words(span(document.Strong, "The next request, to "+a.Profile.Name), " ("+cmp.Or(a.Why, "--profile")+")")
	var facts document.Facts
	for _, sentence := range answerSentences(a) {
		facts = append(facts, words(sentence))
	}
	doc := document.Document{document.Line(head), facts}
	if a.Error != "" {
		doc = append(doc, document.Quotation(words(a.Error)))
	}
	return append(doc, document.Gap{})
}

// answerSentences say what becomes of the request. The provider's own words follow
// where they are known.
func answerSentences(a *check.Answer) []string {
	var sentences []string
	if a.Closed {
		sentences = append(sentences, "There will be none: this sub-session is finished, and its runtime never sends it to a model again.")
	}
	if a.Verdict == check.Accept {
		return append(sentences, "It is accepted, as far as is known.")
	}
	says, whose := "It is refused", "it"
	if a.Voice != "" {
		whose = "that of " + ui.Clean(a.Voice)
		says = "That of " + ui.Clean(a.Voice) + " is refused"
	}
	switch {
	case a.Verdict == check.Risk:
		says = "Some models or servers refuse " + whose
	case a.Closed:
		says = "As it is stored it would be refused"
	}
	if a.Item >= 0 {
		says += fmt.Sprintf(" because of item %d", a.Item)
	}
	if len(a.Rules) > 0 {
		says += " (" + strings.Join(a.Rules, ", ") + ")"
	}
	if a.Error == "" {
		return append(sentences, says+"; with which words is not known.")
	}
	return append(sentences, says+":")
}
