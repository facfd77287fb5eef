package render

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/ui"
)

// replayText prints for people. A table says everything in whole words, and where no
// terminal has to show it, all of a row in one line that is never cut.
type replayText struct {
	*replayRows
	columns []replayColumn
	table   bool
	begun   bool
}

func newReplayText(opts ReplayOptions, table bool) *replayText {
	t := &replayText{columns: replayColumns(opts.Screen.Width, table), table: table}
	t.replayRows = newReplayRows(opts, opts.Screen, t.row)
	return t
}

func (t *replayText) row(r *recording.Row) error {
	if err := t.begin(); err != nil {
		return err
	}
	const whole = 1 << 16 // of ids
	oneLine := t.table && !t.Screen.Terminal
	cells, last := make([]string, len(t.columns)), len(t.columns)-1
	var left []string
	over := 0 // what a cell takes more than its column has, the next one has less
	for i, c := range t.columns {
		width := max(c.width-over, 1)
		if i == last && oneLine {
			width = whole
		}
		cells[i] = c.cell(r, width, &left)
		if i < last {
			over = max(0, lipgloss.Width(cells[i])-width)
		}
	}
	if r.Disagree() {
		left = append(left, replayOther(r, t.Model, leftColumns))
	}
	why := []string{strings.Join(append(cells[last:], left...), "; ")}
	if !oneLine {
		why = ui.Wrap(cells[last], t.columns[last].width-over)
	}
	cells[last] = why[0]
	sign, style := replaySign(r)
	text := t.line(sign, style, cells, r)
	for _, rest := range why[1:] {
		text += strings.Repeat(" ", t.indent(last)) + rest + "\n"
	}
	if len(left) > 0 && !oneLine {
		below := strings.Repeat(" ", t.indent(1))
		text += ui.Hang(below, below, ui.Dim.Render(strings.Join(left, "; ")), t.Screen.TextWidth())
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
	paint(signStyle, sign)
	used := signColumns
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
			used += lipgloss.Width(cells[i])
			gap := max(c.gap, t.indent(i+1)-used)
			b.WriteString(strings.Repeat(" ", gap))
			used += gap
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// indent is where a column begins.
func (t *replayText) indent(column int) int {
	n := signColumns
	for _, c := range t.columns[:column] {
		n += c.width + c.gap
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
	var doc document.Document
	if len(end.Findings) > 0 || !t.Quiet {
		doc = append(doc, document.Gap{})
	}
	if len(end.Findings) > 0 { // as check says them
		body := findingsText
		if t.table {
			body = findingsTable
		}
		shown, hidden := limit(end.Findings, t.MaxFindings)
		doc = append(append(doc, body(shown, t.Screen.TextWidth())...), hiddenLines(hidden))
	}
	if !t.Quiet {
		doc = append(doc, t.tally(end.Findings)...)
		if len(end.Next) > 0 {
			doc = append(doc, document.Gap{}, document.Commands{Lead: "Next:", List: end.Next})
		}
	}
	if err := t.write(document.OnScreen(t.Screen, doc...)); err != nil {
		return err
	}
	return t.out.Flush()
}

// tally counts: "54 events in 19 rows (9 persist, 6 skip), 1 delegation".
func (t *replayText) tally(findings []*check.Finding) document.Document {
	s := t.summary
	doc := document.Document{say(fmt.Sprintf("%s in %s (%s persist, %s skip), %s", ui.Count(s.Events, "event"),
		ui.Count(s.Rows, "row"), ui.Number(s.Persist), ui.Number(s.Skip), ui.Count(s.Delegations, "delegation")))}
	if s.Disagreements > 0 {
		decides, other := compared(t.Model)
		doc = append(doc, say(span(document.Notice, disagreeSign), " "+ui.Count(s.Disagreements, "row")+
			" on which the "+decides.String()+" model and the "+other.String()+" model disagree"))
	}
	if t.odd > 0 {
		doc = append(doc, say(span(document.Bad, oddSign), " "+ui.Count(t.odd, "row")+" on which an event does not fit what came before"))
	}
	if len(findings) > 0 {
		doc = append(doc, document.Line(words(severities(findings), " in the recording")))
	}
	return doc
}
