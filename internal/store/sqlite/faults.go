package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/pattern"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// Faults are the defects of the file that cheap tests found while it was
// opened. SQLite itself reports none of them: it reads what it takes for the
// database and leaves the rest out.
func (db *DB) Faults() []session.Fault { return db.faults }

// Truncated is the reason why no reading of the file can be complete: pages
// behind its end; "" when all are there.
func (db *DB) Truncated() string {
	if !db.truncated {
		return ""
	}
	return db.File.Path + " is truncated: only what is left of it was read"
}

// Damaged is the problem to report when no adapter knows the tables of this
// database: nil for a sound file, else that the file is damaged and how to
// recover it.
func (db *DB) Damaged() error {
	for _, f := range db.faults {
		if f.Kind == session.StoreDamaged {
			return problem.New(problem.Unreadable, db.Recovery(),
				"%s is damaged, and what can be read of it is not a session store: %s", db.File.Path, f.Detail)
		}
	}
	return nil
}

// newFault is a defect of a part of the file, which every test names differently:
// findings are told apart by their place.
func newFault(kind session.FaultKind, part, format string, args ...any) session.Fault {
	return session.Fault{
		Kind: kind, Item: -1, Ref: session.Ref{Table: "file", Key: part}, Detail: fmt.Sprintf(format, args...),
	}
}

// addDamage reports that so many pages or commits are damaged or lost, 0 where they
// cannot be counted.
func (db *DB) addDamage(part string, count int, format string, args ...any) {
	f := newFault(session.StoreDamaged, part, format, args...)
	f.Count = count
	db.faults = append(db.faults, f)
}

// inspectFile runs the cheap tests. The read transaction is open.
func (db *DB) inspectFile(ctx context.Context) error {
	if db.access == shared {
		// The lock is newer than the first look. A copy is as old as it.
		if err := db.File.readHeader(db.handle); err != nil {
			return err
		}
	}
	filePages := uint32(db.File.Size / int64(db.File.Header.PageSize))
	wal, err := db.inspectWAL(filePages)
	db.log = wal
	if err != nil {
		return err
	}
	// A checkpoint of a live writer changes the length step by step.
	live := db.Writer.State == session.WriterLive && db.File.WAL >= 0
	if !live && !db.File.journalHot {
		if err := db.inspectLength(filePages, wal); err != nil {
			return err
		}
	}
	return db.inspectRoom(ctx)
}

// inspectLength compares the length of the file with the one that the header,
// or the last commit of the -wal, asks for.
func (db *DB) inspectLength(filePages uint32, wal walWalk) error {
	want, pageSize := db.File.Header.Pages, int64(db.File.Header.PageSize)
	if wal.committed > 0 {
		want = wal.pages
	}
	missing := int64(want) - int64(filePages) - int64(len(wal.beyond))
	rest := db.File.Size % pageSize
	switch {
	case want == 0:
	case missing > 0:
		db.truncated = true
		db.addDamage("length", int(missing), "the file is truncated: %d of its %d pages (%s) are missing, with their messages",
			missing, want, bytesText(missing*pageSize))
	case filePages > want && wal.committed == 0:
		tail := make([]byte, pageSize)
		if _, err := db.handle.ReadAt(tail, int64(want)*pageSize); err != nil {
			return err
		}
		if !bytes.Equal(tail, make([]byte, pageSize)) { // else room that a file system extension reserved
			db.addDamage("length", int(filePages-want), "the file is longer than its header says (%d instead of %d pages): it was copied while "+
				"a program used it, without its -wal; the newest messages are missing", filePages, want)
		}
	case rest != 0:
		db.addDamage("length", 0, "the last page of the file is incomplete: %d bytes are missing", pageSize-rest)
	}
	return nil
}

