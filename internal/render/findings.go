package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// FindingBlocks are findings below a line for their session.
func FindingBlocks(findings []*check.Finding, width int, form func(*check.Finding) document.Finding) document.Document {
	var doc document.Document
	for i, f := range findings {
		if i == 0 || !sameSession(findings[i-1], f) {
			if i > 0 {
				doc = append(doc, document.Gap{})
			}
			doc = append(doc, headingLine(f, width))
		}
		doc = append(doc, form(f))
	}
	return doc
}

// NewFinding is a finding, with what it leads to where that is wanted.
func NewFinding(f *check.Finding, message string, leads bool) document.Finding {
	found := document.Finding{
		Severity: SeverityOf(f.Severity), Rule: f.Rule.ID, Name: f.Rule.Name, Place: FindingPlace(f), Message: document.Words(ui.EndSentence(ui.Clean(message))),
	}
	if leads {
		found.Consequences, found.Keep = Consequences(f), f.Call
	}
	return found
}

// RulePages is where the pages of rules are.
const RulePages = "https://github.com/sessctl/sessctl/blob/main/docs/rules/"

// WholeFinding is a finding with all that is known of it, also what would put it right.
func WholeFinding(f *check.Finding, message string) document.Finding {
	found := NewFinding(f, message, true)
	found.URL, found.Known, found.Whole = RulePages+f.Rule.ID+".md", f.Known, true
	if len(f.Fixes) > 0 {
		fix := &f.Fixes[0]
		repair := document.Words(Span(document.Strong, "Repair: "), ui.EndSentence(ui.Clean(fix.Title)))
		if len(fix.Allow) > 0 {
			repair = document.Words(repair, " It needs ", Span(document.Code, "--allow "+strings.Join(fix.Allow, ",")), ".")
		}
		found.Consequences = append(found.Consequences, repair)
	}
	return found
}

// WorstRole is how the worst of findings stands out.
func WorstRole(findings []*check.Finding) document.Role {
	return roleOf(slices.MaxFunc(findings, func(a, b *check.Finding) int { return cmp.Compare(a.Severity, b.Severity) }).Severity)
}

// FindingLines have a line for each finding, cut where the screen ends, and for each
// session what a provider answers to its next request.
func FindingLines(findings []*check.Finding, width int) document.Document {
	answers := map[string]*check.Finding{}
	for _, f := range findings {
		if before := answers[rootOf(f)]; f.ProviderError != "" && (before == nil || f.IsRefused() && !before.IsRefused()) {
			answers[rootOf(f)] = f
		}
	}
	return FindingBlocks(findings, width, func(f *check.Finding) document.Finding {
		line := NewFinding(f, "", f == answers[rootOf(f)])
		line.Brief, line.Message = width >= narrow, document.Words(firstSentence(ui.Clean(SaidMessage(f))))
		line.Place = ui.Truncate(line.Place, max(mostPlace, lipgloss.Width(ui.Clean(rules.ShortID(f.Session)))+mostPlace/2))
		line.Consequences = line.Consequences[:min(1, len(line.Consequences))]
		return line
	})
}

const narrow = 64 // columns of a screen, below which nothing of a message fits beside its place

// mostPlace is what a place takes of a line, in columns, unless its id is longer.
const mostPlace = 24

// firstSentence is the beginning of a message, which says what was found.
func firstSentence(message string) string {
	for at := range len(message) - 2 {
		if message[at:at+2] == ". " && unicode.IsUpper(rune(message[at+2])) {
			return message[:at]
		}
	}
	return strings.TrimSuffix(message, ".")
}

// HiddenWords say what --max-findings left out.
func HiddenWords(list []*hidden) []string { return lists.MapEach(list, (*hidden).Words) }

// HiddenLines say it as a list.
func HiddenLines(list []*hidden) document.List {
	return lists.MapEach(list, func(h *hidden) document.Item { return Entry(h.Words()) })
}

func sameSession(a, b *check.Finding) bool {
	return a.Root == nil && b.Root == nil || a.Root != nil && b.Root != nil && a.Root.ID == b.Root.ID
}

// rootOf is the id of the root session, "" for the store itself.
func rootOf(f *check.Finding) string {
	if f.Root == nil {
		return ""
	}
	return f.Root.ID
}

