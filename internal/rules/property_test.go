package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// check runs a property many times, and very many with SESSCTL_LONG=1.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	checkMany(t, 500, 20000, property)
}

// checkMany runs a property some times, and more often with SESSCTL_LONG=1.
func checkMany(t *testing.T, some, many int, property func(*rapid.T)) {
	t.Helper()
	campaign.Checks(t, some, many)
	rapid.Check(t, property)
}

// stores draws what rules ask of a store.
func stores() *rapid.Generator[*session.Store] {
	return rapid.Custom(func(t *rapid.T) *session.Store {
		return &session.Store{
			Writer:   session.Writer(rapid.IntRange(0, 2).Draw(t, "writer")),
			Children: session.Children{ChildrenClosed: rapid.Bool().Draw(t, "closed"), ChildPrologue: rapid.Bool().Draw(t, "prologue")},
		}
	})
}

// trees draws trees that a leaking runtime wrote, and wild ones.
func trees(t *testing.T) *rapid.Generator[*session.Tree] {
	return rapid.OneOf(treetest.Wild(), rapid.Custom(func(rt *rapid.T) *session.Tree {
		return treetest.Tree(t, treetest.Programs().Draw(rt, "program").Render(true).Notation)
	}))
}

// TestFindingsNeverContainMessageText puts a marker into everything that anybody
// said, and looks for it in everything that is reported.
func TestFindingsNeverContainMessageText(t *testing.T) {
	const marker = "s3cret"
	check(t, func(rt *rapid.T) {
		tree := trees(t).Draw(rt, "tree")
		for _, s := range tree.Sessions {
			for i := range s.Items {
				fill(&s.Items[i], marker)
			}
		}
		for _, f := range findAll(stores().Draw(rt, "store"), []*session.Tree{tree}) {
			said, err := json.Marshal([]any{f.Message, f.ProviderError, f.Agent, f.Call, f.Ref, f.Related, f.Twins, f.Fixes})
			if err != nil {
				rt.Fatal(err)
			}
			if strings.Contains(string(said), marker) {
				rt.Fatalf("the finding contains message text: %s", said)
			}
		}
	})
}

func fill(it *session.Item, text string) {
	it.Body = &session.Body{Text: text, Reasoning: text, Raw: []byte(text)}
	for n := range it.Calls {
		it.Calls[n].Args = text
	}
	for n := range it.Results {
		it.Results[n].Text = text
	}
}

// TestFindingsPointAtWhatExists checks every tree and looks up what the findings
// and their edits name.
func TestFindingsPointAtWhatExists(t *testing.T) {
	check(t, func(rt *rapid.T) {
		tree := trees(t).Draw(rt, "tree")
		for _, f := range findAll(stores().Draw(rt, "store"), []*session.Tree{tree}) {
			if f.Rule == nil || f.Message == "" || f.Session != nil && tree.Session(f.Session.ID) != f.Session {
				rt.Fatalf("incomplete finding: %+v", f)
			}
			for _, i := range f.Items {
				if i < 0 || i >= len(f.Session.Items) {
					rt.Fatalf("%s names item %d of %d", f.Rule.ID, i, len(f.Session.Items))
				}
			}
			for _, place := range append(f.Related, f.Twins...) {
				if s := tree.Session(place.Session); s == nil || place.Item < 0 || place.Item >= len(s.Items) {
					rt.Fatalf("%s is related to %+v, which does not exist", f.Rule.ID, place)
				}
			}
			for _, fix := range f.Fixes {
				if (fix.Safety == rules.Manual) != (len(fix.Edits) == 0) || fix.Safety == rules.None || fix.Title == "" {
					rt.Fatalf("%s: a %s fix titled %q with %d edits", f.Rule.ID, fix.Safety, fix.Title, len(fix.Edits))
				}
				checkEdits(rt, tree, fix.Edits)
			}
		}
	})
}

// checkEdits looks up the records that edits address and the sessions that they
// go to, which may be created on the way.
func checkEdits(t *rapid.T, tree *session.Tree, edits []session.Edit) {
	known := map[session.Ref]bool{{}: true}
	sessions := map[string]bool{"": true}
	for _, s := range tree.Sessions {
		sessions[s.ID] = true
		known[s.Ref()] = true
		for i := range s.Items {
			known[s.ItemRef(i)] = true
		}
	}
	for _, e := range edits {
		if e.Op == session.Create {
			sessions[e.NewID] = true
		}
		refs := []session.Ref{e.Ref, e.Twin, e.After}
		if e.Call != nil {
			refs = append(refs, e.Call.Ref)
		}
		if e.New != nil {
			refs = append(refs, e.New.TextFrom)
		}
		for _, r := range refs {
			r.Pointer = ""
			if !known[r] {
				t.Fatalf("edit %+v addresses %+v, which does not exist", e, r)
			}
		}
		if !sessions[e.To] || e.New != nil && !sessions[e.New.Child] {
			t.Fatalf("edit %+v goes to a session that does not exist", e)
		}
	}
}
