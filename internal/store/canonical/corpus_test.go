package canonical_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/canonical"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// Reading the export of databases that a runtime wrote gives their outlines.
// Digests have other values, because the adapter hashes texts as they are
// stored; the same ones are equal.
func TestExportOfRealStores(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "corpus", "docker-agent", "*", "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			opened, err := registry.Open(t.Context(), storetest.Copy(t, path, t.TempDir()), "", nil, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = opened.Close() }()
			text := export(t, opened.Store, canonical.WriteOptions{})
			st := openStream(t, text)
			if got, want := st.Facts(), opened.Facts(); got.Writer != want.Writer || got.ChildrenClosed != want.ChildrenClosed || got.Faults != nil {
				t.Errorf("facts %+v", got)
			}
			want, got := filled(t, opened.Store), filled(t, st)
			if diff := cmp.Diff(want, got, sameOutlines,
				cmpopts.IgnoreFields(session.Item{}, "Text"), cmpopts.IgnoreFields(session.Result{}, "Digest")); diff != "" {
				t.Errorf("(-store +export):\n%s", diff)
			}
			if diff := cmp.Diff(equalities(want), equalities(got)); diff != "" {
				t.Errorf("equal digests (-store +export):\n%s", diff)
			}
			redacted := openStream(t, export(t, opened.Store, canonical.WriteOptions{Redact: true}))
			if diff := cmp.Diff(equalities(want), equalities(filled(t, redacted))); diff != "" {
				t.Errorf("equal digests (-store +redacted export):\n%s", diff)
			}
		})
	}
}

// equalities numbers the digests of messages in order, equal ones alike.
func equalities(trees []*session.Tree) []int {
	number := map[session.Digest]int{0: -1}
	var list []int
	add := func(d session.Digest) {
		if _, ok := number[d]; !ok {
			number[d] = len(number)
		}
		list = append(list, number[d])
	}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				if it := &s.Items[i]; it.Kind == session.Message {
					add(it.Meaning)
					add(it.Text)
					for n := range it.Results {
						add(it.Results[n].Digest)
					}
				}
			}
		}
	}
	return list
}
