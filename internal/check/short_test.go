package check_test

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestShortID: an id is cut only where no other id begins so, and never to another id.
func TestShortID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db, err := springtest.Create(path, springtest.Form{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{
		"aaaaaaaa": "aaaaaaaa", "aaaaaaaa-1111-2222": "aaaaaaaa-1111-2222", // cut, it would be the other one
		"bbbbbbbb-1111-2222": "bbbbbbbb-1111-2222", "bbbbbbbb-1111-3333": "bbbbbbbb-1111-3333",
		"cccccccc-1": "cccccccc-1", "cccccccc-1111-2222": "cccccccc-1111-2222", // the beginning of both
		"dddddddd-1111-2222": "dddddddd",
	}
	for id := range ids {
		springtest.Whole(db, id, 1, 2)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	result := checkFile(t, path, store.Options{})
	for id, want := range ids {
		if got := result.ShortID(id); got != want {
			t.Errorf("%s is cut to %s", id, got)
		}
	}
}
