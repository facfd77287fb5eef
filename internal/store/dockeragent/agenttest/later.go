package agenttest

import "fmt"

// Migrate records one more migration behind the last, as a newer docker agent would: its
// statements in order, then its record under the next number.
func (db *DB) Migrate(name string, statements ...string) {
	var last int
	db.scan([]any{&last}, "SELECT COALESCE(MAX(id), 0) FROM migrations")
	db.forget() // the schema changes under the prepared statements
	db.Batch(func() {
		for _, statement := range statements {
			db.exec(statement)
		}
		db.exec("INSERT INTO migrations (id, name, description, applied_at) VALUES (?, ?, ?, ?)",
			last+1, fmt.Sprintf("%03d_%s", last+1, name), "", stamp(db.now))
	})
	db.forget()
}

// Rebuild are the statements that give a table another definition and keep its rows, as
// SQLite has to do it for what no ALTER TABLE can change. The columns are those that the
// rows are copied from.
func Rebuild(table, columns, definition string) []string {
	return []string{
		"CREATE TABLE rebuilt " + definition,
		"INSERT INTO rebuilt (" + columns + ") SELECT " + columns + " FROM " + table,
		"DROP TABLE " + table,
		"ALTER TABLE rebuilt RENAME TO " + table,
	}
}
