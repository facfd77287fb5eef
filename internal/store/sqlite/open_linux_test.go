package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// spill are statements that leave a hot journal when their process ends: the
// transaction is larger than the cache, so the database itself has changed.
var spill = []string{"pragma cache_size=5", "begin", "update t set x = x || 'changed'", "insert into t select id+100000, x from t"}

// states are the states in which a database is found, and how it is read then.
var states = []struct {
	name   string
	make   func(t *testing.T, path string)
	access access
	writer session.Writer
	rows   int
}{
	{"WAL mode, closed", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
	}, immutable, session.WriterDead, 500},
	{"WAL mode, closed, empty -wal", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		ok(t, os.WriteFile(path+"-wal", nil, 0o600))
	}, immutable, session.WriterDead, 500},
	{"WAL mode, closed, -shm alone", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		ok(t, os.WriteFile(path+"-shm", make([]byte, 32768), 0o600))
	}, immutable, session.WriterDead, 500},
	{"-wal and -shm of a killed process", func(t *testing.T, path string) {
		killed(t, path, walRows(500)...)
	}, unlocked, session.WriterDead, 500},
	{"-wal that a killed process began anew, and the -shm from before", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		killed(t, path, "delete from t where id > 400")
		edit(t, path+"-wal", func(b []byte) []byte {
			b = b[:walHeaderSize]
			b[16]++ // the salt
			var c checksum
			c.addBytes(b[:24], b[3]&1 == 1)
			binary.BigEndian.PutUint32(b[24:], c[0])
			binary.BigEndian.PutUint32(b[28:], c[1])
			return b
		})
	}, unlocked, session.WriterDead, 500},
	{"-wal without -shm", func(t *testing.T, path string) {
		killed(t, path, walRows(500)...)
		ok(t, os.Remove(path+"-shm"))
	}, unlocked, session.WriterDead, 500},
	{"-wal without a commit, no -shm", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		killed(t, path, spill...)
		ok(t, os.Remove(path+"-shm"))
	}, unlocked, session.WriterDead, 500},
	{"-wal with a destroyed header, no -shm", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		killed(t, path, "delete from t where id > 400")
		ok(t, os.Remove(path+"-shm"))
		edit(t, path+"-wal", func(b []byte) []byte { b[20] ^= 1; return b })
	}, immutable, session.WriterDead, 500},
	{"-wal with a destroyed header and -shm", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		killed(t, path, "delete from t where id > 400")
		edit(t, path+"-wal", func(b []byte) []byte { b[20] ^= 1; return b })
	}, immutable, session.WriterDead, 500},
	{"WAL mode, idle writer", func(t *testing.T, path string) {
		process(t, path, walRows(500)...)
	}, shared, session.WriterLive, 500},
	{"WAL mode, writer in a transaction", func(t *testing.T, path string) {
		process(t, path, append(walRows(500), "begin immediate", "delete from t")...)
	}, shared, session.WriterLive, 500},
	{"WAL mode, BEGIN EXCLUSIVE", func(t *testing.T, path string) {
		process(t, path, append(walRows(500), "begin exclusive")...)
	}, shared, session.WriterLive, 500},
	{"WAL mode, writer that has only written", func(t *testing.T, path string) {
		create(t, path, walRows(500)...)
		process(t, path, "insert into t(x) values('new')")
	}, shared, session.WriterLive, 501},
	{"rollback mode, closed", func(t *testing.T, path string) {
		create(t, path, rows(500)...)
	}, shared, session.WriterDead, 500},
	{"rollback mode, idle writer", func(t *testing.T, path string) {
		process(t, path, rows(500)...)
	}, copied, session.WriterLive, 500},
	{"rollback mode, writer in a transaction", func(t *testing.T, path string) {
		process(t, path, append(rows(500), "begin immediate", "delete from t where id > 400")...)
	}, copied, session.WriterLive, 500},
	{"rollback mode, writer in a transaction, journal not held back", func(t *testing.T, path string) {
		process(t, path, append(rows(500), "pragma synchronous=off", "begin immediate", "delete from t where id > 400")...)
	}, copied, session.WriterLive, 500},
	{"rollback mode, journal kept after its transaction", func(t *testing.T, path string) {
		create(t, path, append([]string{"pragma journal_mode=persist"}, rows(500)...)...)
	}, shared, session.WriterDead, 500},
	{"hot journal of a killed process", func(t *testing.T, path string) {
		create(t, path, rows(5000)...)
		killed(t, path, spill...)
	}, copied, session.WriterDead, 5000},
	{"read-only files", func(t *testing.T, path string) {
		killed(t, path, walRows(500)...)
		for _, suffix := range suffixes[:3] {
			ok(t, os.Chmod(path+suffix, 0o400))
		}
	}, unlocked, session.WriterDead, 500},
}

