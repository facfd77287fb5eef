// Package builder is what the packages share that build stores of one kind for tests
// (adk/adktest and its neighbours): SQL that stands in files, rows, ids, and JSON as
// other languages write it. Nothing here reads the clock or the system's randomness,
// so that the same calls give the same store.
package builder

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
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

// Sections are the parts of a file, which begins with a comment.
func Sections(text string) []Section {
	var list []Section
	for _, part := range strings.Split(text, "\n--- ")[1:] {
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

// Statements are those of the sections of these names, one section after the other. All
// of them must be there.
func Statements(sections []Section, names ...string) []string {
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

// Create makes a SQLite file: it runs the statements, and then what writes the rows, in
// one transaction.
func Create(path string, statements []string, write func(*sql.Tx) error) error {
	query := url.Values{"_pragma": {"foreign_keys(1)", "synchronous(off)"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	tx, err := db.Begin()
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if err = Run(tx, statements); err == nil {
		err = write(tx)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback(), db.Close())
	}
	return errors.Join(tx.Commit(), db.Close())
}

// Run runs statements.
func Run(tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.Exec(statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// Insert writes a row of a table; columns that it does not name are as the table has them.
func Insert(tx *sql.Tx, table string, row Object) error {
	columns, values := make([]string, len(row)), make([]any, len(row))
	for i, m := range row {
		columns[i], values[i] = m[0].(string), m[1]
	}
	_, err := tx.Exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", table, strings.Join(columns, ", "), strings.Repeat(", ?", len(row)-1)), values...)
	return err
}

// UUID draws a random UUID of version 4.
func UUID(rng *rand.Rand) string {
	a, b := rng.Uint64(), rng.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x", a>>32, a>>16&0xffff, a&0xfff, 0x8000|b>>48&0x3fff, b&0xffffffffffff)
}
