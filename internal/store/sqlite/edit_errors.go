package sqlite

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/table"
)

func moved(path string) error {
	return &problem.Error{
		Class: problem.Busy,
		What:  path + " changed after it was backed up: another process wrote to it",
		Next:  "close the program that uses it and try again; nothing was changed",
		Err:   table.ErrMoved,
	}
}

// held is the problem with a database that another process has open.
func held(path string, w Writer) error {
	who := w.Name
	if who == "" {
		who = "another process"
	}
	return problem.New(problem.Busy, "close "+who+" and try again; nothing was changed",
		"%s is in use by %s", path, who)
}

// inCopy is what to do about a database that cannot be changed where it is.
func inCopy(path string) string {
	return "repair a copy: sessctl repair " + shell.Path(path) + " --output COPY"
}

// afterRefusal is what to do when changes cannot be taken back.
const afterRefusal = "nothing was changed; restore the backup if what came since may be lost"

func notWritable(path, part string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return full(path, filepath.Dir(path), err)
	}
	return &problem.Error{
		Class: problem.Unreadable,
		What:  path + " cannot be changed: " + part + " is not writable (" + problem.Reason(err) + ")",
		Next:  inCopy(path),
		Err:   err,
	}
}

func full(path, folder string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: path + " was not changed: the disk is full",
		Next: "make room in " + folder + " and try again",
	}
}

// addedRules is what to do about a database with rules of its own.
const addedRules = "somebody added a trigger, a foreign key or another rule to it: take that away for the time of the repair"

// explain turns an error of a write into a problem for people. Nothing that
// the transaction did remains after any of them.
func (e *Edit) explain(err error) error {
	if err == nil || problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	path, p := e.db.File.Path, &problem.Error{Class: problem.Unreadable, Err: err}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_INTERRUPT: // only the end of a context interrupts
		return context.Canceled
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return busy(path, e.probe(), err)
	case lib.SQLITE_FULL:
		if table := e.exhausted(); table != "" {
			p.Class, p.Next = problem.RolledBack, "give that row a smaller number in a copy, and repair the copy"
			p.What = path + " was not changed: a row of " + table + " has the largest number that there is, so none can be added"
			return p
		}
		return full(path, filepath.Dir(e.db.File.real), err)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR:
		if moved := e.Replaced(); moved != nil {
			return moved
		}
		p.What = path + " was not changed: it cannot be written (" + err.Error() + ")"
		p.Next = "check the disk and the permissions of the file and its folder; or " + inCopy(path)
	case lib.SQLITE_CONSTRAINT:
		p.Class, p.Next = problem.RolledBack, addedRules
		p.What = path + " was not changed: the database refuses the change (" + err.Error() + ")"
	default:
		return e.db.Explain(err)
	}
	return p
}

// exhausted is a table that counts its rows (AUTOINCREMENT) and has come to the last number,
// which SQLite tells as it tells of a full disk; "" when there is none.
func (e *Edit) exhausted() string {
	ctx := context.Background() // of the write that failed nothing is known but its error
	rows, err := e.db.Query(ctx, "select name from sqlite_sequence")
	if err != nil {
		return ""
	}
	var tables []string
	for rows.Next() {
		var name string
		if rows.Scan(&name) == nil {
			tables = append(tables, name)
		}
	}
	if errors.Join(rows.Err(), rows.Close()) != nil {
		return ""
	}
	for _, table := range tables {
		var last int64
		if e.db.QueryRow(ctx, "select max(rowid) from "+Quoted(table)).Scan(&last) == nil && last == math.MaxInt64 {
			return table
		}
	}
	return ""
}

func isConstraint(err error) bool { return codeOf(err)&0xff == lib.SQLITE_CONSTRAINT }
