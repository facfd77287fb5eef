package render

import (
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const columnGap = "  "

// tableColumn is a column of a table without lines.
type tableColumn struct {
	name  string
	right bool // numbers
}

// writeTable prints rows below their headings. Cells must be clean and fit: nothing
// is wrapped or reformatted.
func writeTable(w io.Writer, columns []tableColumn, rows [][]string) error {
	names, align := make([]string, len(columns)), make(tw.Alignment, len(columns))
	padding := make([]tw.Padding, len(columns))
	for i, c := range columns {
		names[i], align[i], padding[i] = c.name, tw.AlignLeft, tw.Padding{Right: columnGap, Overwrite: true}
		if c.right {
			align[i] = tw.AlignRight
		}
	}
	padding[len(columns)-1] = tw.PaddingNone
	var padded strings.Builder
	t := tablewriter.NewTable(&padded,
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
	t.Header(names)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	if err := t.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(padded.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// fit makes the rows as wide as the screen: the cells of one column are
// shortened to what the others leave.
func fit(columns []tableColumn, rows [][]string, width, flexible int, shorten func(text string, width int) string) {
	for i := range columns {
		if i != flexible {
			width -= widest(columns, rows, i) + len(columnGap)
		}
	}
	const least = 16
	for _, row := range rows {
		row[flexible] = shorten(row[flexible], max(width, least))
	}
}

// widest is the width of a column.
func widest(columns []tableColumn, rows [][]string, i int) int {
	w := lipgloss.Width(columns[i].name)
	for _, row := range rows {
		w = max(w, lipgloss.Width(row[i]))
	}
	return w
}
