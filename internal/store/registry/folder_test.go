package registry_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

const stream = `{"type":"header","format":"sessctl.canonical/1"}` + "\n"

// A folder is a store itself, holds stores, or is neither.
func TestExpand(t *testing.T) {
	tests := []struct {
		name  string
		kind  string
		write func(w *loomtest.Workspace)
		want  []string // below the folder
		err   string
	}{
		{"a store itself", "", func(w *loomtest.Workspace) { w.Step("main", loomtest.Step{}) }, []string{"."}, ""},
		{"that holds another", "", func(w *loomtest.Workspace) { w.Step("main", loomtest.Step{}); w.File("main.ndjson", stream) }, []string{".", "main.ndjson"}, ""},
		{"that holds a damaged database, its own", "", func(w *loomtest.Workspace) {
			w.Step("main", loomtest.Step{})
			w.File("index.sqlite", "SQLite format 3\x00"+strings.Repeat("\xff", 200))
			w.File("queue.sqlite", "")
		}, []string{"."}, ""},
		{"of a named kind", "loom", func(w *loomtest.Workspace) { w.Step("main", loomtest.Step{}); w.File("main.ndjson", stream) }, []string{"."}, ""},
		{"of another kind", "canonical", func(w *loomtest.Workspace) { w.Step("main", loomtest.Step{}); w.File("main.ndjson", stream) }, []string{".", "main.ndjson"}, ""},
		{"likely one", "", func(w *loomtest.Workspace) { w.File("main/history/step_001.json", "{") }, []string{"."}, ""},
		{"likely one that holds another", "", func(w *loomtest.Workspace) { w.File("main/history/step_001.json", "{"); w.File("main.ndjson", stream) }, []string{"main.ndjson"}, ""},
		{"likely one of a named kind", "loom", func(w *loomtest.Workspace) { w.File("main/history/step_001.json", "{"); w.File("main.ndjson", stream) }, []string{"."}, ""},
		{"stores in it", "", func(w *loomtest.Workspace) {
			w.File("b.ndjson", stream)
			w.File("a.ndjson", stream)
			w.File("c.ndjson", "{}")
			w.File("D.NDJSON", stream)
			w.File("main/history/notes.json", "{}")
		}, []string{"D.NDJSON", "a.ndjson", "b.ndjson"}, ""},
		{"nothing", "", func(*loomtest.Workspace) {}, nil, "no session store in"},
		{"a store one level deeper", "", func(w *loomtest.Workspace) { w.Step("workspace/main", loomtest.Step{}) }, nil, "no session store in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(t.TempDir())
			tt.write(w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := registry.ExpandPath(t.Context(), w.Folder, tt.kind)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			var want []string
			for _, name := range tt.want {
				want = append(want, filepath.Join(w.Folder, name))
			}
			if diff := cmp.Diff(want, got.Stores); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A folder that no adapter knows is said to be one.
func TestFoldersOfNothing(t *testing.T) {
	folder := t.TempDir()
	for kind, want := range map[string]string{
		"": "is a folder, but not one in which a runtime keeps its sessions", "loom": "is not a store of kind loom", "canonical": "is not a store of kind canonical",
	} {
		if _, err := registry.Open(t.Context(), folder, kind, nil, store.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", kind, err)
		}
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("%v is in the folder now (%v)", entries, err)
	}
}

// Files with the names of steps and other content are likely ones, so that what is
// wrong with all of them can be told.
func TestDamagedFoldersAreKnown(t *testing.T) {
	w := loomtest.Create(t.TempDir())
	w.File("main/history/step_001.json", "{")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open(t.Context(), w.Folder, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err != nil || o.Kind.Name != "loom" || o.Changed() != "" {
		t.Errorf("a store of the kind %s, %v", o.Kind.Name, err)
	}
}
