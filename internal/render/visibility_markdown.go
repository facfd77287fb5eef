package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibility prints who could see what as a table.
func (m *markdown) visibility(v *view.View) {
	asked := v.Visibility
	if asked.Single {
		m.line("Viewer " + escaped(asked.Viewers[0].Name()) + ", " + escaped(modelWords(v)))
	} else {
		m.line(escaped(ui.Sentence(modelWords(v))))
	}
	m.line("")
	for _, said := range asked.Remarks(v.Store) {
		m.line(escaped(said))
		m.line("")
	}
	if len(asked.Holders) > 0 {
		names, rows := holderTable(asked)
		m.tableRow(names)
		m.rule(len(names))
		for _, row := range rows {
			m.tableRow(row)
		}
	} else {
		m.events(newVisibilityTable(asked))
	}
	m.line("")
	m.line(escaped(visibilityCount(asked)))
}

func (m *markdown) events(table *visibilityTable) {
	if !table.v.Single {
		for i := range table.v.Viewers {
			viewer := &table.v.Viewers[i]
			m.line("- **" + letters(i) + "** " + code(viewer.Name()) + " " + escaped(viewer.Agent) + ": " + sees(table.v, viewer))
		}
		m.line("- " + escaped(strings.Join(table.legend(), ", ")))
		m.line("")
	}
	names := append(table.names(), "text")
	m.tableRow(names)
	m.rule(len(names))
	for i := range table.v.Events {
		e := &table.v.Events[i]
		about := ui.Excerpt(e.About(), excerptColumns)
		if m.full {
			about = e.About()
		}
		m.tableRow(append(table.row(e), about))
	}
}

// tableRow prints cells; the line ends of a text become breaks.
func (m *markdown) tableRow(cells []string) {
	var b strings.Builder
	for _, cell := range cells {
		var lines []string
		for _, l := range ui.Paragraphs(cell) {
			lines = append(lines, escaped(l))
		}
		b.WriteString("| " + strings.Join(lines, "<br>") + " ")
	}
	m.line(b.String() + "|")
}

func (m *markdown) rule(columns int) { m.line(strings.Repeat("|---", columns) + "|") }
