package agenttest

import (
	"database/sql"
	"fmt"
)

// Batch runs write in one transaction; many items cost much less that way. A
// batch inside a batch is part of it.
func (db *DB) Batch(write func()) {
	if db.batching {
		write()
		return
	}
	db.exec("BEGIN")
	db.batching = true
	write()
	db.batching = false
	if db.err != nil {
		_, _ = db.SQL.Exec("ROLLBACK") // the first error is the one that counts
		return
	}
	db.exec("COMMIT")
}

// exec runs a statement and returns the row id that it inserted.
func (db *DB) exec(query string, args ...any) int64 {
	result := db.run(query, args...)
	if result == nil {
		return 0
	}
	id, err := result.LastInsertId()
	db.fail(err)
	return id
}

// change runs a statement that must change a row.
func (db *DB) change(query string, args ...any) {
	result := db.run(query, args...)
	if result == nil {
		return
	}
	n, err := result.RowsAffected()
	db.fail(err)
	if n == 0 {
		db.fail(fmt.Errorf("no row to change: %s with %v", query, args))
	}
}

func (db *DB) run(query string, args ...any) sql.Result {
	if db.err != nil {
		return nil
	}
	statement := db.statements[query]
	if statement == nil {
		var err error
		if statement, err = db.SQL.Prepare(query); err != nil {
			db.fail(fmt.Errorf("%s: %w", query, err))
			return nil
		}
		db.statements[query] = statement
	}
	result, err := statement.Exec(args...)
	if err != nil {
		db.fail(fmt.Errorf("%s: %w", query, err))
		return nil
	}
	return result
}

// forget closes the prepared statements.
func (db *DB) forget() {
	for _, statement := range db.statements {
		db.fail(statement.Close())
	}
	clear(db.statements)
}

func (db *DB) fail(err error) {
	if db.err == nil {
		db.err = err
	}
}

// scan reads the first row of a query into dest; it fails when there is none.
func (db *DB) scan(dest []any, query string, args ...any) {
	if db.err == nil {
		if err := db.SQL.QueryRow(query, args...).Scan(dest...); err != nil {
			db.fail(fmt.Errorf("%s: %w", query, err))
		}
	}
}
