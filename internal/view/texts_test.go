package view_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/view"
)

// longText is what every item of a long tree says.
var longText = strings.Repeat("a line of a long text\n", 450) // 10 kB

// longTree is a session of calls and results, with a sub-session in its middle. The result of the
// first call comes at the end.
func longTree(steps int) *session.Tree {
	child := &session.Session{ID: "C", Parent: "P"}
	root := &session.Session{ID: "P", Children: []*session.Session{child}}
	for _, s := range []*session.Session{root, child} {
		add := func(it session.Item) {
			it.Own().Table, it.Key, it.Size = "items", fmt.Sprint(s.ID, len(s.Items)), int64(len(longText))
			s.Items = append(s.Items, it)
		}
		result := func(id string) session.Item {
			return session.Item{Role: session.Tool, Results: []session.Result{{CallID: id, Digest: session.DigestOf(longText)}}}
		}
		add(session.Item{Role: session.User, Text: session.DigestOf(longText)})
		for i := range steps {
			id := fmt.Sprint("call", i)
			add(session.Item{Role: session.Assistant, Text: session.DigestOf(longText), Calls: []session.Call{{ID: id, Name: "shell"}}})
			if i > 0 {
				add(result(id))
			}
			if i == steps/2 && s == root {
				add(session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: "C"}})
			}
		}
		add(session.Item{Kind: session.Summary, Text: session.DigestOf(longText)})
		add(result("call0"))
	}
	return &session.Tree{Sessions: []*session.Session{root, child}}
}

// fillTexts loads the texts of a long tree, or of a part of it.
func fillTexts(tree *session.Tree) error {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			it.Body = &session.Body{}
			if it.SaysText() {
				it.Body.Text, it.Body.Reasoning = strings.Clone(longText), "because of "+it.Key
			}
			for n := range it.Calls {
				it.Calls[n].Args = `{"cmd":"` + it.Key + `"}`
			}
			for n := range it.Results {
				it.Results[n].Text = strings.Clone(longText)
			}
		}
	}
	return nil
}

// eachRow visits the rows as they are printed.
func eachRow(s *view.Session, fn func(*view.Session, *view.Row)) {
	for i := range s.Rows {
		fn(s, &s.Rows[i])
		if c := s.Rows[i].Child; c != nil {
			eachRow(c, fn)
		}
	}
}

// TestWholeRows: rows whose texts are loaded when they are printed say the same as those of a tree
// that has them all, and of a long session few are held.
func TestWholeRows(t *testing.T) {
	const steps = 1500
	whole := longTree(steps)
	if err := fillTexts(whole); err != nil {
		t.Fatal(err)
	}
	var want []*view.Row
	eachRow(view.BuildView(view.Input{Store: &session.Store{}, Tree: whole, Session: "P"}).Shown, func(_ *view.Session, r *view.Row) { want = append(want, r) })

	tree := longTree(steps)
	loads, most := 0, 0
	load := func(part *session.Tree) error { loads++; return fillTexts(part) }
	v := view.BuildView(view.Input{Store: &session.Store{}, Load: load, Tree: tree, Session: "P"})
	if loads > 0 {
		t.Errorf("%d parts were loaded before anything is printed", loads)
	}
	n := 0
	eachRow(v.Shown, func(s *view.Session, r *view.Row) {
		if diff := cmp.Diff(want[n], s.WholeRow(r), cmpopts.IgnoreFields(view.Row{}, "Child", "Stored")); diff != "" {
			t.Fatalf("row %d of session %s: %s", r.Item, s.ID, diff)
		}
		if n++; n%100 == 0 {
			most = max(most, heldTexts(tree))
		}
	})
	if n != len(want) || v.Err() != nil {
		t.Errorf("%d rows of %d were printed: %v", n, len(want), v.Err())
	}
	if most > 2*(2<<20)/len(longText) { // 2 MB of two sessions
		t.Errorf("the texts of %d items of %d were held at a time", most, tree.Items())
	}
	if loads > tree.Items()/100 {
		t.Errorf("%d parts were loaded for %d items", loads, tree.Items())
	}
}

func heldTexts(tree *session.Tree) (n int) {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if s.Items[i].Body != nil {
				n++
			}
		}
	}
	return n
}

// TestLostTexts: the view says why texts could not be loaded.
func TestLostTexts(t *testing.T) {
	gone := errors.New("the file is gone")
	v := view.BuildView(view.Input{Store: &session.Store{}, Load: func(*session.Tree) error { return gone }, Tree: longTree(2), Session: "P"})
	if row := v.Shown.WholeRow(&v.Shown.Rows[0]); row.Text != "" || v.Err() != gone {
		t.Errorf("got the text %q and the error %v", row.Text, v.Err())
	}
}

// TestManySubSessions: those that were printed hold no texts.
func TestManySubSessions(t *testing.T) {
	root := &session.Session{ID: "P"}
	tree := &session.Tree{Sessions: []*session.Session{root}}
	for i := range 50 {
		child := &session.Session{ID: fmt.Sprint("C", i), Parent: "P"}
		child.Items = []session.Item{{Shared: &session.Shared{Table: "items"}, Key: child.ID, Role: session.User, Text: session.DigestOf(longText)}}
		root.Items = append(root.Items, session.Item{Shared: &session.Shared{Table: "items", Child: child.ID}, Key: fmt.Sprint(i), Kind: session.SubSession})
		root.Children, tree.Sessions = append(root.Children, child), append(tree.Sessions, child)
	}
	v := view.BuildView(view.Input{Store: &session.Store{}, Load: fillTexts, Tree: tree, Session: "P"})
	eachRow(v.Shown, func(s *view.Session, r *view.Row) {
		if row := s.WholeRow(r); r.Child == nil && row.Text != longText {
			t.Errorf("session %s says %q", s.ID, row.Text)
		}
		if held := heldTexts(tree); held > 4 {
			t.Fatalf("%d texts are held at session %s", held, s.ID)
		}
	})
}
