package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibilityPage is who could see what, as a table.
func visibilityPage(v *view.View, full bool) document.Document {
	asked := v.Visibility
	doc := document.Document{say(ui.Sentence(modelWords(v)))}
	if asked.Single {
		doc = document.Document{say("Viewer ", asked.Viewers[0].Name(), ", ", modelWords(v))}
	}
	for _, said := range asked.Remarks(v.Store) {
		doc = append(doc, say(said))
	}
	var table document.Table
	var names []string
	if len(asked.Holders) > 0 {
		var rows [][]string
		names, rows = holderTable(asked)
		for _, row := range rows {
			table.Rows = append(table.Rows, plainCells(row))
		}
	} else {
		events := newVisibilityTable(asked)
		if !asked.Single {
			doc = append(doc, viewerList(events))
		}
		names = append(events.names(), "text")
		for i := range asked.Events {
			e := &asked.Events[i]
			about := ui.Excerpt(e.About(), document.Columns)
			if full {
				about = e.About()
			}
			table.Rows = append(table.Rows, plainCells(append(events.row(e), about)))
		}
	}
	for _, name := range names {
		table.Columns = append(table.Columns, document.Column{Name: name})
	}
	return append(doc, table, say(visibilityCount(asked)))
}

// viewerList says which viewer a column stands for, and what the signs mean.
func viewerList(table *visibilityTable) document.List {
	var list document.List
	for i := range table.v.Viewers {
		viewer := &table.v.Viewers[i]
		list = append(list, document.Item{
			Label: letters(i), Text: words(span(document.Code, viewer.Name()), " ", viewer.Agent, ": ", sees(table.v, viewer)),
		})
	}
	return append(list, entry(strings.Join(table.legend(), ", ")))
}

func plainCells(row []string) []document.Text {
	list := make([]document.Text, len(row))
	for i, cell := range row {
		list[i] = words(cell)
	}
	return list
}
