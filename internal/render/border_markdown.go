package render

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// borders print what passed between sessions and their children as lists.
func (m *markdown) borders(v *view.View) {
	if len(v.Borders) == 0 {
		m.line(noBorders)
		return
	}
	told := map[*check.Finding]bool{}
	for i := range v.Borders {
		b := &v.Borders[i]
		fresh, besides := crossed(b, told)
		m.line("- " + escaped(ui.Clean(borderHead(b, v.Shown.Session))))
		m.below(func() {
			way := ""
			for _, l := range append(borderLines(b), besides) {
				if l.way != "" {
					way = l.way
				}
				m.borderLine(way, l)
			}
			for _, f := range fresh {
				m.line(fmt.Sprintf("- %s **%s** %s `%s` %s", f.Severity, f.Rule.ID, f.Rule.Name, place(f), escaped(ui.Ended(ui.Clean(f.Message)))))
			}
		})
	}
	m.line("")
	m.line(borderCount(v))
}

func (m *markdown) borderLine(way string, l borderLine) {
	text := "- **" + way + "** " + escaped(ui.Clean(l.what))
	if l.text != "" && !m.full {
		text += ": " + escaped(ui.Excerpt(l.text, excerptColumns))
	}
	m.line(text)
	if m.full {
		m.below(func() { m.block("", l.text) })
	}
}
