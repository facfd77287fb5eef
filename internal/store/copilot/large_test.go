package copilot_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// listed are the root sessions that a folder has with these options, and what was said of the reading.
func listed(t *testing.T, home string, opts store.Options) (list []*session.Session, facts session.Store) {
	t.Helper()
	st, err := registry.Open(context.Background(), home, "", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	for tree, err := range st.Trees(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Fill(context.Background(), tree); err != nil {
			t.Fatal(err)
		}
		list = append(list, tree.Root())
	}
	return list, *st.Facts()
}

// TestLargeFolders: of a large folder the newest sessions are enough, and a list needs the ends of files only.
func TestLargeFolders(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	for seed := range uint64(12) {
		one, file := built(t, t.TempDir(), seed, 1)
		to := filepath.Join(home, "session-state", filepath.Base(filepath.Dir(file)))
		if err := os.CopyFS(to, os.DirFS(filepath.Join(one, "session-state", filepath.Base(filepath.Dir(file))))); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-time.Duration(seed) * time.Hour)
		if err := os.Chtimes(filepath.Join(to, "events.jsonl"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	all, _ := listed(t, home, store.Options{})
	brief, facts := listed(t, home, store.Options{Brief: 1})
	if !facts.Brief || !facts.Uncounted || len(brief) != len(all) {
		t.Fatalf("%d of %d sessions, %+v", len(brief), len(all), facts.Condition)
	}
	for i, s := range all {
		got, want := brief[i], &session.Session{ID: s.ID, Title: s.Title, Created: s.Created, Writer: s.Writer}
		if got.Updated.Before(s.Updated) || len(got.Items) > 0 {
			t.Errorf("%s ends at %s, and was read with %s", s.ID, s.Updated, got.Updated)
		}
		if diff := cmp.Diff([]any{want.ID, want.Title, want.Created, want.Writer}, []any{got.ID, got.Title, got.Created, got.Writer}); diff != "" {
			t.Error(diff)
		}
	}
	if list, facts := listed(t, home, store.Options{Brief: 1, Counted: true}); facts.Brief || len(list[0].Items) == 0 {
		t.Error("nobody counted")
	}
	newest, facts := listed(t, home, store.Options{Newest: 1})
	if len(newest) != 1 || facts.Left != len(all)-1 {
		t.Errorf("%d sessions, and %d were left", len(newest), facts.Left)
	}
}