func TestOpenLeavesNoTrace(t *testing.T) {
	for _, test := range states {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			dir := t.TempDir()
			path := filepath.Join(dir, "session.db")
			test.make(t, path)
			before := folder(t, dir)

			db := open(t, path)
			if db.access != test.access || db.Writer.State != test.writer {
				t.Errorf("access %d, writer %v; want %d, %v", db.access, db.Writer, test.access, test.writer)
			}
			if n := count(t, db); n != test.rows {
				t.Errorf("%d rows, want %d", n, test.rows)
			}
			_, err := db.FindDeepFaults(t.Context())
			ok(t, err)
			isEmpty(t, os.Getenv("TMPDIR")) // not even a copy stays if this process is killed now
			if during := folder(t, dir); during != before {
				t.Errorf("while open:\n%s\nbefore:\n%s", during, before)
			}
			if s := db.Changed(); s != "" {
				t.Error(s)
			}
			ok(t, db.Close())
			if after := folder(t, dir); after != before {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestOpenPathsThatMeanSomethingInURIs(t *testing.T) {
	for _, name := range []string{"a b.db", "a?b.db", "a?mode=rwc.db", "a#b.db", "a%41b.db", "a%zz.db", "a&b=c;d.db", "ä.db", "a\xffb.db", "-a.db", `a\b.db`} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		create(t, filepath.Join(dir, "plain.db"), walRows(7)...)
		ok(t, os.Rename(filepath.Join(dir, "plain.db"), path))
		before := folder(t, dir)
		db := open(t, path)
		if n := count(t, db); n != 7 {
			t.Errorf("%q: %d rows", name, n)
		}
		ok(t, db.Close())
		if after := folder(t, dir); after != before {
			t.Errorf("%q: %s", name, after)
		}
	}
}

// As root, SQLite would give the -wal and -shm to the owner of the database.
func TestOpenKeepsOwners(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "session.db")
	killed(t, path, walRows(500)...)
	ok(t, os.Chown(path, 65534, 65534))
	db := open(t, path)
	if n := count(t, db); n != 500 {
		t.Errorf("%d rows", n)
	}
	ok(t, db.Close())
	for _, suffix := range suffixes[1:3] {
		info, err := os.Stat(path + suffix)
		ok(t, err)
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
			t.Errorf("%s belongs to %d", suffix, owner)
		}
	}
}

func TestOpenThroughSymbolicLink(t *testing.T) {
	real, link := filepath.Join(t.TempDir(), "real.db"), filepath.Join(t.TempDir(), "link.db")
	killed(t, real, walRows(500)...) // the rows are in real.db-wal
	ok(t, os.Symlink(real, link))
	if n := count(t, open(t, link)); n != 500 {
		t.Errorf("%d rows", n)
	}
}

func TestOpenReadOnlyFolderAsOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	// The other user must reach the binary and the folder.
	base, err := os.MkdirTemp("/tmp", "sqlite-test-")
	ok(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	ok(t, os.Chmod(base, 0o755))
	binary := filepath.Join(base, "test")
	content, err := os.ReadFile(os.Args[0])
	ok(t, err)
	ok(t, os.WriteFile(binary, content, 0o755))

	prepare := map[string]func(path string){
		"closed":           func(path string) { create(t, path, walRows(500)...) },
		"rollback":         func(path string) { create(t, path, rows(500)...) },
		"wal and shm":      func(path string) { killed(t, path, walRows(500)...) },
		"live":             func(path string) { process(t, path, walRows(500)...) },
		"wal without shm":  func(path string) { killed(t, path, walRows(500)...); ok(t, os.Remove(path+"-shm")) },
		"unreadable shm":   func(path string) { killed(t, path, walRows(500)...); ok(t, os.Chmod(path+"-shm", 0o600)) },
		"hot journal":      func(path string) { create(t, path, rows(500)...); killed(t, path, spill...) },
		"reads after idle": func(path string) { create(t, path, rows(500)...); process(t, path, "select * from t") },
	}
	for name, make := range prepare {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp(base, "db-")
			ok(t, err)
			path := filepath.Join(dir, "session.db")
			make(path)
			for _, suffix := range suffixes {
				if name != "unreadable shm" || suffix != "-shm" {
					_ = os.Chmod(path+suffix, 0o444)
				}
			}
			ok(t, os.Chmod(dir, 0o555))
			before := folder(t, dir)
			cmd := exec.Command(binary, path)
			cmd.Dir = base
			cmd.Env = []string{childVar + "=" + childRead}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			out, err := cmd.Output() // a binary that measures coverage warns on standard error
			if got := strings.TrimSpace(string(out)); got != "500" || err != nil {
				t.Errorf("read %q (%v)", got, err)
			}
			if after := folder(t, dir); after != before {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestOpenWaitsForExclusiveLock(t *testing.T) {
	holders := map[string][]string{
		"rollback mode, BEGIN EXCLUSIVE":   append(rows(500), "begin exclusive"),
		"WAL mode, locking_mode=EXCLUSIVE": append([]string{"pragma locking_mode=exclusive"}, walRows(500)...),
	}
	for name, statements := range holders {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "session.db")
			cmd, stop := process(t, path, statements...)
			before := folder(t, dir)

			_, err := Open(t.Context(), path, Options{BusyTimeout: 100 * time.Millisecond})
			if problem.ClassOf(err) != problem.Busy {
				t.Fatalf("got %v", err)
			}
			if pid := fmt.Sprintf("(pid %d)", cmd.Process.Pid); !strings.Contains(err.Error(), pid) {
				t.Errorf("%q does not name %s", err, pid)
			}
			if after := folder(t, dir); after != before {
				t.Errorf("after:\n%s\nbefore:\n%s", after, before)
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := Open(ctx, path, Options{BusyTimeout: time.Hour}); err != context.Canceled {
				t.Errorf("cancelled: %v", err)
			}

			time.AfterFunc(200*time.Millisecond, stop)
			db, err := Open(t.Context(), path, Options{BusyTimeout: time.Minute})
			ok(t, err)
			if n := count(t, db); n != 500 {
				t.Errorf("%d rows after the lock ended", n)
			}
			ok(t, db.Close())
		})
	}
}

// Beside a writer that commits and checkpoints all the time every read sees one
// snapshot, and a sound one.
func TestOpenBesideBusyWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	process(t, path, append(walRows(100), "create table u(id integer primary key)", "insert into u select id from t",
		"pragma wal_autocheckpoint=5", forever+"begin; insert into t(x) values('new'); insert into u default values; commit")...)
	for range 30 {
		db := open(t, path)
		rows, others := count(t, db), 0
		ok(t, db.QueryRow(t.Context(), "select count(*) from u").Scan(&others))
		if rows != others || db.Changed() != "" {
			t.Errorf("%d rows and %d of the other table; %s", rows, others, db.Changed())
		}
		if faults := db.Faults(); len(faults) > 0 {
			t.Errorf("faults: %v", faults)
		}
		ok(t, db.Close())
	}
}

