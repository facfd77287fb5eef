package document

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/sessctl/sessctl/internal/ui"
)

// table prints rows below their names, without lines between them.
func (l *lines) table(t Table) {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(row))
		for n, cell := range row {
			rows[i][n] = cell.Styled()
		}
	}
	fit(t.Columns, rows, l.width)
	names, align := make([]string, len(t.Columns)), make(tw.Alignment, len(t.Columns))
	padding := make([]tw.Padding, len(t.Columns))
	for i, c := range t.Columns {
		names[i], align[i], padding[i] = c.Name, tw.AlignLeft, tw.Padding{Right: step, Overwrite: true}
		if c.Right {
			align[i] = tw.AlignRight
		}
	}
	padding[len(padding)-1] = tw.PaddingNone
	var padded strings.Builder
	w := tablewriter.NewTable(&padded,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithHeaderPaddingPerColumn(padding),
		tablewriter.WithRowPaddingPerColumn(padding),
		tablewriter.WithAlignment(align),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
	)
	w.Header(names)
	for _, err := range []error{w.Bulk(rows), w.Render()} {
		if err != nil { // rows of strings, into a builder: there is nothing that could fail
			panic(err)
		}
	}
	for line := range strings.Lines(padded.String()) {
		l.out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// fit makes the rows as wide as the screen: the cells of columns that give way are
// shortened to what the others leave.
func fit(columns []Column, rows [][]string, width int) {
	for i, c := range columns {
		if c.Give == Keep {
			width -= widest(c.Name, rows, i) + len(step)
		}
	}
	const least = 16
	width = max(width, least)
	for i, c := range columns {
		for _, row := range rows {
			switch c.Give {
			case Keep:
			case Cut:
				row[i] = ui.Truncate(row[i], width)
			case Tail:
				row[i] = ui.Tail(row[i], width)
			case Break:
				row[i] = strings.Join(ui.Wrap(row[i], width), "\n")
			}
		}
	}
}

// widest is the width of a column.
func widest(name string, rows [][]string, i int) int {
	w := lipgloss.Width(name)
	for _, row := range rows {
		w = max(w, lipgloss.Width(row[i]))
	}
	return w
}
