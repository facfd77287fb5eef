//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
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
		"was moved or deleted": func(t *testing.T, path string) { ok(t, os.Rename(path, path+".old")) },
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
	if changed := db.Changed(); !strings.Contains(changed, "link.db now leads to another file") {
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

// Of the -wal and the -shm only those go that the edit made. A log that was there before
// is folded in and stays, empty, as the same file.
func TestOnlyWhatAnEditMadeIsDeleted(t *testing.T) {
	tests := []struct {
		name   string
		before func(t *testing.T, path string)
		during func(t *testing.T, path string)
		left   string
	}{
		{"nothing beside it", nil, nil, ""},
		{"a log of a killed process", func(t *testing.T, path string) { killed(t, path, "insert into t(x) values('new')") }, nil,
			"session.db-wal and session.db-shm stay"},
		{"an index alone", func(t *testing.T, path string) { ok(t, os.WriteFile(path+"-shm", nil, 0o600)) }, nil, "session.db-shm stays"},
		{"another index", nil, func(t *testing.T, path string) {
			ok(t, os.WriteFile(path+".new", []byte("foreign"), 0o600))
			ok(t, os.Rename(path+".new", path+"-shm"))
		}, "session.db-shm stays"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, walRows(9)...)
			if tt.before != nil {
				tt.before(t, path)
			}
			was, err := lookAt(path)
			ok(t, err)
			e, err := OpenEdit(t.Context(), path)
			ok(t, err)
			ok(t, e.Begin(t.Context()))
			ok(t, second(e.Insert(t.Context(), "t", []table.Field{{Name: "x", Value: "ours"}})))
			ok(t, e.Commit(t.Context()))
			if tt.during != nil {
				tt.during(t, path)
				was, err = lookAt(path)
				ok(t, err)
				was[1] = nil // this one the edit made
			}
			ok(t, e.Close())
			is, err := lookAt(path)
			ok(t, err)
			for _, i := range logs {
				if (was[i] == nil) != (is[i] == nil) || was[i] != nil && !os.SameFile(was[i], is[i]) {
					t.Errorf("%s: before %v, after %v", suffixes[i], was[i], is[i])
				}
			}
			if is.fileSize(1) > 0 {
				t.Errorf("%d bytes are left in the log", is.fileSize(1))
			}
			if left := e.Left(); !strings.HasPrefix(left, tt.left) || (left == "") != (tt.left == "") {
				t.Errorf("left: %q", left)
			}
		})
	}
}
