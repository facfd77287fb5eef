package render

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// findingsText prints findings as blocks below a line for their session.
func findingsText(out *strings.Builder, o *CheckOptions, findings []*check.Finding) error {
	width := o.Screen.TextWidth()
	for i, f := range findings {
		if i == 0 || !sameSession(findings[i-1], f) {
			if i > 0 {
				out.WriteString("\n")
			}
			out.WriteString(o.heading(f, width) + "\n")
		}
		findingText(out, f, o.place(f), said(f), width)
		out.WriteString(refusal(f, width))
	}
	out.WriteString("\n")
	return nil
}

// findingText prints one finding: a line that greps, and what it says.
func findingText(out *strings.Builder, f *check.Finding, place, message string, width int) {
	fmt.Fprintf(out, "  %s %s %s  %s\n", styleOf(f.Severity).Render(f.Severity.String()),
		ui.Bold.Render(f.Rule.ID), f.Rule.Name, ui.Cyan.Render(place))
	out.WriteString(ui.Hang("    ", "    ", ui.Ended(ui.Clean(message)), width))
}

func sameSession(a, b *check.Finding) bool {
	return a.Root == nil && b.Root == nil || a.Root != nil && b.Root != nil && a.Root.ID == b.Root.ID
}

// heading is the line of a root session: id, title, date.
func (o *CheckOptions) heading(f *check.Finding, width int) string {
	switch {
	case f.Line != "":
		return ui.Bold.Render("The recording itself")
	case f.Root == nil:
		return ui.Bold.Render("The store itself")
	}
	id, day := ui.Clean(rules.Short(f.Root.ID)), date(f.Root.Created)
	room := width - lipgloss.Width(id) - len(day) - 4
	text := ui.Truncate(title(f.Root.Title), room)
	gap := strings.Repeat(" ", max(0, room-lipgloss.Width(text)))
	return strings.TrimRight(ui.Bold.Render(id)+"  "+text+gap+"  "+day, " ")
}

// place is where the finding is: in a recording, a line.
func (o *CheckOptions) place(f *check.Finding) string {
	return place(f)
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

// refusal is what a finding leads to, each behind an arrow.
func refusal(f *check.Finding, width int) string {
	text := ""
	for _, c := range consequences(f) {
		text += pointed(c, width)
	}
	return text
}

// consequences are what the provider answers because of a finding, and what an
// adapter for it sends instead; none when it minds nothing.
func consequences(f *check.Finding) []string {
	var all []string
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
		all = append(all, "the next request"+who+" "+fails+" with: "+ui.Clean(bounded(f.ProviderError)))
	}
	if f.Sent != "" {
		all = append(all, "an adapter sends instead: "+ui.Clean(bounded(f.Sent)))
	}
	return all
}

// pointed is a consequence behind an arrow, on two lines at most.
func pointed(text string, width int) string {
	const first, rest, most = "→ ", "      ", 2
	lines := ui.Wrap(first+text, width-len(rest))
	lines[0] = "    " + lines[0]
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = ui.Truncate(lines[most-1]+" …", width-len(rest))
	}
	return strings.Join(lines, "\n"+rest) + "\n"
}
