package render

import (
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// Receipt is what a list says of the receipt of a repair.
type Receipt struct {
	Path, Store, Time string
	State             string // as the receipt says it, or "damaged"
	Sessions, Made    int    // that the repair changed, and made
}

// Receipts lists receipts for people.
func Receipts(screen *ui.Screen, home string, list []Receipt) error {
	if len(list) == 0 {
		return document.New("text", screen)(document.Document{document.Line(document.Words("No receipt of a repair was found."))})
	}
	table := document.Table{Columns: []document.Column{
		{Name: "REPAIRED"}, {Name: "SESSIONS", Right: true}, {Name: "STATE"}, {Name: "STORE"}, {Name: "RECEIPT"},
	}}
	for _, r := range list {
		table.Rows = append(table.Rows, Cells(r.Time, ui.Number(r.Sessions), r.State, ui.Tilde(r.Store, home), ui.Tilde(r.Path, home)))
	}
	return document.New("text", screen)(document.Document{table})
}
