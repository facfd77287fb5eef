// Package builder is what the packages share that build stores of one kind for tests
// (adk/adktest and its neighbours): SQL that stands in files, rows, ids, and JSON as
// other languages write it. Nothing here reads the clock or the system's randomness,
// so that the same calls give the same store.
package builder

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	_ "modernc.org/sqlite"
)

// Section is a part of a file of SQL. It begins with a line "--- NAME ABOUT", and each of
// its statements ends with a semicolon at the end of a line.
type Section struct {
	Name, About string
	Statements  []string
}

var comment = regexp.MustCompile(`(?m)^-- .*\n`)

// ParseSections parses the parts of a file, which begins with a comment.
func ParseSections(text string) []Section {
	var list []Section
	for _, part := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n--- ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		var s Section
		s.Name, s.About, _ = strings.Cut(head, " ")
		for statement := range strings.SplitSeq(comment.ReplaceAllString(body, ""), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				s.Statements = append(s.Statements, statement)
			}
		}
		list = append(list, s)
	}
	return list
}

// StatementsOf are those of the sections of these names, one section after the other. All
// of them must be there.
func StatementsOf(sections []Section, names ...string) []string {
	var list []string
	for _, name := range names {
		found := false
		for _, s := range sections {
			if s.Name == name {
				found, list = true, append(list, s.Statements...)
			}
		}
		if !found {
			panic("no section " + name)
		}
	}
	return list
}

// UUID draws a random UUID of version 4.
func UUID(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}

// Interleave mixes lists, as what happens at once, and keeps the order of each.
func Interleave[T any](rng *rand.Rand, lists [][]T) (all []T) {
	for {
		lists = slices.DeleteFunc(lists, func(list []T) bool { return len(list) == 0 })
		if len(lists) == 0 {
			return all
		}
		n := rng.IntN(len(lists))
		all, lists[n] = append(all, lists[n][0]), lists[n][1:]
	}
}

// OrNil is a value as a column has it that is NULL for nothing.
func OrNil[T comparable](value T) any {
	var nothing T
	if value == nothing {
		return nil
	}
	return value
}

// DB is a SQLite file under construction.
//
// Its methods keep the first error and do nothing after it; Close returns it.
// A DB is for one goroutine.
type DB struct {
	// SQL is for what the methods have no words for. It has one connection, so
	// rows must be closed before the next statement.
	SQL *sql.DB

	statements map[string]*sql.Stmt
	batching   bool
	err        error
}

// Open opens a file as these pragmas say, except that nothing is synced to disk: stores
// for tests need not survive a power failure.
func Open(path string, pragmas ...string) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	slash := filepath.ToSlash(abs)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	query := url.Values{"_pragma": append([]string{"synchronous(OFF)", "busy_timeout(5000)"}, pragmas...)}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slash, RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &DB{SQL: db, statements: map[string]*sql.Stmt{}}, nil
}

// Create makes a file with a schema, and lets write fill it in the same transaction.
func Create(path string, schema []string, write func(*DB)) error {
	db, err := Open(path, "foreign_keys(1)")
	if err != nil {
		return err
	}
	db.Batch(func() {
		for _, statement := range schema {
			db.Exec(statement)
		}
		write(db)
	})
	return db.Close()
}

// Insert writes a row of a table; columns that it does not name are as the table has them.
func (db *DB) Insert(table string, row Object) {
	columns, values := make([]string, len(row)), make([]any, len(row))
	for i, m := range row {
		columns[i], values[i] = m[0].(string), m[1]
	}
	db.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ", "), strings.Repeat(", ?", len(row)-1)), values...)
}

// Batch runs write in one transaction; many rows cost much less that way. A
// batch inside a batch is part of it.
func (db *DB) Batch(write func()) {
	if db.batching {
		write()
		return
	}
	db.Exec("BEGIN")
	db.batching = true
	write()
	db.batching = false
	if db.err != nil {
		_, _ = db.SQL.Exec("ROLLBACK") // the first error is the one that counts
		return
	}
	db.Exec("COMMIT")
}

// Exec runs a statement and returns the row id that it inserted.
func (db *DB) Exec(query string, args ...any) int64 {
	result := db.runStatement(query, args...)
	if result == nil {
		return 0
	}
	id, err := result.LastInsertId()
	db.Fail(err)
	return id
}

// ChangeRow runs a statement that must change a row.
func (db *DB) ChangeRow(query string, args ...any) {
	result := db.runStatement(query, args...)
	if result == nil {
		return
	}
	n, err := result.RowsAffected()
	db.Fail(err)
	if n == 0 {
		db.Fail(fmt.Errorf("no row to change: %s with %v", query, args))
	}
}

func (db *DB) runStatement(query string, args ...any) sql.Result {
	if db.err != nil {
		return nil
	}
	statement := db.statements[query]
	if statement == nil {
		var err error
		if statement, err = db.SQL.Prepare(query); err != nil {
			db.Fail(fmt.Errorf("%s: %w", query, err))
			return nil
		}
		db.statements[query] = statement
	}
	result, err := statement.Exec(args...)
	if err != nil {
		db.Fail(fmt.Errorf("%s: %w", query, err))
		return nil
	}
	return result
}

// Scan reads the first row of a query into dest; it fails when there is none.
func (db *DB) Scan(dest []any, query string, args ...any) {
	if db.err == nil {
		if err := db.SQL.QueryRow(query, args...).Scan(dest...); err != nil {
			db.Fail(fmt.Errorf("%s: %w", query, err))
		}
	}
}

// QueryRows are the rows of a query, each read into the columns of a value.
func QueryRows[T any](db *DB, columns func(*T) []any, query string, args ...any) (list []T) {
	if db.err != nil {
		return nil
	}
	rows, err := db.SQL.Query(query, args...)
	if err != nil {
		db.Fail(fmt.Errorf("%s: %w", query, err))
		return nil
	}
	for rows.Next() {
		var value T
		db.Fail(rows.Scan(columns(&value)...))
		list = append(list, value)
	}
	db.Fail(errors.Join(rows.Err(), rows.Close()))
	return list
}

// CloseStatements closes the prepared statements, before the schema changes under them.
func (db *DB) CloseStatements() {
	for _, statement := range db.statements {
		db.Fail(statement.Close())
	}
	clear(db.statements)
}

// Fail keeps an error, if it is the first one.
func (db *DB) Fail(err error) { db.err = cmp.Or(db.err, err) }

// Err returns the first error.
func (db *DB) Err() error { return db.err }

// Recover returns the first error and goes on without it: its transaction was rolled back.
func (db *DB) Recover() error {
	err := db.err
	db.err = nil
	return err
}

// Close closes the file and returns the first error.
func (db *DB) Close() error {
	db.CloseStatements()
	return errors.Join(db.err, db.SQL.Close())
}
