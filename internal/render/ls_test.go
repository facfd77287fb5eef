package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// TestALongListIsSeveralTables: with the same columns, and every session once.
func TestALongListIsSeveralTables(t *testing.T) {
	const sessions = 25_000
	store := render.ListedStore{Store: &session.Store{Path: "s.db", Title: "Google ADK", Condition: session.Condition{}}, Read: sessions}
	for i := range sessions {
		store.Rows = append(store.Rows, &render.Row{ID: fmt.Sprintf("%08d", i), Title: "order", Items: i})
	}
	var out bytes.Buffer
	list := &render.Listing{Stores: []render.ListedStore{store}}
	if err := render.PrintSessions("text", ui.NewScreen(&out, ui.ColorNever, func(string) string { return "" }), list); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	heads, next := 0, 0
	for _, line := range lines[1:] {
		switch id, _, _ := strings.Cut(line, " "); id {
		case "ID":
			heads++
		case fmt.Sprintf("%08d", next):
			next++
		default:
			t.Fatalf("line %q", line)
		}
	}
	if heads != 3 || next != sessions {
		t.Errorf("%d tables, %d sessions", heads, next)
	}
}
