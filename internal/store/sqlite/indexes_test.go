package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
)

// indexed makes a database with indexes as runtimes have them, some of more than one page.
func indexed(t *testing.T, path string) {
	t.Helper()
	create(t, path, "pragma page_size = 512", "create table messages(id text primary key, session_id text not null, at integer, part blob)",
		"create index by_session on messages(session_id, at)", "create index newest on messages(at desc)", "create index by_name on messages(session_id collate nocase)",
		`with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
			insert into messages select printf('msg_%04d', i * 7919 % 1000), 'session-' || (i % 3), case when i % 10 then 1700000000 + i / 2 end, zeroblob(20) from n`)
}

// Every changed byte of an index by which a query misses a row, or fails, is told without
// --deep; a sound database has no fault.
func TestADamagedIndexIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	indexed(t, path)
	if found := indexFaultsOf(t, path); found != "" {
		t.Fatalf("a sound database: %s", found)
	}
	content, err := os.ReadFile(path)
	ok(t, err)
	missed, told := 0, 0
	for page := 512; page < len(content); page += 512 {
		if kind := content[page]; kind != 2 && kind != 10 {
			continue
		}
		for at := page; at < page+512; at += 512 / campaign.Rounds(16, 512) {
			for _, bit := range []byte{1, 0x40} {
				damaged := bytes.Clone(content)
				damaged[at] ^= bit
				ok(t, os.WriteFile(path, damaged, 0o600))
				found := indexFaultsOf(t, path)
				if found != "" {
					told++
				}
				if why := misses(t, path); why != "" {
					if missed++; found == "" {
						t.Errorf("byte %d of page %d, bit %d: %s, and no fault", at-page, page/512+1, bit, why)
					}
				}
			}
		}
	}
	if t.Logf("%d damaged files answer a query otherwise, %d are told", missed, told); missed < 7*campaign.Rounds(16, 512) {
		t.Errorf("only %d damaged files answer a query otherwise", missed)
	}
}

func indexFaultsOf(t *testing.T, path string) string {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	ok(t, err)
	defer func() { _ = db.Close() }()
	db.CompareIndexes = true
	faults, err := db.UnscannedFaults(t.Context())
	ok(t, err)
	var all []string
	for _, f := range append(faults, db.Faults()...) {
		if f.Kind == session.StoreDamaged {
			all = append(all, f.Detail)
		}
	}
	return strings.Join(all, "; ")
}

// misses says what a runtime's query by an index answers otherwise than the table.
func misses(t *testing.T, path string) string {
	t.Helper()
	pool, err := sql.Open("sqlite", fileURI(path)+"?mode=ro&immutable=1")
	ok(t, err)
	defer func() { _ = pool.Close() }()
	for _, q := range []struct{ index, where, order string }{
		{"sqlite_autoindex_messages_1", "id = ?", "rowid"}, {"by_session", "session_id = ?", "at, rowid"},
		{"newest", "at >= ?", "at desc, rowid"}, {"by_name", "session_id = ? collate nocase", "rowid"},
	} {
		var keys string
		ok(t, pool.QueryRow(`select group_concat(distinct case ? when 'sqlite_autoindex_messages_1' then id when 'newest' then '1700000003' else session_id end) from messages not indexed`, q.index).Scan(&keys))
		for key := range strings.SplitSeq(keys, ",") {
			var want, got sql.NullString
			ok(t, pool.QueryRow("select group_concat(rowid) from (select rowid from messages not indexed where "+q.where+" order by "+q.order+")", key).Scan(&want))
			err := pool.QueryRowContext(context.Background(), "select group_concat(rowid) from (select rowid from messages indexed by "+q.index+" where "+q.where+" order by "+q.order+")", key).Scan(&got)
			if err != nil || got != want {
				return fmt.Sprintf("by %s %s: %s in place of %s (%v)", q.index, key, got.String, want.String, err)
			}
		}
	}
	return ""
}
