package store

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The causes of errors of an Editor: see package table.
var (
	ErrMoved      = table.ErrMoved
	ErrReplaced   = table.ErrReplaced
	ErrBeside     = table.ErrBeside
	ErrForeignLog = table.ErrForeignLog
	ErrElsewhere  = table.ErrElsewhere
	ErrUnknown    = table.ErrUnknown
)

// Change is what a repair makes of one tree: the tree as it is stored and as it
// is to be. Package change says as data what differs, an adapter writes that, and decides
// nothing.
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

// Editor is a store opened for changing.
//
// Its errors are problems: Busy when another process holds the store or changes
// it meanwhile, Unreadable when it cannot be written, RolledBack when a record
// is not what the Change says it was.
type Editor interface {
	table.Transaction
	// Backup writes a copy of the store as it is now to a new file, complete or not at all.
	// Begin fails with ErrMoved if the store changes between Backup and Begin. A store that
	// cannot be copied writes all that it has of these sessions. progress may be nil; it
	// hears bytes.
	Backup(ctx context.Context, path string, sessions []string, progress func(done int64)) error
	// Read reads these sessions, as the transaction sees them. They must be
	// whole trees; ids that do not exist are left out.
	Read(ctx context.Context, sessions []string) (Store, error)
	// Sums are stable digests of what is stored of sessions, by id. In a transaction nobody
	// else changes these sessions from here on.
	Sums(ctx context.Context, sessions []string) (map[string]Sum, error)
	// Write makes a change. New items get keys of their own.
	Write(ctx context.Context, change *Change) error
	// Revert takes back what a journal tells, in the transaction that is open.
	// A record that is no longer what the journal says it became is a problem
	// of class Busy, and then the transaction must be rolled back.
	Revert(ctx context.Context, journal []byte) error
}

// Piecemeal is an Editor that replaces files one after another when it commits. Where that
// was cut off, some sessions are as they were before and some as after, and Revert takes
// back those that changed.
type Piecemeal interface{ Piecemeal() }

// Alone is an Editor of one file that every commit replaces as a whole, and for which nobody
// waits: all trees share a transaction.
type Alone interface{ Alone() }

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
	// after a move. Where copies can differ in what nobody is sent, that is behind SumSays.
	Items map[string]string
}

// SumSays ends, in the digest of an item, that of what is sent of it.
const SumSays = "/"

// Summer is a store that can be held against what it was: see Sum. Every store
// that can be repaired is one. An error because a part of the store cannot be read is a
// problem of class Unreadable.
type Summer interface {
	Sums(ctx context.Context, sessions []string) (map[string]Sum, error)
}

// ErrReorder is Rehearse's error about a change that can be written, and that an undo takes
// back but for the order of records of one time, which nothing but their places tells.
var ErrReorder = errors.New("some of these events have the same time, and an undo could not bring back their order (--allow reorder)")

// Unwritable is an error about single items of a change, by their keys: why each of them
// cannot be written, or taken away.
type Unwritable map[string]error

func (u Unwritable) Error() string { return u.Unwrap().Error() }

// Unwrap gives the reason for one of the items, of which it is always the same.
func (u Unwritable) Unwrap() error { return u[slices.Min(slices.Collect(maps.Keys(u)))] }

// Rehearser is a Store that knows before anything is written whether its Editor can
// write a change. Nothing but a damaged file, or another writer, keeps it from that
// then.
type Rehearser interface {
	// Rehearse composes all that Editor.Write would write for a change of a tree of
	// the store, and writes nothing. Its error says what cannot be written, in a part
	// of a sentence for people; where that is told of single items, it is Unwritable.
	Rehearse(ctx context.Context, change *Change) error
}

// Relater is a store in which an item says something of others that they do not
// hold themselves: what a rewind annuls, which answer stands for a later one, which
// session belongs below which. Relate sets that anew in a tree of the store that was changed in memory, as it would be
// read if it were stored so.
type Relater interface {
	Relate(tree *session.Tree)
}