// inspectRoom reports space that the files keep without need.
func (db *DB) inspectRoom(ctx context.Context) error {
	var pages, free int64
	if err := db.QueryRow(ctx, "select page_count, freelist_count from pragma_page_count, pragma_freelist_count").Scan(&pages, &free); err != nil {
		return err
	}
	size := int64(db.File.Header.PageSize)
	if free*4 > pages && free*size > 1<<20 {
		db.faults = append(db.faults, newFault(session.Housekeeping, "free",
			"%s of the %s in the file are free: close the runtime and write a compact copy with "+
				"`sqlite3 STORE \"VACUUM INTO 'compact.db'\"`", bytesText(free*size), bytesText(pages*size)))
	}
	if db.File.WAL > max(64<<20, db.File.Size) {
		db.faults = append(db.faults, newFault(session.Housekeeping, "wal",
			"the -wal file has grown to %s, beside a database of %s: close the runtime, which writes it into the "+
				"database", bytesText(db.File.WAL), bytesText(db.File.Size)))
	}
	return nil
}

// FindDeepFaults runs the tests of SQLite that read the whole file: its structure, its
// indexes and its foreign keys. Damage is a fault; an error is something else, such as the
// end of the context.
func (db *DB) FindDeepFaults(ctx context.Context) ([]session.Fault, error) {
	if err := db.readAhead(ctx); err != nil {
		return nil, err
	}
	return db.runDeepTests(ctx)
}

// BeginDeep does what Deep does beside other reading, where a second connection certainly
// sees the same, else when result is called. That must be done before the DB is closed.
func (db *DB) BeginDeep(ctx context.Context) (result func() ([]session.Fault, error), err error) {
	second, ok, err := db.OpenSecond(ctx)
	if err != nil || !ok {
		return func() ([]session.Fault, error) { return db.FindDeepFaults(ctx) }, err
	}
	if err := db.readAhead(ctx); err != nil {
		return nil, errors.Join(err, second.Close())
	}
	var running sync.WaitGroup
	var faults []session.Fault
	var failed error
	running.Go(func() {
		faults, failed = second.runDeepTests(ctx)
		failed = errors.Join(failed, second.Close())
	})
	return func() ([]session.Fault, error) {
		running.Wait()
		return faults, failed
	}, nil
}

// runDeepTests are those of Deep.
func (db *DB) runDeepTests(ctx context.Context) ([]session.Fault, error) {
	structure, err := db.checkIntegrity(ctx)
	if err != nil {
		return nil, db.Explain(err)
	}
	keys, err := db.foreignKeys(ctx)
	if err != nil {
		return nil, db.Explain(err)
	}
	faults := append(structure, keys...)
	for i := range faults {
		faults[i].Deep = true
	}
	return faults, nil
}

// readAhead brings the file into the cache in one sweep. The tests read in the
// order of the trees, which on a cold cache takes ten times as long. A file
// larger than half of the available memory would push its own start out again.
func (db *DB) readAhead(ctx context.Context) error {
	if db.access == copied || db.File.Size > availableMemory()/2 {
		return nil
	}
	buf := make([]byte, min(db.File.Size, 1<<20))
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

// maxLines bounds the lines of a test of the structure. Those that are about rows alone
// count, too.
const maxLines = 100_000

// checkIntegrity runs SQLite's test of all pages, and of the indexes beside their tables.
func (db *DB) checkIntegrity(ctx context.Context) ([]session.Fault, error) {
	found := structureFaults{structures: db.structuresByRoot(ctx)}
	rows, err := db.Query(ctx, "pragma integrity_check("+strconv.Itoa(maxLines)+")")
	if err == nil {
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return nil, err
			}
			for line := range strings.Lines(text) {
				found.addLine(strings.TrimSpace(line))
			}
		}
		err = rows.Err()
	}
	faults := found.listFaults()
	if IsCorrupt(err) {
		return append(faults, newFault(session.StoreDamaged, "structure-end", "the check of the structure ended early: %s", err)), nil
	}
	return faults, err
}

// structure is a table or an index.
type structure struct {
	name         string
	table, index bool // neither: a line about something else
}

