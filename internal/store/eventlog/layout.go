// Package eventlog is what adapters share whose database has one table of
// sessions and one of events: reading in bounded memory, digests, and a repair in
// place. Sessions that events name are read with theirs, as one tree.
//
// A first pass over the events keeps their row, owner and place, some 24 bytes
// each; a tree is read whole when its turn comes, by the places of its rows, so that memory
// follows the number of events and the one tree that is looked at.
package eventlog

import (
	"bytes"
	"context"
	"slices"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Layout is how one store is laid out and what its rows mean. It is a value that
// an adapter makes of the columns that it finds; its functions may be called
// from several goroutines at once, for different rows.
type Layout struct {
	Sessions Table
	Events   Table

	// Known are the columns of the tables, nil where nobody asks what else there is. Later is
	// what an adapter found besides of what it does not know, and Odd where that is: by
	// default somewhere in the events.
	Known []Known
	Later store.Later
	Odd   session.Ref

	// Place are the columns of Events that say where an event stands in its
	// session, and Order makes of their values the place: events are ordered by
	// At, then by Tie. At is what session.Item.Position becomes, and Tie is for
	// events of one place what the store's own reader orders them by (the place of the
	// row, its negative, or 0 where only chance does). Of a damaged row a value may be nil.
	Place []string
	Order func(row table.Place, place Row) (at, tie int64)
	// Timed: At is a time, in microseconds, but for 0 and less and the greatest number, which
	// stand for times that cannot be read. That of the item may differ by a zone.
	Timed bool

	// Session makes a session of its row, without items. Its ID is the last column of
	// Sessions.Key; the package makes it unique where several sessions share it, and sets
	// the Parent.
	Session func(row Row) *session.Session

	// Item decodes an event into an empty item that has its Key and Position already, and a
	// Shared of its own with the Table; it is not called for a row that a damaged page hides. With body, it
	// also sets Body (never nil then), the arguments of calls and the texts of results, which
	// are dropped else; nothing else differs. Where a fault BadUnicode tells of a text,
	// that text has the bytes that are none: only so a repair that mends it differs.
	// Faults have neither Item nor Ref.Session, Ref.Table and Ref.Key: the package
	// adds them.
	Item func(row Row, it *session.Item, body bool) []session.Fault

	// Verbatim reports of a value of an event whether each text that Item makes of it stands in it in one
	// piece, but for what JSON escapes; else it can hold any word. nil where no value does, or
	// a text comes from elsewhere.
	Verbatim func(value []byte) bool

	// Gather sets what only other sessions of the tree tell of an item, before Finish sees
	// them, and with Regathers before Relate does. May be nil.
	Gather    func(tree *session.Tree)
	Regathers bool

	// Finish looks at a session when all its items are there, in their order, and
	// sets what only the others tell of an item: flags, which results are pending,
	// what a summary keeps. It sees the same with and without bodies. May be nil.
	Finish func(s *session.Session)

	// Relate sets what Finish set of items anew in a session that a repair changed in
	// memory. Results may be shared with the session before, and are left as they are
	// there. May be nil where the order of items, and which there are, decides nothing.
	Relate func(s *session.Session)

	// Said are the columns of Events that belong to what an event says; all others
	// say where and when it stands. Content, where it is not nil, is called with the
	// value of each of them and gives back what counts of it: a document without the
	// copy of a time that a change of the place changes too.
	Said    []string
	Content func(column string, value any) any

	// Links are the sessions that an event says its own session started, by their ids in
	// the last column of the key: the other columns are those of its own session. It is
	// called in the first pass, with the columns of LinkColumns besides; of a damaged row
	// a value may be nil. Sessions that links connect are one tree. nil where sessions
	// know nothing of each other.
	//
	// Item gives Result.Child, Delegation.Child and Question.Child such ids, none that
	// Links leaves out; the package makes of them the ids under which it yields the
	// sessions, before Finish. An id that the owner has no session of stays, unless another owner's
	// session is called so: then it becomes all of the key, "user/id".
	Links       func(row Row) []string
	LinkColumns []string
	// OneID: an event's id tells it from the events of all sessions, so that it may move
	// to another one: then it gets that one's key before Write.Update is called, which it
	// is for every event that moves.
	OneID bool
	// Triggers are the names of those that the runtime makes in its database. A repair
	// says of all others that they are there.
	Triggers []string
	// Prepare reads what else has to be known of a store before its sessions are, each
	// time before these are read. Where of is not nil, sessions with these keys are, and
	// what was read of others holds. May be nil.
	Prepare func(ctx context.Context, db table.Reader, of [][]table.Value) error
	// OtherTables is what is stored of a session in other tables, by the values of
	// Sessions.Key, as bytes that are the same as long as nothing of it changes. It is
	// called after Prepare, and belongs to store.Sum.Record. May be nil.
	OtherTables func(key []table.Value) []byte

	Write Write
}

// Table names a table and its columns, as they are stored.
type Table struct {
	Name    string
	Columns []string // those that exist, in the order of the table
	// Key are the columns that tell one row of Sessions from another, the session's
	// own id last; of Events the same values, in the same order.
	Key []string
	ID  string // of Events: the column with the event's id
	// Parent is, of Sessions, the column with the id of the session that started this one,
	// "" where none is recorded: sessions that parents connect are one tree, as those that
	// Links does. The package reads it and writes it; the id means what one of Links means.
	Parent string
	// Derived are columns that the database keeps by itself, with triggers: counters, times
	// of the last change. No digest has them; an undo gives them back.
	Derived []string
	// Count is, of Sessions, one of these that counts the events, "" where none does. It is
	// set right before events of a session change, and the triggers count on: an event that
	// moves to another session goes and comes again, with its number where that is in order.
	Count string
}

// Row is a row between reading and decoding. Its values die when the function
// that got it returns: strings and bytes that are kept have to be cloned.
type Row struct {
	Place  table.Place
	names  *jsonscan.Names[int]
	values []table.Value
}

// Value is the value of a column: nil, int64, float64, string or []byte. nil for
// a column that was not read.
func (r Row) Value(column string) any {
	if i := jsonscan.FindName(r.names, column); i != nil {
		return r.values[*i]
	}
	return nil
}

// Record is the whole row, as a receipt keeps it: JSON, in the form that exactly tells it.
func (r Row) Record(columns []string) []byte {
	var buf [1 << 10]byte
	text, _ := table.AppendImage(buf[:0], slices.Sorted(slices.Values(columns)), r.Value) // never fails on values of rows
	return bytes.Clone(text)
}

// HasColumn reports whether the column was read. Order gets those of Key and Place and
// the id, all others get the whole row.
func (r Row) HasColumn(column string) bool { return jsonscan.FindName(r.names, column) != nil }

// Write is how an adapter changes rows. All are called within a transaction, with
// rows as they are stored then.
type Write struct {
	// Insert makes the row of a new item of the session, the result of one call, or with
	// Batches of several. What it has in common with its neighbours comes from the row of the
	// event before it, or behind it at the start of a session. The id that it gets is id:
	// that and the key of the session are added to what it gives, and columns that the table
	// does not have are left out.
	Insert  func(s *session.Session, it *session.Item, near *docedit.Row, id string) ([]table.Field, error)
	Batches bool

	// Part makes such a row of an item that was a part of an event with several, of whose row
	// Update has made what the part says.
	Part func(s *session.Session, part *change.Item, of *docedit.Row, id string) ([]table.Field, error)

	// Update makes the row of an item say what becomes of it. It refuses a value
	// that the store has no place for. A place that changed is among the values, unless there
	// is Renumber.
	Update func(r *docedit.Row, change *change.Item) error

	// Renumber, where it is not nil, are columns with numbers that the store gives out
	// in the order of writing, the place among them: where an event is to stand before
	// a stored one, this and every one behind it get the numbers that come next, as
	// written anew. Then Update never changes a place, and rows of Insert and Part
	// come without these columns.
	Renumber []string

	// Tied, where it is not nil, reports of two places in a session whether only the
	// numbers of Renumber tell them apart. Then only a row that comes between others so, and
	// those behind it there, get new ones, and the place is among the values of Update.
	// Without Renumber it is the ids of rows that do, which stay: such a place is no value.
	Tied func(before, at int64) bool

	// SameNumber, where it is not nil, reports of two places whether the numbers are the same in both:
	// then an event that gets another time keeps its number, if this puts it where it is to be.
	SameNumber func(before, at int64) bool

	// Session changes the row of a session of which an event or a run changed, came or went:
	// what a plan sets in it is there. May be nil where nothing does.
	Session func(r *docedit.Row, c *change.Session) error
	// Typed is what a column holds for a text that a plan sets. nil where that has the type of
	// what is stored.
	Typed func(column, text string) (any, error)

	// Create makes the row of a session that a repair splits from another one, in columns of
	// which the table may lack some; like is that one's row. It is stored before anything else
	// changes. May be nil where sessions are not split.
	Create func(s *session.Session, like Row) ([]table.Field, error)
	// OtherTables writes what a change means for other tables, when everything else of it is
	// written, by what becomes of every session: runs, and results that name another child. May be nil where runs never
	// change.
	OtherTables func(ctx context.Context, to table.Writer, sessions []*change.Session) error
	OtherNames  []string // the tables that OtherTables writes; Layout.OtherTables covers their rows
}

// Open is a database that is read, and what is known of the store before its rows
// are: Facts needs Kind, Title, Generation and what the adapter knows.
type Open struct {
	DB      table.Reader
	Facts   session.Store
	Layout  *Layout
	Options store.Options
	// Sessions, when it is not nil, are the only ones that are read, by their ids
	// as the store yields them.
	Sessions []string
}

// Reread is how the layout is made of a database with its tables, and again by a repair of
// one that is open for writing. The facts lack what Layout.Known tells.
type Reread func(ctx context.Context, db table.Reader, stored table.Schema) (facts session.Store, layout *Layout, err error)

// Kind completes a row of the table of adapters for a store that reread knows: detect says
// of the tables of a database whether it is one. What the row has already stays.
func Kind(k store.Kind, detect func(ctx context.Context, db table.Reader, stored table.Schema) store.Detection, reread Reread) store.Kind {
	k.Detect = func(ctx context.Context, src *store.Source) store.Detection {
		if src.DB == nil {
			return store.Detection{}
		}
		stored, err := src.DB.Schema(ctx)
		if err != nil {
			return store.Detection{}
		}
		return detect(ctx, src.DB, stored)
	}
	if k.Open == nil {
		k.Open = func(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
			return OpenBy(ctx, src, opts, reread)
		}
	}
	if k.Edit == nil {
		k.Edit = func(ctx context.Context, src *store.Source) (store.Editor, error) { return Edit(ctx, src, reread) }
	}
	return k
}

// View is a database in another form than that of its tables, which Stored has.
type View interface{ Stored() table.Reader }

func storedBy(db table.Reader) table.Reader {
	if v, ok := db.(View); ok {
		return v.Stored()
	}
	return db
}

// OpenBy opens a source as what reread makes of it.
func OpenBy(ctx context.Context, src *store.Source, opts store.Options, reread Reread) (store.Store, error) {
	facts, layout, err := reread.examine(ctx, src.DB)
	if err != nil {
		return nil, src.DB.Explain(err)
	}
	return Open{DB: src.DB, Facts: facts, Layout: layout, Options: opts}.Store(ctx)
}

// FormOf is session.FormOf, several times as fast for arguments in usual forms.
func FormOf(args string) session.ArgsForm {
	text := column.Bytes(args)
	if s := jsonscan.NewScanner(text); s.PeekByte() == '{' && jsonscan.IsUsualJSON(text) {
		return session.ArgsObject
	}
	return session.FormOf(args)
}
