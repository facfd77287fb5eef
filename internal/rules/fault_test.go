package rules_test

import (
	"fmt"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// Helpers for the rules that report what only the reader of the stored bytes
// can see.

const quiet = `
P
  user
  root "ok"
`

// ofSession puts a fault on the root session's own record.
func ofSession(f session.Fault) func(*session.Tree) {
	return func(tree *session.Tree) {
		f.Item, f.Ref = -1, tree.Root().Ref()
		tree.Root().Faults = append(tree.Root().Faults, f)
	}
}

// ofItem puts a fault on item 1 of the root session.
func ofItem(f session.Fault) func(*session.Tree) {
	return func(tree *session.Tree) {
		f.Item, f.Ref = 1, tree.Root().ItemRef(1)
		tree.Root().Faults = append(tree.Root().Faults, f)
	}
}

// ofStore puts a fault on the store as a whole.
func ofStore(f session.Fault) func(*session.Store) {
	return func(store *session.Store) {
		f.Item, f.Ref = -1, session.Ref{Table: "file", Key: "page 7"}
		store.Faults = append(store.Faults, f)
	}
}

func text(s string) *string { return &s }

// TestEveryFaultIsReportedOnce: wherever an adapter puts a fault, one rule
// reports it.
func TestEveryFaultIsReportedOnce(t *testing.T) {
	for kind := session.StoreDamaged; kind <= session.OrphanRecord; kind++ {
		fault := session.Fault{Kind: kind, Field: "title", Detail: "as the adapter words it", Default: text("")}
		places := map[string]func(*session.Store, *session.Tree){
			"session": func(_ *session.Store, tree *session.Tree) { ofSession(fault)(tree) },
			"item":    func(_ *session.Store, tree *session.Tree) { ofItem(fault)(tree) },
			"store":   func(store *session.Store, _ *session.Tree) { ofStore(fault)(store) },
		}
		for place, put := range places {
			t.Run(fmt.Sprint("kind ", kind, " of a ", place), func(t *testing.T) {
				if kind == session.ParentCycle && place != "session" {
					t.Skip("grouping puts it on a session")
				}
				store, trees := &session.Store{}, treetest.Trees(t, quiet)
				put(store, trees[0])
				if found := findAll(store, trees); len(found) != 1 {
					t.Errorf("%d findings, want one:\n%s", len(found), messages(found))
				}
			})
		}
	}
}
