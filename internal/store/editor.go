package store

import (
	"context"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// ErrMoved is the cause of a Begin that failed because the store was changed
// after it was backed up.
var ErrMoved = sqlite.ErrMoved

// ErrReplaced is the cause of an error about a store whose path leads to another file
// than the one that was opened. Of a store that is where it was it is ErrBeside, when a
// file that belongs to it is another one, and ErrForeignLog, when that is its log.
var (
	ErrReplaced   = sqlite.ErrReplaced
	ErrBeside     = sqlite.ErrBeside
	ErrForeignLog = sqlite.ErrForeignLog
)

// Change is what a repair makes of one tree: the tree as it is stored and as it
// is to be. An adapter finds the difference and writes it; it decides nothing.
//
// Items keep their Table and Key wherever they go. An item of After with an
// empty Table is new; its body is complete. Items may change their session,
// Position, Agent, Branch and KeptFrom, whether they are Archived, the ids of their
// calls, results and blocks, the arguments of their calls, and their text, which
// becomes empty; a result that leaves an item is a tool item of its own; where a
// fault BadUnicode is gone, the record becomes Unicode. Results may change the Child
// that they name, wherever a record says so. Runs may go to another session, whole.
// Sessions may change their Parent and the Index of their IndexRefs. Everything else is the same in both, or
// in Sets.
type Change struct {
	Before *session.Tree
	After  *session.Tree // with the created sessions, whose items are all new or moved there
	Sets   []session.Edit
	// Split are the sessions of After that were split from another one, which says
	// whose they are: by id, the id of that one.
	Split map[string]string
}

// Editor is a store opened for changing. One transaction at a time: everything
// between Begin and Commit is stored as a whole or not at all.
//
// Its errors are problems: Busy when another process holds the store or changes
// it meanwhile, Unreadable when it cannot be written, RolledBack when a record
// is not what the Change says it was.
type Editor interface {
	// Backup writes a copy of the store as it is now to a new file, complete
	// or not at all. Begin fails with ErrMoved if the store changes between
	// Backup and Begin. progress may be nil; it hears bytes.
	Backup(ctx context.Context, path string, progress func(done int64)) error
	// Begin locks the store for writing. It waits for another writer, for at
	// most two seconds.
	Begin(ctx context.Context) error
	// Read reads these sessions, as the transaction sees them. They must be
	// whole trees; ids that do not exist are left out.
	Read(ctx context.Context, sessions []string) (Store, error)
	// Sums are stable digests of what is stored of sessions, by id.
	Sums(ctx context.Context, sessions []string) (map[string]Sum, error)
	// Write makes a change. New items get keys of their own.
	Write(ctx context.Context, change *Change) error
	// Journal is what Revert needs to take back what was written since Begin,
	// as JSON.
	Journal() ([]byte, error)
	// Revert takes back what a journal tells, in the transaction that is open.
	// A record that is no longer what the journal says it became is a problem
	// of class Busy, and then the transaction must be rolled back.
	Revert(ctx context.Context, journal []byte) error
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

// Sum is a stable digest of one session as it is stored.
type Sum struct {
	// Record covers the session's own record and all of its items: equal
	// when nothing of them changed. "" when there is no such session, or when no
	// statement finds all of it by its id: such a one cannot be changed.
	Record string
	// Exact covers Record and besides what a repair of another tree may change: of
	// what an Editor reads, every column of every record that it may write. An
	// undo goes by it. "" when there is no such session, or it was not an Editor that read.
	Exact string
	// Own covers the session's own record alone.
	Own string
	// Items covers what each item says, by key, wherever it stands: the same
	// after a move.
	Items map[string]string
}
