package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

func TestProbeWriter(t *testing.T) {
	tests := []struct {
		name       string
		statements []string
		exclusive  bool
		changing   bool
	}{
		{"WAL mode, idle", walRows(1), false, false},
		{"rollback mode, before its first transaction", nil, false, false},
		{"WAL mode, writing", append(walRows(1), "begin immediate"), false, false},
		{"rollback mode, idle", rows(1), false, false},
		{"rollback mode, reading", append(rows(1), "begin", "select * from t"), false, false},
		{"rollback mode, writing", append(rows(1), "begin immediate"), false, true},
		{"rollback mode, exclusive", append(rows(1), "begin exclusive"), true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			create(t, path, "create table other(x)")
			cmd, stop := process(t, path, test.statements...)
			w, err := ProbeWriter(path)
			ok(t, err)
			name := filepath.Base(os.Args[0])
			name = fmt.Sprintf("%s (pid %d)", name[:min(len(name), 15)], cmd.Process.Pid) // the kernel keeps 15 bytes
			want := Writer{State: session.WriterLive, Name: name, exclusive: test.exclusive, changing: test.changing}
			if w != want {
				t.Errorf("%+v, want %+v", w, want)
			}
			stop()
			if w, err = ProbeWriter(path); err != nil || w != (Writer{State: session.WriterDead}) {
				t.Errorf("after its end: %+v (%v)", w, err)
			}
		})
	}
}

// A program that has the file open only for reading, such as a backup, is no
// writer.
func TestProbeWriterIgnoresReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, rows(1)...)
	processWith(t, fileURI(path)+"?mode=ro", "select 1 from t")
	if w, err := ProbeWriter(path); err != nil || w.State != session.WriterDead {
		t.Errorf("%+v (%v)", w, err)
	}
}

// A writer without a log commits while its database is being read, however long that
// takes, and the read sees one state.
func TestReadingKeepsNoWriterWaiting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, append(rows(2000), "create table u(id integer primary key)", "insert into u select id from t")...)
	const think = "; with recursive c(i) as (select 1 union all select i+1 from c where i < 50000) select count(*) from c"
	process(t, path, "pragma busy_timeout=10000", forever+"begin immediate; insert into t(x) values('new'); insert into u default values; commit"+think)
	written := func() time.Time { // to open the file and close it would drop this process's locks
		info, err := os.Stat(path)
		ok(t, err)
		return info.ModTime()
	}
	for range 5 {
		db := open(t, path)
		rows, before := count(t, db), written()
		for deadline := time.Now().Add(5 * time.Second); written().Equal(before); {
			if time.Now().After(deadline) {
				t.Fatal("no commit while the database is open for reading")
			}
		}
		others := 0
		ok(t, db.QueryRow(t.Context(), "select count(*) from u").Scan(&others))
		if rows != others || len(db.Faults()) > 0 || db.Changed() != "" {
			t.Errorf("%d rows, %d of the other table, faults %v, %s", rows, others, db.Faults(), db.Changed())
		}
		ok(t, db.Close())
	}
}
