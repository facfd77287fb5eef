package check_test

import (
	"database/sql"
	"errors"
	"net/url"
	"testing"

	_ "modernc.org/sqlite" // the driver that docker agent uses
)

// rowsOf maps "session.item" to the row of the item table.
func rowsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}).String())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query("SELECT id, session_id FROM session_items ORDER BY session_id, position, id")
	if err != nil {
		t.Fatal(err)
	}
	found, next := map[string]string{}, map[string]int{}
	for rows.Next() {
		var id, session string
		if err := rows.Scan(&id, &session); err != nil {
			t.Fatal(err)
		}
		found[place(session, next[session])] = id
		next[session]++
	}
	if err := errors.Join(rows.Err(), rows.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return found
}