// structureFaults makes one fault of all lines of integrity_check about one table or index.
// What is wrong is found at another place of it after the next write, so that the structure
// names the fault.
type structureFaults struct {
	structures map[string]structure // by the number of the root page
	order      []string
	faults     map[string]*session.Fault
}

func (s *structureFaults) addLine(line string) {
	if line == "" || line == "ok" || strings.HasPrefix(line, "***") {
		return
	}
	of := s.structureOf(line)
	key := "structure-" + of.name
	f, known := s.faults[key]
	if !known {
		f = new(s.lineFault(key, of, line))
		if s.faults == nil {
			s.faults = map[string]*session.Fault{}
		}
		s.faults[key], s.order = f, append(s.order, key)
	}
	f.Count++
}

// aboutRow are lines that say what a row holds: SQLite stored it, and can read it.
var aboutRow = pattern.Lazy(`^(\S+ value in|CHECK constraint failed in) `)

func (s *structureFaults) lineFault(key string, of structure, line string) session.Fault {
	switch {
	case aboutRow().MatchString(line):
		return newFault(session.Housekeeping, key, "some rows do not match the definition of their table: %s", line)
	case of.index:
		return indexFault(of.name, line)
	}
	if of.table {
		return newFault(session.StoreDamaged, key, "the pages of %s are damaged: %s", of.name, line)
	}
	return newFault(session.StoreDamaged, key, "the structure of the file is damaged: %s", line)
}

// indexFault tells of an index that does not match its table.
func indexFault(name, detail string) session.Fault {
	f := newFault(session.StoreDamaged, "structure-"+name, "the index %s does not match its table (%s): programs that use it miss rows (sessctl reads without it)",
		name, detail)
	f.Remedy = "if nothing else is damaged, rebuild the index in a copy: copy the file with its -wal to another folder; sqlite3 COPY \"REINDEX\"; " +
		"then sessctl check --deep COPY"
	return f
}

func (s *structureFaults) listFaults() []session.Fault {
	var list []session.Fault
	for _, key := range s.order {
		f := *s.faults[key]
		switch {
		case f.Count == 2:
			f.Detail += ", and 1 more line of integrity_check"
		case f.Count > 2:
			f.Detail += fmt.Sprintf(", and %d more lines of integrity_check", f.Count-1)
		}
		list = append(list, f)
	}
	return list
}

// structuresByRoot are the tables and indexes by the number of their root page, as far as
// they can be read.
func (db *DB) structuresByRoot(ctx context.Context) map[string]structure {
	found := map[string]structure{}
	rows, err := db.Query(ctx, "select rootpage, name, type = 'table', type = 'index' from sqlite_schema where rootpage > 0")
	if err != nil {
		return found
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var root string
		var s structure
		if rows.Scan(&root, &s.name, &s.table, &s.index) == nil {
			found[root] = s
		}
	}
	return found
}

var (
	treeRoot = pattern.Lazy(`^Tree (\d+) `)
	digits   = pattern.Lazy(`\d+`)
)

// structureOf is the table or index that a line of integrity_check is about, else one that
// is called as the line without its numbers. The forms of lines are those of checkTreePage
// and sqlite3Pragma in SQLite 3.53.
func (s *structureFaults) structureOf(line string) structure {
	if _, index, found := strings.Cut(line, " index "); found {
		return structure{name: index, index: true}
	}
	if tree := treeRoot().FindStringSubmatch(line); tree != nil && s.structures[tree[1]].name != "" {
		return s.structures[tree[1]]
	}
	return structure{name: strings.Join(strings.Fields(digits().ReplaceAllString(line, "")), " ")}
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
			f := newFault(session.ForeignKey, "", "points to a row of %s that does not exist", parent)
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
		return append(faults, newFault(session.StoreDamaged, "keys", "the check of the foreign keys ended early: %s", err)), nil
	case lib.SQLITE_ERROR: // a key that points to columns without a unique index
		return append(faults, newFault(session.ForeignKey, "keys", "the foreign keys cannot be checked: %s", err)), nil
	}
	return faults, err
}
