package events_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/treetest"
)

// sameItems ignores what names the place of an item and no part of it.
var sameItems = cmp.Options{
	treetest.AlikeShared, cmpopts.IgnoreFields(session.Shared{}, "Table"), cmpopts.IgnoreFields(session.Item{}, "Key"),
	cmpopts.IgnoreFields(session.Session{}, "Children", "Parent", "Faults"),
	cmp.Comparer(func(a, b session.Body) bool {
		return a.Text == b.Text && a.Reasoning == b.Reasoning && string(a.Raw) == string(b.Raw)
	}),
	cmpopts.EquateEmpty(),
}

// A sub-session in a recorded stream says what the rows say that the same run
// stored, to the byte.
func TestChildrenAreAsStored(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "corpus", "docker-agent", "*", "*.events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	compared := 0
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			stored := storedSessions(t, strings.TrimSuffix(path, ".events.jsonl")+".db")
			for _, e := range recorded(t, path) {
				if e.Kind != recording.ChildCompleted {
					continue
				}
				if e.Child == nil {
					t.Fatalf("line %d: no child", e.Line)
				}
				for i, child := range e.Child.Sessions {
					want := stored[child.ID]
					if want == nil {
						t.Fatalf("line %d: session %s is not stored", e.Line, child.ID)
					}
					if diff := cmp.Diff(want, child, sameItems); diff != "" {
						t.Errorf("line %d, session %s (-stored +recorded):\n%s", e.Line, child.ID, diff)
					}
					if i > 0 && child.Parent != want.Parent || i == 0 && e.Session != want.Parent {
						t.Errorf("line %d, session %s: its parent is %s or %s, want %s", e.Line, child.ID, child.Parent, e.Session, want.Parent)
					}
					compared++
				}
			}
		})
	}
	if compared == 0 {
		t.Error("no stream has a sub-session")
	}
}

// recorded are the events of a stream in which no line is skipped.
func recorded(t *testing.T, path string) []recording.Event {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	list, skipped := readAll(t, f)
	if len(skipped) > 0 {
		t.Errorf("skipped %v", skipped)
	}
	return list
}

func readAll(t testing.TB, stream io.Reader) (list []recording.Event, skipped []events.Skipped) {
	t.Helper()
	r := events.NewReader(stream)
	for {
		var e recording.Event
		switch err := r.Next(&e); err {
		case nil:
			list = append(list, e)
		case io.EOF:
			return list, r.Skipped()
		default:
			t.Fatal(err)
		}
	}
}

// storedSessions are the sessions of a database by id, with bodies.
func storedSessions(t *testing.T, path string) map[string]*session.Session {
	t.Helper()
	opened, err := registry.Open(t.Context(), storetest.Copy(t, path, t.TempDir()), "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	list := map[string]*session.Session{}
	for tree, err := range opened.Trees(t.Context()) {
		if err == nil {
			err = opened.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range tree.Sessions {
			list[s.ID] = s
		}
	}
	return list
}
