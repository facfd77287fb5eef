package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
)

func TestBackup(t *testing.T) {
	path, dir := filepath.Join(t.TempDir(), "session.db"), t.TempDir()
	killed(t, path, walRows(500)...) // all rows are in the -wal
	ok(t, os.Chmod(path, 0o640))
	want := dump(t, path)
	e, to, heard := openEdit(t, path), filepath.Join(dir, "backup.db"), int64(0)
	ok(t, e.Backup(t.Context(), to, nil, func(done int64) { heard = done }))
	info, err := os.Stat(to)
	ok(t, err)
	if source, err := os.Stat(path); err != nil || info.Mode() != source.Mode() || info.Size() != heard {
		t.Errorf("mode %v, %d bytes, heard of %d", info.Mode(), info.Size(), heard)
	}
	hasNoNeighbours(t, to)
	if got := dump(t, to); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if faults := open(t, to).Faults(); len(faults) > 0 {
		t.Error(faults)
	}
	isProblem(t, e.Backup(t.Context(), to, nil, nil), problem.Unreadable, to+" already exists")
	isProblem(t, e.Backup(t.Context(), path, nil, nil), problem.Unreadable, "already exists")
	isProblem(t, e.Backup(t.Context(), filepath.Join(dir, "none", "b.db"), nil, nil), problem.Unreadable, "cannot be written, so nothing was changed")
	ok(t, e.Begin(t.Context())) // failed backups change nothing about the good one
}

// large makes a database of some megabytes.
func large(t testing.TB, megabytes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	pool, err := openPool(path)
	if err == nil {
		_, err = pool.Exec("create table t(id integer primary key, x)")
	}
	for range megabytes {
		if err == nil {
			_, err = pool.Exec("insert into t(x) values(randomblob(1000000))")
		}
	}
	if err = errors.Join(err, pool.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBackupCancelled(t *testing.T) {
	campaign.ShowsNoRace(t)
	path, dir := large(t, 40), t.TempDir()
	e := openEdit(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	err := e.Backup(ctx, filepath.Join(dir, "backup.db"), nil, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	isEmpty(t, dir)
	ok(t, e.Begin(t.Context()))
}

func BenchmarkBackup(b *testing.B) {
	path, dir := large(b, 100), b.TempDir()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	to := filepath.Join(dir, "backup.db")
	measure := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(info.Size())
			for b.Loop() {
				if err := errors.Join(do(), os.Remove(to)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("copy", func() error { return plainCopy(path, to) })
	e, err := OpenEdit(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	measure("backup", func() error { return e.Backup(context.Background(), to, nil, nil) })
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
}

// plainCopy is what a backup is measured against.
func plainCopy(path, to string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Sync(), file.Close())
}

func openPool(path string) (*sql.DB, error) {
	return sql.Open("sqlite", fileURI(path)+"?_pragma=synchronous(off)")
}
