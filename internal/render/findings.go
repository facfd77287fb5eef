package render

import (
	"strconv"
	"strings"

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
