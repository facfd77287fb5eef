package sqlite

import (
	"context"
	"database/sql"
	"io"
	"regexp"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/session"
)

// Deep runs the tests of SQLite that read the whole file: its structure and
// its foreign keys. Damage is a fault; an error is something else, such as the
// end of the context.
func (db *DB) Deep(ctx context.Context) ([]session.Fault, error) {
	if err := db.readAhead(ctx); err != nil {
		return nil, err
	}
	structure, err := db.quickCheck(ctx)
	if err != nil {
		return nil, db.Explain(err)
	}
	keys, err := db.foreignKeys(ctx)
	if err != nil {
		return nil, db.Explain(err)
	}
	return append(structure, keys...), nil
}

// readAhead brings the file into the cache in one sweep. The tests read in the
// order of the trees, which on a cold cache takes ten times as long. A file
// larger than half of the available memory would push its own start out again.
func (db *DB) readAhead(ctx context.Context) error {
	if db.access == copied || db.File.Size > availableMemory()/2 {
		return nil
	}
	buf := make([]byte, 1<<20)
	for at := int64(0); at < db.File.Size; at += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := db.handle.ReadAt(buf, at); err != nil && err != io.EOF {
			return cannotRead(db.File.Path, err)
		}
	}
	return nil
}

func (db *DB) quickCheck(ctx context.Context) ([]session.Fault, error) {
	var faults []session.Fault
	structures := db.structures(ctx)
	rows, err := db.Query(ctx, "pragma quick_check")
	if err == nil {
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return nil, err
			}
			faults = append(faults, structureFaults(text, structures)...)
		}
		err = rows.Err()
	}
	if IsCorrupt(err) {
		return append(faults, fault(session.StoreDamaged, "structure-end", "the test of the structure ended early: %s", err)), nil
	}
	return faults, err
}

// structureFaults makes faults of one row of quick_check, which may hold several
// lines. What is wrong is found at another place of the same structure after the next
// write, so that the structure names the fault.
func structureFaults(text string, structures map[string]string) []session.Fault {
	var faults []session.Fault
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line != "ok" && !strings.HasPrefix(line, "***") {
			faults = append(faults, fault(session.StoreDamaged, "structure-"+structureOf(line, structures), "%s", line))
		}
	}
	return faults
}

// structures are the names of tables and indexes by the number of their root page,
// as far as they can be read.
func (db *DB) structures(ctx context.Context) map[string]string {
	names := map[string]string{}
	rows, err := db.Query(ctx, "select rootpage, name from sqlite_schema where rootpage > 0")
	if err != nil {
		return names
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var root, name string
		if rows.Scan(&root, &name) == nil {
			names[root] = name
		}
	}
	return names
}

var (
	treeRoot = regexp.MustCompile(`^Tree (\d+) `)
	digits   = regexp.MustCompile(`\d+`)
)

// structureOf is the table or index that a line of quick_check is about, else the
// line without its numbers. The forms of lines are those of checkTreePage and
// sqlite3Pragma in SQLite 3.53.
func structureOf(line string, structures map[string]string) string {
	if _, index, found := strings.Cut(line, " index "); found {
		return index
	}
	if tree := treeRoot.FindStringSubmatch(line); tree != nil && structures[tree[1]] != "" {
		return structures[tree[1]]
	}
	return strings.Join(strings.Fields(digits.ReplaceAllString(line, "")), " ")
}

func (db *DB) foreignKeys(ctx context.Context) ([]session.Fault, error) {
	var faults []session.Fault
	rows, err := db.Query(ctx, "pragma foreign_key_check")
	if err == nil {
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var table, parent string
			var row sql.NullInt64 // null in tables without a rowid
			var key int
			if err := rows.Scan(&table, &row, &parent, &key); err != nil {
				return nil, err
			}
			f := fault(session.ForeignKey, "", "points to a row of %s that does not exist", parent)
			f.Ref = session.Ref{Table: table}
			if row.Valid {
				f.Ref.Key = strconv.FormatInt(row.Int64, 10)
			}
			faults = append(faults, f)
		}
		err = rows.Err()
	}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_CORRUPT:
		return append(faults, fault(session.StoreDamaged, "keys", "the test of the foreign keys ended early: %s", err)), nil
	case lib.SQLITE_ERROR: // a key that points to columns without a unique index
		return append(faults, fault(session.ForeignKey, "keys", "the foreign keys cannot be tested: %s", err)), nil
	}
	return faults, err
}