// TestAHalfWrittenFrame: a writer writes the head of a frame, and then its page. What is read
// between the two is no damage, unless it stays so.
func TestAHalfWrittenFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	process(t, path, walRows(20)...)
	whole, err := os.ReadFile(path + "-wal")
	ok(t, err)
	half := bytes.Clone(whole)
	half[len(half)-1] ^= 1
	for _, stays := range []bool{false, true} {
		ok(t, os.WriteFile(path+"-wal", half, 0o600))
		written := make(chan error, 1)
		if stays {
			written <- nil
		} else {
			time.AfterFunc(steady/4, func() { written <- os.WriteFile(path+"-wal", whole, 0o600) })
		}
		db := open(t, path)
		ok(t, <-written)
		if faults := db.Faults(); len(faults) > 0 != stays {
			t.Errorf("it stays so: %t, faults %v", stays, faults)
		}
		ok(t, db.Close())
	}
}

func TestChanged(t *testing.T) {
	tests := []struct {
		name   string
		change func(path string)
		want   string
	}{
		{"nothing", func(string) {}, ""},
		{"-wal", func(path string) { process(t, path, "insert into t(x) values('new')") }, "its -wal file appeared"},
		{"rows", func(path string) { create(t, path, "delete from t") }, "the database was written to"},
		{"gone", func(path string) { ok(t, os.Remove(path)) }, "was moved or deleted while sessctl read it"},
		{"replaced", func(path string) {
			ok(t, os.Remove(path))
			create(t, path, walRows(500)...)
		}, "was replaced by another file while sessctl read it"},
		{"longer", func(path string) { ok(t, os.Truncate(path, 1<<20)) }, "the database went from"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, walRows(500)...)
			db := open(t, path)
			test.change(path)
			if got := db.Changed(); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A database without a log is read past SQLite while a lock holds writers off; one whose
// last page is cut is left to SQLite, which reads what is there of it.
func TestReadingUnderALock(t *testing.T) {
	for _, cut := range []int64{0, 1000} {
		path := filepath.Join(t.TempDir(), "session.db")
		create(t, path, rows(3000)...)
		info, err := os.Stat(path)
		ok(t, err)
		ok(t, os.Truncate(path, info.Size()-cut))
		db := open(t, path)
		if past := db.raw != nil; past != (cut == 0) {
			t.Errorf("%d bytes cut off: read past SQLite: %t", cut, past)
		}
		writer, err := sql.Open("sqlite", fileURI(path)+"?_pragma=busy_timeout(0)")
		ok(t, err)
		if _, err := writer.Exec("insert into t(x) values('new')"); err == nil {
			t.Error("somebody wrote while it was read")
		}
		ok(t, writer.Close())
		if cut == 0 && count(t, db) != 3000 {
			t.Errorf("%d rows", count(t, db))
		}
		ok(t, db.Close())
	}
}
