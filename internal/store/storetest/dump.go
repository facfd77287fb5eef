package storetest

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Tester is a test, a benchmark or a case of a property.
type Tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Dump is everything that a SQLite file holds: the schema in its stored order, and
// all rows of all tables, sequences included, with their rowids and exact values.
func Dump(t Tester, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	all := queryTexts(t, db, "select type || ' ' || name || ' ' || coalesce(sql, '') from sqlite_schema")
	for _, table := range queryTexts(t, db, "select name from sqlite_schema where type = 'table'") {
		columns := queryTexts(t, db, "select name from pragma_table_info(?)", table)
		for i, name := range columns {
			columns[i] = exactText(sqlite.Quoted(name))
		}
		all = append(all, queryTexts(t, db, "select '"+table+" ' || rowid || ' ' || "+strings.Join(columns, " || ',' || ")+" from "+sqlite.Quoted(table)+" order by rowid")...)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

// exactText is a value in SQL, as a text. What quote says of a text ends at a zero byte.
func exactText(column string) string {
	return "quote(" + column + ") || case when instr(" + column + ", char(0)) then hex(" + column + ") else '' end"
}

// queryTexts runs a query of one text column.
func queryTexts(t Tester, db *sql.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var list []string
	for rows.Next() && err == nil {
		var text string
		err = rows.Scan(&text)
		list = append(list, text)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return list
}

// Query is what queries of one text column give, of a SQLite file.
func Query(t Tester, path string, queries ...string) (list []string) {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, query := range queries {
		list = append(list, queryTexts(t, db, query)...)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("%v", err)
	}
	return list
}

// Change runs statements on a SQLite file, as another program would.
func Change(t Tester, path string, statements ...string) {
	t.Helper()
	db, err := builder.Open(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, s := range statements {
		db.Exec(s)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("%v", err)
	}
}

// Source is a SQLite file to be changed.
func Source(path string) *store.Source {
	return &store.Source{Path: path, Edit: sqlite.Opener(path)}
}

// Snapshot is what a folder holds: name → size, mode, modification time and
// hash of every file. Reading a store must not change it.
func Snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sum := [sha256.Size]byte{}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		size := info.Size()
		if entry.IsDir() {
			size = 0 // of no meaning for a folder
		}
		files[path] = fmt.Sprintf("%s %d bytes, %s, %x", info.Mode(), size, info.ModTime().UTC(), sum[:8])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Copy copies a database with its neighbours into a folder.
func Copy(t *testing.T, path, folder string) string {
	t.Helper()
	for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
		copyFile(t, path+ending, filepath.Join(folder, filepath.Base(path)+ending), ending == "")
	}
	return filepath.Join(folder, filepath.Base(path))
}

func copyFile(t *testing.T, from, to string, needed bool) {
	t.Helper()
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
