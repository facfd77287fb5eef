package table

import (
	"context"
	"errors"
	"fmt"
)

// ErrMoved is the cause of a Begin that failed because the store was changed
// after it was backed up.
var ErrMoved = errors.New("the database was changed after it was backed up")

// ErrReplaced is the cause of an error about a store whose path leads to another file
// than the one that was opened: what was read or written is not what the next program
// finds. Of a store that is where it was it is ErrBeside, when a file that belongs to it
// is another one, and ErrForeignLog, when that is its log.
var (
	ErrReplaced   = errors.New("the path leads to another file")
	ErrBeside     = fmt.Errorf("a file beside it is another one: %w", ErrReplaced)
	ErrForeignLog = fmt.Errorf("it is the log: %w", ErrBeside)
)

// Transaction is the part of changing a store that does not depend on what is in it. One
// at a time: everything between Begin and Commit is stored as a whole or not at all.
type Transaction interface {
	// Backup writes a copy of the store as it is now to a new file, complete
	// or not at all. Begin fails with ErrMoved if the store changes between
	// Backup and Begin. progress may be nil; it hears bytes.
	Backup(ctx context.Context, path string, progress func(done int64)) error
	// Begin locks the store for writing. It waits for another writer, for at
	// most two seconds.
	Begin(ctx context.Context) error
	// Journal is what Revert needs to take back what was written since Begin,
	// as JSON.
	Journal() ([]byte, error)
	// Trial does something within the transaction that is open and takes all of it back
	// again; its error is that of what was done. A store in which an undo of what was
	// just written cannot fail need not do it.
	Trial(ctx context.Context, do func() error) error
	// Commit fails with ErrReplaced, and rolls back, if the path of the store no longer
	// leads to it.
	Commit(ctx context.Context) error
	Rollback() error
	// Replaced is the problem with a store that its path no longer leads to
	// (ErrReplaced), nil while it does. It can be asked after Close.
	Replaced() error
	// Close ends the work; an open transaction is rolled back. If one was committed, it
	// fails with ErrReplaced where the path does not lead to the store at the end.
	// Closing again does nothing.
	Close() error
	// Left is a sentence about files of the adapter that stay beside a closed store,
	// "" when none does.
	Left() string
}

// Editor is a database opened for changing. After an error of a write the transaction can
// only be rolled back. It must not be used by several goroutines at once.
//
// Its errors are problems: Busy when another process holds the database or changes
// it meanwhile, Unreadable when it cannot be written, RolledBack when a row is not what it
// was said to be, or when something else of the database would change with it.
type Editor interface {
	Transaction
	Writer
	// Derived declares columns of a table that the database keeps by itself, with triggers:
	// counters, times of the last change. It may change them with any row, nobody writes
	// them, and Revert leaves them to it.
	Derived(ctx context.Context, table string, columns ...string) error
	// Revert takes back, in the transaction that is open, what a journal tells, if that is
	// about these tables only: it comes from a file, and must not reach anything that no
	// repair writes. A row that is no longer what the journal says it became is a problem of
	// class Busy, and then the transaction must be rolled back.
	Revert(ctx context.Context, journal []byte, tables ...string) error
}

// Writer changes rows.
type Writer interface {
	// Reader reads what there is.
	Reader() Reader
	// Insert adds a row. Columns without a field get their defaults.
	Insert(ctx context.Context, table string, row []Field) (Place, error)
	// Update changes columns of a row. Unless each of them holds exactly its old value,
	// nothing is changed.
	Update(ctx context.Context, table string, at Place, fields []FieldChange) error
	// Delete removes a row, which must exist. Rows that refer to it must be gone or refer
	// elsewhere before.
	Delete(ctx context.Context, table string, at Place) error
	// Numbers are so many numbers for a column, higher than all that were ever given out
	// as far as the database knows, and ascending.
	Numbers(ctx context.Context, table, column string, count int) ([]int64, error)
}

// Field is a value for a column.
type Field struct {
	Name  string
	Value any
}

// FieldChange is a new value for a column that holds the old one.
type FieldChange struct {
	Name     string
	Old, New any
}