// headingLine is the line of a root session: id, title, date.
func headingLine(f *check.Finding, width int) document.Line {
	switch {
	case f.Line != "":
		return document.Line{Span(document.Strong, "The recording itself")}
	case f.Root == nil:
		return document.Line{Span(document.Strong, "The store itself")}
	}
	id, day := ui.Clean(rules.ShortID(f.Root.ID)), Date(f.Root.Created)
	room := width - lipgloss.Width(id) - len(day) - 4
	text := ui.Truncate(Title(f.Root.Title), room)
	gap := strings.Repeat(" ", max(0, room-lipgloss.Width(text)))
	return document.Line(document.Words(Span(document.Strong, id), strings.TrimRight("  "+text+gap+"  "+day, " ")))
}

// FindingPlace is SESSION:ITEMS, "store" with the record for a finding of the store, or the
// line of a recording.
func FindingPlace(f *check.Finding) string {
	if f.Line != "" {
		return "line:" + ui.Clean(f.Line)
	}
	if f.Session == "" {
		return "store:" + ui.Clean(f.Row)
	}
	id := ui.Clean(rules.ShortID(f.Session))
	if len(f.Items) == 0 {
		return id
	}
	return id + ":" + itemRanges(f.Items)
}

// mostRanges is how many bytes of them are printed; items of a finding in JSON are all there.
const mostRanges = 500

// itemRanges prints item positions without spaces: "2-3,6".
func itemRanges(items []int) string {
	var text []byte
	for i, item := range items {
		goesOn := i > 0 && items[i-1] == item-1
		switch {
		case !goesOn && len(text) > mostRanges:
			return strings.TrimPrefix(string(text), ",") + ",…"
		case !goesOn:
			text = strconv.AppendInt(append(text, ','), int64(item), 10)
		case i+1 == len(items) || items[i+1] != item+1:
			text = strconv.AppendInt(append(text, '-'), int64(item), 10)
		}
	}
	return strings.TrimPrefix(string(text), ",")
}

// Consequences are what the provider answers because of a finding, and what an
// adapter for it sends instead; none when it minds nothing.
func Consequences(f *check.Finding) []document.Text {
	var all []document.Text
	who := ""
	if len(f.Judged) > 1 {
		who = " to " + f.Profile.Name
	}
	if f.ProviderError != "" {
		fails := "fails"
		if f.Severity < rules.Error {
			fails = "would fail now" // the result may still come
			if _, doubtful := f.Profile.Levels[f.Rule.ID]; doubtful {
				fails = "may fail"
			}
		}
		lead := "the next request" + who + " " + fails + " with: "
		if f.Eased != "" {
			lead = f.Eased + " hide this error: "
		}
		all = append(all, document.Words(lead, Span(document.Code, BoundMessage(f.ProviderError))))
	}
	if f.Sent != "" {
		all = append(all, document.Words("an adapter sends instead: "+BoundMessage(f.Sent)))
	}
	return all
}

// FindingsText has them as paragraphs.
func FindingsText(findings []*check.Finding, width int) document.Document {
	return FindingBlocks(findings, width, func(f *check.Finding) document.Finding {
		found := NewFinding(f, SaidMessage(f), true)
		found.Whole = true
		return found
	})
}

// hidden counts the findings of one rule that --max-findings left out.
type hidden struct {
	Rule     *rules.Rule
	findings int
	sessions map[string]bool
}

func (h *hidden) Words() string {
	where := ""
	if len(h.sessions) > 0 {
		where = " in " + ui.Count(len(h.sessions), "session")
	}
	return fmt.Sprintf("…and %s more of %s %s%s (all of them: --max-findings 0)", ui.Number(h.findings), h.Rule.ID, h.Rule.Name, where)
}

// LimitFindings keeps up to n findings of each rule: those of the newest sessions, and of one
// session the first. They keep their order.
func LimitFindings(findings []*check.Finding, n int) (shown []*check.Finding, left []*hidden) {
	if n == 0 {
		return findings, nil
	}
	newest := slices.Clone(findings)
	slices.SortStableFunc(newest, func(a, b *check.Finding) int { return conversationStart(b).Compare(conversationStart(a)) })
	counts, kept := map[*rules.Rule]int{}, map[*check.Finding]bool{}
	for _, f := range newest {
		counts[f.Rule]++
		kept[f] = counts[f.Rule] <= n
	}
	shown = slices.DeleteFunc(slices.Clone(findings), func(f *check.Finding) bool { return !kept[f] })
	others := slices.DeleteFunc(slices.Clone(findings), func(f *check.Finding) bool { return kept[f] })
	for _, list := range lists.GroupBy(others, func(f *check.Finding) *rules.Rule { return f.Rule }) {
		h := &hidden{Rule: list[0].Rule, findings: len(list), sessions: map[string]bool{}}
		for _, f := range list {
			if f.Session != "" {
				h.sessions[f.Session] = true
			}
		}
		left = append(left, h)
	}
	return shown, left
}

