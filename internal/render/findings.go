package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// findingBlocks are findings below a line for their session.
func findingBlocks(findings []*check.Finding, width int, message func(*check.Finding) string) document.Document {
	var doc document.Document
	for i, f := range findings {
		if i == 0 || !sameSession(findings[i-1], f) {
			if i > 0 {
				doc = append(doc, document.Gap{})
			}
			doc = append(doc, heading(f, width))
		}
		doc = append(doc, findingOf(f, message(f), true))
	}
	return doc
}

// findingOf is a finding, with what it leads to where that is wanted.
func findingOf(f *check.Finding, message string, leads bool) document.Finding {
	found := document.Finding{
		Severity: severityOf(f.Severity), Rule: f.Rule.ID, Name: f.Rule.Name, Place: place(f), Message: words(ui.Ended(ui.Clean(message))),
	}
	if leads {
		found.Consequences = consequences(f)
	}
	return found
}

// hiddenLines say what --max-findings left out.
func hiddenLines(list []*hidden) document.List {
	var items document.List
	for _, h := range list {
		items = append(items, entry(h.words()))
	}
	return items
}

func sameSession(a, b *check.Finding) bool {
	return a.Root == nil && b.Root == nil || a.Root != nil && b.Root != nil && a.Root.ID == b.Root.ID
}

// heading is the line of a root session: id, title, date.
func heading(f *check.Finding, width int) document.Line {
	switch {
	case f.Line != "":
		return document.Line{span(document.Strong, "The recording itself")}
	case f.Root == nil:
		return document.Line{span(document.Strong, "The store itself")}
	}
	id, day := ui.Clean(rules.Short(f.Root.ID)), date(f.Root.Created)
	room := width - lipgloss.Width(id) - len(day) - 4
	text := ui.Truncate(title(f.Root.Title), room)
	gap := strings.Repeat(" ", max(0, room-lipgloss.Width(text)))
	return document.Line(words(span(document.Strong, id), strings.TrimRight("  "+text+gap+"  "+day, " ")))
}

// place is SESSION:ITEMS, "store" with the record for a finding of the store, or the
// line of a recording.
func place(f *check.Finding) string {
	if f.Line != "" {
		return "line:" + ui.Clean(f.Line)
	}
	if f.Session == "" {
		return "store:" + ui.Clean(f.Row)
	}
	id := ui.Clean(rules.Short(f.Session))
	if len(f.Items) == 0 {
		return id
	}
	return id + ":" + itemRanges(f.Items)
}

