package render

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/ui"
)

// replayText prints for people. text and table differ in the columns, and in what
// becomes of a reason that is too long.
type replayText struct {
	*replayRows
	columns []replayColumn
	wrap    bool // a long reason goes on in the next line; else it is cut
	begun   bool
}

func newReplayText(opts ReplayOptions, table bool) *replayText {
	t := &replayText{columns: replayColumns(opts.Screen.Width, table), wrap: !table}
	t.replayRows = newReplayRows(opts, opts.Screen, t.row)
	return t
}

func (t *replayText) row(r *recording.Row) error {
	if err := t.begin(); err != nil {
		return err
	}
	why := t.columns[len(t.columns)-1].width
	cells := make([]string, len(t.columns))
	for i, c := range t.columns {
		cells[i] = c.cell(r, &t.ReplayOptions, c.width)
	}
	lines := []string{ui.Truncate(cells[len(cells)-1], why)}
	if t.wrap {
		lines = ui.Wrap(cells[len(cells)-1], why)
	}
	cells[len(cells)-1] = lines[0]
	sign, style := replaySign(r)
	text := t.line(sign, style, cells, r)
	for _, rest := range lines[1:] {
		text += strings.Repeat(" ", t.indent()) + rest + "\n"
	}
	if t.wrap && r.Disagree() {
		text += ui.Hang("    ", "    ", ui.Dim.Render(replayOther(r, t.Model, why)), t.Screen.TextWidth())
	}
	return t.write(text)
}

// line puts cells into their columns. Styles cost time, so they are left out
// where the screen would take them out.
func (t *replayText) line(sign string, signStyle lipgloss.Style, cells []string, r *recording.Row) string {
	var b strings.Builder
	paint := func(style lipgloss.Style, text string) {
		if t.Screen.Color && strings.TrimSpace(text) != "" {
			text = style.Render(text)
		}
		b.WriteString(text)
	}
	paint(signStyle, sign+" ")
	for i, c := range t.columns {
		style := lipgloss.NewStyle()
		switch {
		case r == nil:
			style = ui.Dim
		case c.style != nil:
			style = c.style(r)
		}
		paint(style, cells[i])
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", max(0, c.width-lipgloss.Width(cells[i]))) + columnGap)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// indent is where the last column begins.
func (t *replayText) indent() int {
	n := signColumns
	for _, c := range t.columns[:len(t.columns)-1] {
		n += c.width + len(columnGap)
	}
	return n
}

// begin says what is read, which model decides, and what the columns are.
func (t *replayText) begin() error {
	if t.begun {
		return nil
	}
	t.begun = true
	var out strings.Builder
	if !t.Quiet {
		out.WriteString(ui.Bold.Render(t.recording()) + "\n")
		out.WriteString(ui.Hang("  ", "  ", replayModels[t.Model], t.Screen.TextWidth()) + "\n")
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	out.WriteString(t.line(" ", ui.Dim, names, nil))
	return t.write(out.String())
}

// Close prints the findings about the recording, what was counted, and what to
// type next.
func (t *replayText) Close(end ReplayEnd) error {
	if err := t.end(&end); err != nil {
		return err
	}
	if err := t.begin(); err != nil {
		return err
	}
	var out strings.Builder
	if len(end.Findings) > 0 || !t.Quiet {
		out.WriteString("\n")
	}
	if len(end.Findings) > 0 {
		if err := t.findings(&out, end.Findings); err != nil {
			return err
		}
	}
	if !t.Quiet {
		t.tally(&out, end.Findings)
		if len(end.Next) > 0 {
			out.WriteString("\nNext:\n" + nextLines(end.Next, t.Screen.TextWidth()))
		}
	}
	if err := t.write(out.String()); err != nil {
		return err
	}
	return t.out.Flush()
}

// findings prints what is wrong with the recording, as check does.
func (t *replayText) findings(out *strings.Builder, findings []*check.Finding) error {
	opts := CheckOptions{Screen: t.Screen, recording: true}
	body := findingsTable
	if t.wrap {
		body = findingsText
	}
	shown, hidden := limit(findings, t.MaxFindings)
	if err := body(out, &opts, shown); err != nil {
		return err
	}
	for _, h := range hidden {
		out.WriteString(h.sentence(t.Screen.TextWidth()))
	}
	return nil
}

// tally counts: "54 events in 19 rows (9 persist, 6 skip), 1 delegation".
func (t *replayText) tally(out *strings.Builder, findings []*check.Finding) {
	s, width := t.summary, t.Screen.TextWidth()
	out.WriteString(ui.Hang("", "", fmt.Sprintf("%s in %s (%s persist, %s skip), %s", ui.Count(s.Events, "event"),
		ui.Count(s.Rows, "row"), ui.Number(s.Persist), ui.Number(s.Skip), ui.Count(s.Delegations, "delegation")), width))
	if s.Disagreements > 0 {
		decides, other := compared(t.Model)
		out.WriteString(ui.Hang("", "", ui.Yellow.Render(disagreeSign)+" "+ui.Count(s.Disagreements, "row")+
			" on which the "+decides.String()+" model and the "+other.String()+" model disagree", width))
	}
	if len(findings) > 0 {
		out.WriteString(severities(findings) + " in the recording\n")
	}
}