// CountSessions counts the sessions of findings, with their sub-sessions as one.
func CountSessions(findings []*check.Finding) int {
	ids := map[string]bool{}
	for _, f := range findings {
		if f.Root != nil {
			ids[f.Root.ID] = true
		}
	}
	return len(ids)
}

// ByRule are the findings of each rule and severity, the worst first.
func ByRule(findings []*check.Finding) [][]*check.Finding {
	type kind struct {
		*rules.Rule
		rules.Severity
	}
	all := lists.GroupBy(findings, func(f *check.Finding) kind { return kind{f.Rule, f.Severity} })
	slices.SortStableFunc(all, func(a, b []*check.Finding) int { return cmp.Compare(b[0].Severity, a[0].Severity) })
	return all
}

// SessionProspects say what becomes of the sessions, also where a baseline knows why.
func SessionProspects(r *check.Result) document.Document {
	looks := map[string]check.Outlook{}
	for _, f := range r.Findings {
		if f.Root != nil {
			looks[f.Root.ID] = f.Root.Outlook
		}
	}
	counts := map[check.Outlook]int{}
	for _, o := range looks {
		counts[o]++
	}
	var doc document.Document
	of := " of " + ui.Count(r.Trees, "session")
	for _, o := range outlooks {
		if n := counts[o.Outlook]; n == 1 {
			doc = append(doc, Say("1"+of+o.one))
		} else if n > 1 {
			doc = append(doc, Say(ui.Number(n)+of+o.several))
		}
	}
	if doc == nil && r.Incomplete == "" {
		doc = append(doc, Say("Nothing that was found keeps a session from resuming."))
	}
	if doc != nil {
		doc = append(doc, document.Gap{})
	}
	return doc
}

// outlooks are what is said of one session and of several, the worst first.
var outlooks = []struct {
	check.Outlook
	one, several string
}{
	{check.Unloaded, " cannot resume: its runtime fails to load it.", " cannot resume: their runtime fails to load them."},
	{check.Refused, " cannot resume: the provider refuses its next request.", " cannot resume: the provider refuses their next requests."},
	{check.Waits, " does not resume until a call has its result.", " do not resume until calls have their results."},
	{check.Doubtful, " may be refused: that depends on the model or the server.", " may be refused: that depends on the model or the server."},
	{check.Loses, " resumes, but the model loses something.", " resume, but the model loses something."},
}

// OutlookSentence says what becomes of a session: "cannot resume: the provider refuses its next request."
func OutlookSentence(of check.Outlook) string {
	for _, o := range outlooks {
		if o.Outlook == of {
			return strings.TrimSpace(o.one)
		}
	}
	return "resumes"
}

// NewestFirst orders findings by their sessions as ls does: the newest first.
func NewestFirst(findings []*check.Finding) []*check.Finding {
	return slices.SortedStableFunc(slices.Values(findings), func(a, b *check.Finding) int {
		order := conversationStart(b).Compare(conversationStart(a))
		if order == 0 && a.Root != nil && b.Root != nil {
			order = cmp.Compare(a.Root.ID, b.Root.ID)
		}
		return order
	})
}

// conversationStart is when the conversation of a finding began. What concerns the store as a whole
// comes before all sessions.
func conversationStart(f *check.Finding) time.Time {
	if f.Root == nil {
		return time.Unix(1<<60, 0)
	}
	return f.Root.Created
}

// FreshSeverities is "1 error, 2 infos", of the findings that no baseline knows.
func FreshSeverities(findings []*check.Finding) document.Text {
	fresh := check.FreshFindings(findings)
	if len(fresh) == 0 && len(findings) > 0 {
		return document.Words("No new findings")
	}
	return SeverityCounts(fresh)
}

// LeftOut counts the findings that people are not shown, because they stand in the
// baseline: ", 2 known findings left out".
func LeftOut(findings []*check.Finding) string {
	known := len(findings) - len(check.FreshFindings(findings))
	if known == 0 {
		return ""
	}
	return ", " + ui.Count(known, "known finding") + " left out"
}

