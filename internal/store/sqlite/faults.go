package sqlite

import (
	"bytes"
	"context"
	"fmt"

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
	return db.File.Path + " is truncated, so the result covers only what is left of it"
}

// Damaged is the problem to report when no adapter knows the tables of this
// database: nil for a sound file, else that the file is damaged and how to
// recover it.
func (db *DB) Damaged() error {
	for _, f := range db.faults {
		if f.Kind == session.StoreDamaged {
			return problem.New(problem.Unreadable, recovery(db.File.Path),
				"%s is damaged, and what can be read of it is no session store: %s", db.File.Path, f.Detail)
		}
	}
	return nil
}

// fault is a defect of a part of the file, which every test names differently:
// findings are told apart by their place.
func fault(kind session.FaultKind, part, format string, args ...any) session.Fault {
	return session.Fault{
		Kind: kind, Item: -1, Ref: session.Ref{Table: "file", Key: part}, Detail: fmt.Sprintf(format, args...),
	}
}

// damaged reports that so many pages or commits are damaged or lost, 0 where they
// cannot be counted.
func (db *DB) damaged(part string, count int, format string, args ...any) {
	f := fault(session.StoreDamaged, part, format, args...)
	f.Count = count
	db.faults = append(db.faults, f)
}

// inspect runs the cheap tests. The read transaction is open.
func (db *DB) inspect(ctx context.Context) error {
	if db.access == shared {
		// The lock is newer than the first look. A copy is as old as it.
		if err := db.File.read(db.handle); err != nil {
			return err
		}
	}
	filePages := uint32(db.File.Size / int64(db.File.Header.PageSize))
	wal, err := db.inspectWAL(filePages)
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
		db.damaged("length", int(missing), "the file is truncated: %d of its %d pages (%s) are missing, with the messages that stood there",
			missing, want, bytesText(missing*pageSize))
	case filePages > want && wal.committed == 0:
		tail := make([]byte, pageSize)
		if _, err := db.handle.ReadAt(tail, int64(want)*pageSize); err != nil {
			return err
		}
		if !bytes.Equal(tail, make([]byte, pageSize)) { // else room that a file system extension reserved
			db.damaged("length", int(filePages-want), "the file is longer than its header says (%d instead of %d pages): it was copied while "+
				"a program used it, without its -wal; the newest messages are missing", filePages, want)
		}
	case rest != 0:
		db.damaged("length", 0, "the file does not end with a whole page: %d bytes are missing", pageSize-rest)
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
		db.faults = append(db.faults, fault(session.Housekeeping, "free",
			"%s of the %s in the file are free: close the runtime and write a compact copy with "+
				"`sqlite3 STORE \"VACUUM INTO 'compact.db'\"`", bytesText(free*size), bytesText(pages*size)))
	}
	if db.File.WAL > max(64<<20, db.File.Size) {
		db.faults = append(db.faults, fault(session.Housekeeping, "wal",
			"the -wal has grown to %s beside a database of %s: close the runtime, which folds it into the "+
				"database", bytesText(db.File.WAL), bytesText(db.File.Size)))
	}
	return nil
}
