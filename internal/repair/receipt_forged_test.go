package repair_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// resealed computes the sums of a receipt anew, as docs/repair.md says they are made.
func resealed(receipt string) string {
	var out strings.Builder
	prev := ""
	for line := range strings.Lines(receipt) {
		body := line[:strings.LastIndex(line, `,"prev":"`)] + `,"prev":"` + prev + `"`
		sum := sha256.Sum256([]byte(body))
		prev = hex.EncodeToString(sum[:])
		out.WriteString(body + `,"sum":"` + prev + "\"}\n")
	}
	return out.String()
}

// A receipt that was changed by somebody who knows how sums are made writes nothing
// but rows of sessions and items, and is rolled back where they do not become what
// the digests say.
func TestForgedReceipts(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // in the receipt
		class    problem.Class
		says     string
	}{
		{"nothing", "", "", 0, ""},
		{"a byte of the old column", `"messages":"[{\"message\":{`, `"messages":"[{\"massage\":{`, problem.RolledBack, "the result would not be what the store was before the repair"},
		{"a row of another table", `[{"table":"session_items",`, `[{"table":"secrets","row":1,"before":{"word":"new"},"after":{"word":"old"}},{"table":"session_items",`, problem.Busy, `names the table "secrets"`},
		{"the sequence of another table", `[{"table":"session_items",`, `[{"table":"sqlite_sequence","row":0,"before":{"name":"secrets","seq":9},"after":null},{"table":"session_items",`, problem.Busy, `names the table "secrets"`},
		{"a value of the row that came back", `"agent_name":"`, `"agent_name":"x`, problem.RolledBack, "would not be what the store was before"},
		{"a row less", `{"table":"session_items","row":`, `{"table":"session_items","row":9`, problem.Busy, "cannot be restored"},
		{"another kind of record", `{"record":"end"`, `{"record":"and"`, problem.Busy, `no record of the kind "and"`},
		{"fewer batches", `"batches":1`, `"batches":2`, problem.Busy, "says that there are 2 batches"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			leakyStore(t, path)
			db := openPlain(t, path)
			for _, statement := range []string{"create table secrets(id integer primary key autoincrement, word)", "insert into secrets(word) values ('old')"} {
				if _, err := db.Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before := storetest.Dump(t, path)
			_, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(receipt.Path())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), tt.old) {
				t.Fatalf("no %s in %s", tt.old, data)
			}
			at := strings.Index(string(data), `"journal":`) // what is in fixes and ledgers changes no row
			if i := strings.Index(string(data)[at:], tt.old); i >= 0 {
				data = []byte(string(data)[:at+i] + strings.Replace(string(data)[at+i:], tt.old, tt.new, 1))
			}
			if err := os.WriteFile(receipt.Path(), []byte(resealed(string(data))), 0o600); err != nil {
				t.Fatal(err)
			}
			want := before
			if tt.class != 0 {
				want = storetest.Dump(t, path)
			}
			_, err = repairtest.Undo(path, receipt.Path())
			if problem.ClassOf(err) != tt.class || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (class %d)", err, problem.ClassOf(err))
			}
			if now := storetest.Dump(t, path); strings.Join(now, "\n") != strings.Join(want, "\n") {
				t.Errorf("the store is something else:\n%s", now)
			}
		})
	}
}
