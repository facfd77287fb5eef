//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

// Whatever way a database is read in, that its path no longer leads to it is said.
func TestChangedSaysThatTheFileIsAnother(t *testing.T) {
	beside := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) { process(t, path, statements...) }
	}
	opened := []struct {
		name   string
		rows   []string
		beside func(t *testing.T, path string)
	}{
		{"immutable", walRows(9), nil},
		{"shared, WAL mode", walRows(9), beside("insert into t(x) values('new')")},
		{"shared, rollback mode", rows(9), nil},
		{"unlocked", walRows(9), func(t *testing.T, path string) { killed(t, path, "insert into t(x) values('new')") }},
		{"copied", rows(9), func(t *testing.T, path string) {
			killed(t, path, "pragma cache_size=1", "begin", "update t set x = hex(zeroblob(9000))")
		}},
	}
	moves := map[string]func(t *testing.T, path string){
		"was replaced by another file": func(t *testing.T, path string) {
			other := filepath.Join(filepath.Dir(path), "other.db")
			create(t, other, rows(3)...)
			ok(t, os.Rename(other, path))
		},
		"was moved away or deleted": func(t *testing.T, path string) { ok(t, os.Rename(path, path+".old")) },
	}
	for _, o := range opened {
		for says, move := range moves {
			t.Run(o.name+" "+says, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "session.db")
				create(t, path, o.rows...)
				if o.beside != nil {
					o.beside(t, path)
				}
				db := open(t, path)
				if changed := db.Changed(); changed != "" {
					t.Fatalf("before: %s", changed)
				}
				move(t, path)
				if changed := db.Changed(); !strings.Contains(changed, says) {
					t.Errorf("%q, want %q", changed, says)
				}
			})
		}
	}
}

// A link is read through, and what counts is where it leads.
func TestChangedFollowsTheLinkThatWasGiven(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.db")
	for _, name := range []string{"a.db", "b.db"} {
		create(t, filepath.Join(dir, name), rows(9)...)
	}
	ok(t, os.Symlink("a.db", link))
	db := open(t, link)
	if changed := db.Changed(); changed != "" {
		t.Fatal(changed)
	}
	ok(t, os.Remove(link))
	ok(t, os.Symlink("b.db", link))
	if changed := db.Changed(); !strings.Contains(changed, "link.db leads to another file now") {
		t.Errorf("%q", changed)
	}
}

// What SQLite never makes beside a database is not followed: a link leads to somebody
// else's file, and reading a pipe would never end.
func TestNeighboursThatAreNoFilesAreRefused(t *testing.T) {
	for _, suffix := range suffixes[1:] {
		path := filepath.Join(t.TempDir(), "session.db")
		create(t, path, walRows(9)...)
		other := filepath.Join(t.TempDir(), "other")
		ok(t, os.WriteFile(other, []byte("something else"), 0o600))
		ok(t, os.Symlink(other, path+suffix))
		for _, err := range []error{second(Open(t.Context(), path, Options{})), second(OpenEdit(t.Context(), path))} {
			isProblem(t, err, problem.Unreadable, "session.db"+suffix+" beside it is a symbolic link")
		}
	}
}

func second[T any](_ T, err error) error { return err }