// LongestMessage is how much of a message people are shown, in characters: runtimes take
// names of any length, and a message may hold several. The JSON formats hold all of it.
const LongestMessage = 2000

// BoundMessage is a text of at most longestMessage characters.
func BoundMessage(text string) string {
	characters := 0
	for i := range text {
		if characters == LongestMessage {
			return text[:i] + "…"
		}
		characters++
	}
	return text
}

// SaidMessage is the message of a finding for people. One that got worse than the baseline
// knows it says so.
func SaidMessage(f *check.Finding) string { return besideBaseline(f, f.Message) }

// ReportedMessage is said for what is kept and passed on.
func ReportedMessage(f *check.Finding) string { return besideBaseline(f, f.ReportedMessage()) }

func besideBaseline(f *check.Finding, message string) string {
	if f.Was == nil {
		return BoundMessage(message)
	}
	was := f.Was.Severity.String()
	if f.Was.Items > 0 {
		was += ", " + ui.Count(f.Was.Items, "item")
	}
	return "worse than in the baseline (" + was + "): " + BoundMessage(message)
}

// JudgeList says for which providers requests were checked, and why: "anthropic (the model is
// claude-opus-4-1), generic (2 sessions: no model is named, and more)".
func JudgeList(uses []check.Use) string {
	words := lists.MapEach(check.UsedProfiles(uses), func(p *rules.Profile) string { return p.Name + becauseClause(p, uses) })
	return strings.Join(words, ", ")
}

// CheckedAgainst says it on screens and pages, "" where no provider was asked.
func CheckedAgainst(uses []check.Use) string {
	if len(uses) == 0 {
		return ""
	}
	return "checked against: " + JudgeList(uses)
}

// becauseClause is the reason for a profile in parentheses: what the sessions say,
// with their number where they do not say the same.
func becauseClause(p *rules.Profile, uses []check.Use) string {
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

// AnswerBlocks are what providers say to the next request of the session.
func AnswerBlocks(answers []check.Answer) document.Document {
	var doc document.Document
	for i := range answers {
		a := &answers[i]
		head := document.Words(Span(document.Strong, "The next request, to "+a.Profile.Name), " ("+cmp.Or(a.Why, "--profile")+")")
		facts := lists.MapEach(AnswerSentences(a), func(said string) document.Text { return document.Words(said) })
		doc = append(doc, document.Line(head), document.Facts(facts))
		if a.Error != "" {
			doc = append(doc, document.Quotation(document.Words(a.Error)))
		}
		doc = append(doc, document.Gap{})
	}
	return doc
}

// AnswerSentences say what becomes of the request. The provider's own words follow
// where they are known.
func AnswerSentences(a *check.Answer) []string {
	var sentences []string
	if a.Closed {
		sentences = append(sentences, "There will be none: this sub-session is finished, and its runtime never sends it to a model again.")
	}
	if a.Verdict == check.Accept {
		return append(sentences, "It is accepted, as far as is known.")
	}
	says, whose := "It is refused", "it"
	if a.Viewer != "" {
		whose = "that of " + ui.Clean(a.Viewer)
		says = "That of " + ui.Clean(a.Viewer) + " is refused"
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

// Severities count findings.
type Severities struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// Add counts further findings.
func (s *Severities) Add(findings []*check.Finding) {
	count := (&check.Result{Findings: findings}).Count
	s.Errors += count(rules.Error)
	s.Warnings += count(rules.Warning)
	s.Infos += count(rules.Info)
}

// SeverityCounts is "1 error, 2 infos".
func SeverityCounts(findings []*check.Finding) document.Text {
	var parts document.Text
	for _, severity := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		if n := (&check.Result{Findings: findings}).Count(severity); n > 0 {
			parts = append(parts, document.Span{Text: ", "}, Span(roleOf(severity), ui.Count(n, severity.String())))
		}
	}
	if parts == nil {
		return document.Words("No findings")
	}
	return parts[1:]
}

// RefusedSessions are the sessions whose next request a provider refuses because of what
// is left, in the order of the findings.
func RefusedSessions(left []*check.Finding) []string {
	var ids []string
	for _, f := range left {
		if f.IsRefused() && f.Session != "" {
			ids = lists.AppendNew(ids, f.Session)
		}
	}
	return ids
}

// WidestPlace keeps places with hundreds of items from filling a page.
const WidestPlace = 60
