package agenttest

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// create makes a database in a folder of the test.
func create(t *testing.T, generation int, options ...Option) *DB {
	t.Helper()
	db, err := Create(filepath.Join(t.TempDir(), "session.db"), generation, options...)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// closed closes a database that is built.
func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// copyDB copies a database with its write-ahead log into a folder of the test.
func copyDB(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// reopen opens a database file for reading.
func reopen(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func shapeOf(t *testing.T, path string) string {
	t.Helper()
	shape, err := Shape(reopen(t, path))
	if err != nil {
		t.Fatal(err)
	}
	// Upstream goes on about the tools after this sentence.
	return regexp.MustCompile(`(handed off the conversation to you\.)[^"]*"`).ReplaceAllString(shape, `$1"`)
}

// rowOrder lists the items in the order of their row ids.
func rowOrder(t *testing.T, path string) string {
	t.Helper()
	return query(t, reopen(t, path), "SELECT item_type, position, agent_name, (SELECT title FROM sessions WHERE id = session_id) FROM session_items ORDER BY id")
}

// dump writes the schema and all rows of a database, with numbers for the ids
// of sessions, T for times, and without the prose that is upstream's own.
func dump(t *testing.T, path string) string {
	t.Helper()
	text := rawDump(t, path)
	for pattern, with := range map[string]string{
		`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)`:        "T",
		`"description":"(?:[^"\\]|\\.)*"`:                        `"description":""`,
		`(handed off the conversation to you\.)(?:[^"\\]|\\.)*"`: `$1"`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	names := map[string]string{}
	return regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("S%d", len(names)+1)
		}
		return names[id]
	})
}

// rawDump writes the schema and all rows of a database.
func rawDump(t *testing.T, path string) string {
	t.Helper()
	db := reopen(t, path)
	text := query(t, db, "PRAGMA journal_mode") + query(t, db, "SELECT sql FROM sqlite_master ORDER BY rowid") +
		query(t, db, "SELECT * FROM migrations ORDER BY id") + query(t, db, "SELECT * FROM sessions ORDER BY rowid")
	if strings.Contains(text, "session_items") {
		text += query(t, db, "SELECT * FROM session_items ORDER BY id") + query(t, db, "SELECT * FROM sqlite_sequence")
	}
	return text
}

// query prints the rows of a query, one a line.
func query(t *testing.T, db *sql.DB, statement string, args ...any) string {
	t.Helper()
	rows, err := db.Query(statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			if raw, ok := v.([]byte); ok {
				v = string(raw)
			}
			fmt.Fprintf(&b, "%v|", v)
		}
		b.WriteByte('\n')
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
