package adk_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// stable makes sure that a second repair has nothing to do, and that undo gives back
// what was stored before.
func stable(t tester, path, before string, receipt *repair.Receipt) {
	t.Helper()
	after := dump(t, path)
	if plan, again, err := repairtest.Repair(path); err != nil || again != nil || !plan.IsEmpty() {
		t.Fatalf("a second repair has something to do: %v %s", err, told(plan))
	}
	if diff := cmp.Diff(after, dump(t, path)); diff != "" {
		t.Fatalf("a second repair changes something:\n%s", diff)
	}
	if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
		t.Fatalf("undo: %v", err)
	}
	if diff := cmp.Diff(before, dump(t, path)); diff != "" {
		t.Fatalf("after the undo, before (-), now (+):\n%s", diff)
	}
}

// tester is a test or a case of a property.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// told are the fixes and what is left of a plan.
func told(plan *repair.Plan) string {
	var b strings.Builder
	for _, tree := range plan.Trees {
		for _, f := range tree.Fixes {
			fmt.Fprintf(&b, "%s %s: %s\n", f.Rule, f.Session, f.Title)
		}
	}
	for _, f := range plan.Findings {
		fmt.Fprintf(&b, "left: %s %s %s:%d %s\n", f.Rule.ID, f.Severity, f.Session, f.Item, f.Message)
	}
	return b.String()
}

// dump is the whole content of a database with its types.
func dump(t tester, path string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range query(t, path, "select name, sql from sqlite_schema where type = 'table' order by name") {
		fmt.Fprintln(&b, table[0], table[1])
		for _, row := range query(t, path, "select rowid, * from "+table[0]+" order by rowid") {
			fmt.Fprintf(&b, "  %q\n", row)
		}
	}
	return b.String()
}

// showAsUsual lets a connection see the tables of adk-kotlin under the names of the others.
func showAsUsual(db *sql.DB) error {
	db.SetMaxOpenConns(1) // that has the views
	if db.QueryRow("select 1 from sqlite_schema where name = 'StorageEvent'").Scan(new(int)) != nil {
		return nil
	}
	_, err := db.Exec(`create temp view events as select rowid, id, appName app_name, userId user_id, sessionId session_id,
			invocationId invocation_id, timestamp, eventData event_data from StorageEvent;
		create temp view sessions as select rowid, id, appName app_name, userId user_id, state, createTime create_time, updateTime update_time from StorageSession`)
	return err
}

// query reads rows as texts: dates as they are stored, not as the driver shows them.
func query(t tester, path, statement string) [][]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_texttotime=0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := showAsUsual(db); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatal(statement, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list [][]string
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, v := range values {
			row[i] = fmt.Sprintf("%v", v)
			if blob, ok := v.([]byte); ok {
				row[i] = string(blob)
			}
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func created(t *testing.T, g adktest.Generation, sessions ...adktest.Session) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "adk.db")
	if err := adktest.Create(path, g, sessions...); err != nil {
		t.Fatal(err)
	}
	return path
}
