package document

import (
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/sessctl/sessctl/internal/ui"
)

// writeTable prints rows below their names, without lines between them.
func (l *lines) writeTable(t Table) {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(row))
		for n, cell := range row {
			rows[i][n] = cell.Styled()
		}
	}
	fitColumns(t.Columns, rows, l.width)
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

// fitColumns makes the rows as wide as the screen: the cells of a column that gives way are
// shortened to what the others leave. Columns that lose their beginnings leave a quarter of
// the screen to one that is broken.
func fitColumns(columns []Column, rows [][]string, width int) {
	const least, leastTail = 16, 6
	broken := slices.ContainsFunc(columns, func(c Column) bool { return c.Give == Break })
	for i, c := range columns {
		if c.Give == Keep {
			width -= columnWidth(c.Name, rows, i) + len(step)
		}
	}
	tails, rest := max(width, least), max(width, least)
	if broken {
		for tails = width / 4; ; tails-- {
			rest = width
			for i, c := range columns {
				if c.Give == Tail {
					rest -= min(columnWidth(c.Name, rows, i), tails) + len(step)
				}
			}
			if rest >= width/4 || tails <= leastTail {
				break
			}
		}
	}
	for i, c := range columns {
		for _, row := range rows {
			switch c.Give {
			case Keep:
			case Cut:
				row[i] = ui.Truncate(row[i], rest)
			case Tail:
				row[i] = ui.TruncateLeft(row[i], tails)
			case Break:
				row[i] = strings.Join(ui.Wrap(row[i], max(rest, least)), "\n")
			}
		}
	}
}

// columnWidth is the width of a column.
func columnWidth(name string, rows [][]string, i int) int {
	w := ui.Width(name)
	for _, row := range rows {
		w = max(w, ui.Width(row[i]))
	}
	return w
}
