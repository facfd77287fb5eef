//go:build !linux

package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// What nobody can see is never taken for safe: neither "live" nor "dead".
func TestWriterIsUnknown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, rows(3)...)
	w, err := ProbeWriter(path)
	ok(t, err)
	if w.State != session.WriterUnknown || w.Why == "" {
		t.Errorf("got %+v", w)
	}
	if db := open(t, path); db.access != copied || count(t, db) != 3 {
		t.Errorf("read with access %d, want a private copy", db.access)
	}
}