// itemRanges prints item positions without spaces: "2-3,6".
func itemRanges(items []int) string {
	var parts []string
	for i := 0; i < len(items); {
		j := i
		for j+1 < len(items) && items[j+1] == items[j]+1 {
			j++
		}
		text := strconv.Itoa(items[i])
		if j > i {
			text += "-" + strconv.Itoa(items[j])
		}
		parts = append(parts, text)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// consequences are what the provider answers because of a finding, and what an
// adapter for it sends instead; none when it minds nothing.
func consequences(f *check.Finding) []document.Text {
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
		all = append(all, words("the next request"+who+" "+fails+" with: ", span(document.Code, bounded(f.ProviderError))))
	}
	if f.Sent != "" {
		all = append(all, words("an adapter sends instead: "+bounded(f.Sent)))
	}
	return all
}

// findingsTable has a line a finding. The message is cut where the screen ends: text and
// json have all of it.
func findingsTable(findings []*check.Finding, _ int) document.Document {
	table := document.Table{Columns: []document.Column{{Name: "SEVERITY"}, {Name: "RULE"}, {Name: "NAME"}, {Name: "PLACE"}, {Name: "MESSAGE", Give: document.Cut}}}
	for _, f := range findings {
		table.Rows = append(table.Rows, cells(severityOf(f.Severity), f.Rule.ID, f.Rule.Name, ui.Truncate(place(f), widestPlace), said(f)))
	}
	return document.Document{table, document.Gap{}}
}

// findingsText has them as blocks.
func findingsText(findings []*check.Finding, width int) document.Document {
	return append(findingBlocks(findings, width, said), document.Gap{})
}

// hidden counts the findings of one rule that --max-findings left out.
type hidden struct {
	rule     *rules.Rule
	findings int
	sessions map[string]bool
}

func (h *hidden) words() string {
	where := ""
	if len(h.sessions) > 0 {
		where = " in " + ui.Count(len(h.sessions), "session")
	}
	return fmt.Sprintf("…and %s more of %s %s%s (all of them: --max-findings 0)", ui.Number(h.findings), h.rule.ID, h.rule.Name, where)
}

// limit keeps up to n findings of each rule: those of the newest sessions, and of one
// session the first. They keep their order.
func limit(findings []*check.Finding, n int) (shown []*check.Finding, left []*hidden) {
	if n == 0 {
		return findings, nil
	}
	byRule := map[*rules.Rule]*hidden{}
	newest := slices.Clone(findings)
	slices.SortStableFunc(newest, func(a, b *check.Finding) int { return made(b).Compare(made(a)) })
	counts, kept := map[*rules.Rule]int{}, map[*check.Finding]bool{}
	for _, f := range newest {
		counts[f.Rule]++
		kept[f] = counts[f.Rule] <= n
	}
	for _, f := range findings {
		if kept[f] {
			shown = append(shown, f)
			continue
		}
		h := byRule[f.Rule]
		if h == nil {
			h = &hidden{rule: f.Rule, sessions: map[string]bool{}}
			byRule[f.Rule] = h
			left = append(left, h)
		}
		h.findings++
		if f.Session != "" {
			h.sessions[f.Session] = true
		}
	}
	return shown, left
}

// made is when the conversation of a finding began. What concerns the store as a whole
// comes before all sessions.
func made(f *check.Finding) time.Time {
	if f.Root == nil {
		return time.Unix(1<<60, 0)
	}
	return f.Root.Created
}

// news is "1 error, 2 infos", of the findings that no baseline knows.
func news(findings []*check.Finding) document.Text {
	fresh := check.Fresh(findings)
	if len(fresh) == 0 && len(findings) > 0 {
		return words("No new findings")
	}
	return severities(fresh)
}

// leftOut counts the findings that people are not shown, because they stand in the
// baseline: ", 2 known findings left out".
func leftOut(findings []*check.Finding) string {
	known := len(findings) - len(check.Fresh(findings))
	if known == 0 {
		return ""
	}
	return ", " + ui.Count(known, "known finding") + " left out"
}

// longestMessage is how much of a message people are shown, in characters: runtimes take
// names of any length, and a message may hold several. The JSON formats hold all of it.
const longestMessage = 2000

// bounded is a text of at most longestMessage characters.
func bounded(text string) string {
	characters := 0
	for i := range text {
		if characters == longestMessage {
			return text[:i] + "…"
		}
		characters++
	}
	return text
}

// said is the message of a finding for people. One that got worse than the baseline
// knows it says so.
func said(f *check.Finding) string { return besideBaseline(f, f.Message) }

// reported is said for what is kept and passed on.
func reported(f *check.Finding) string { return besideBaseline(f, f.Reported()) }

func besideBaseline(f *check.Finding, message string) string {
	if f.Was == nil {
		return bounded(message)
	}
	was := f.Was.Severity.String()
	if f.Was.Items > 0 {
		was += ", " + ui.Count(f.Was.Items, "item")
	}
	return "worse than in the baseline (" + was + "): " + bounded(message)
}

// shown are the findings that people are shown: those that no baseline knows.
func (o *CheckOptions) shown(findings []*check.Finding) []*check.Finding {
	if o.Quiet && o.Adopts {
		return nil
	}
	return check.Fresh(findings)
}

// nothing is what a run with a baseline changed, as the beginning of a sentence.
func nothing(b *Baseline) string {
	if b != nil && b.Written {
		return "No store"
	}
	return "Nothing"
}

// sentence says what a run had to do with the baseline.
func (b *Baseline) sentence() string {
	name := "the baseline " + ui.Clean(b.Path)
	if b.Written {
		return "Wrote " + ui.Count(b.Known, "finding") + " into " + name + "."
	}
	text, gone := ui.Count(b.Known, "known finding")+" are in "+name, ""
	switch {
	case b.Known == 0 && b.Gone > 0:
		return "Gone: " + ui.Count(b.Gone, "finding") + " of " + name + "."
	case b.Known == 0:
		return "Nothing of " + name + " was found."
	case b.Known == 1:
		text = "1 known finding is in " + name
	}
	switch {
	case b.Gone == 1:
		gone = ", and 1 entry of it is gone"
	case b.Gone > 1:
		gone = ", and " + ui.Number(b.Gone) + " entries of it are gone"
	}
	return text + gone + "."
}
