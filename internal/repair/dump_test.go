package repair_test

import (
	"database/sql"
	"fmt"
	"strings"
)

// tester is a test or a case of a property.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// agentDump is the whole content of a database, as `sqlite3 .dump` tells it:
// the schema, every row of every table in row order, and the sequences.
func agentDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b strings.Builder
	var tables []string
	for _, r := range rowsOf(t, db, "select type, name, coalesce(sql, '') from sqlite_schema order by rowid") {
		fmt.Fprintln(&b, r...)
		if r[0] == "table" {
			tables = append(tables, r[1].(string))
		}
	}
	for _, table := range tables {
		order := "rowid"
		if table == "sqlite_sequence" {
			order = "name"
		}
		fmt.Fprintln(&b, table)
		for _, r := range rowsOf(t, db, "select * from "+table+" order by "+order) {
			fmt.Fprintf(&b, "  %q\n", r)
		}
	}
	return b.String()
}

func rowsOf(t tester, db *sql.DB, query string) [][]any {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var list [][]any
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		list = append(list, values)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
