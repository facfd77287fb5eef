package render_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/view"
)

// Views of databases that docker agent wrote: those with the leak show it and
// would be refused. What the request fails with is what check reports.
func TestViewOfRealStores(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "docker-agent", "*", "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	for _, path := range paths {
		kind, name := filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), ".db")
		t.Run(kind+"/"+name, func(t *testing.T) {
			st, err := registry.Open(t.Context(), storetest.Copy(t, path, t.TempDir()), "", nil, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			for tree, err := range st.Trees(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				refusal := checkRealView(t, st, tree, kind == "leaky" && name != "clean")
				if kind == "fixed" && name != "kill-child" && refusal != "" {
					t.Errorf("a healthy session would be refused: %s", refusal)
				}
			}
		})
	}
}

// checkRealView checks the view of a tree and returns what its request fails
// with.
func checkRealView(t *testing.T, st store.Store, tree *session.Tree, leaks bool) (refusal string) {
	t.Helper()
	if err := st.Fill(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), st, check.Options{Rules: catalogue.UsualRules(), Session: tree.Root().ID})
	if err != nil {
		t.Fatal(err)
	}
	v := view.BuildView(view.Input{Store: st.Facts(), Tree: tree, Findings: result.Findings, Session: tree.Root().ID, Request: true})
	if first := v.Request.FirstRefusal(); first != nil {
		refusal = first.Error
	}
	for _, f := range result.Findings {
		if f.ProviderError != "" && !f.Rule.Profiled { // findings stand in the order of their items
			if f.ProviderError != refusal {
				t.Errorf("the request fails with %q, the finding says %q", refusal, f.ProviderError)
			}
			break
		}
	}
	if leaks && refusal == "" {
		t.Error("a request with a leak would be accepted")
	}
	v.Request = nil
	for _, width := range []int{80, 120} {
		for _, full := range []bool{false, true} {
			text := printed(t, "text", v, width, full)
			fits(t, text, width)
			safe(t, text)
			if leaks && !strings.Contains(text, "leaked") {
				t.Errorf("the leak is not shown:\n%s", text)
			}
			if full {
				holdsAllTexts(t, text, tree)
			}
		}
	}
	return refusal
}

// holdsAllTexts checks that a whole view holds the first word of every text.
func holdsAllTexts(t *testing.T, text string, tree *session.Tree) {
	t.Helper()
	for _, s := range tree.Sessions {
		for i := range s.Items {
			for word := range strings.FieldsSeq(s.Items[i].Body.Text) {
				if !strings.Contains(text, word) {
					t.Errorf("item %d of %s is not shown: %q", i, s.ID, word)
				}
				break
			}
		}
	}
}
