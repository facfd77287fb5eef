// Package store is the contract between sessctl and the stores that agent
// runtimes write: what an adapter must tell and in which form. The table of all
// adapters is in package registry.
package store

import (
	"context"
	"io"
	"iter"
	"os"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Kind is one kind of store: a row of the table of adapters.
type Kind struct {
	Name  string // "docker-agent": what --store takes and machine formats print
	Title string // "docker agent": for people

	Folder bool // a store is a folder, not a file
	Stream bool // a store is a file that is read from its start to its end, and can be standard input

	// Locations are the paths where a runtime of this kind keeps its store
	// when nobody says otherwise, most likely first. home may be "".
	Locations func(home string) []string

	// Detect looks at the source and says whether it is a store of this kind,
	// from its tables and columns or first lines, never from its name; a folder
	// from the files in it. It changes nothing.
	Detect func(ctx context.Context, src *Source) Detection

	// Empty reports of a folder at one of the Locations, and none that Detect knows, whether
	// nothing was ever stored there: it is no store that cannot be read. nil for files.
	Empty func(src *Source) bool

	// Whole is the store that a path would be a part of, which is no store by itself; "" for none.
	// It may be nil, and the store that it names may not be there.
	Whole func(path string) string

	// Index is a table, with columns, of the database that a runtime makes of its sessions and that
	// holds none of them; empty where there is none.
	Index []string

	// Marks are, by the sessions that Options.Only takes, what is another text when records of one were
	// added or removed: so that of a store that changes, only these sessions are read. It costs
	// little. nil where nothing tells, for the kind or for this source.
	Marks func(ctx context.Context, src *Source) (map[string]string, error)

	// Open reads what is needed to yield trees. The store does not own src.
	Open func(ctx context.Context, src *Source, opts Options) (Store, error)

	// Edit opens the store for repair in place, or for undo. The source need not be
	// opened for reading. nil where none is repaired.
	Edit func(ctx context.Context, src *Source) (Editor, error)

	Prologue Prologue
}

// Prologue is what a child starts with that a call creates: its title and its
// first items, with bodies.
type Prologue func(call *session.Call) (title string, items []session.Item)

// Options are what a caller may ask of every adapter. Each is about reading less or more, and an
// adapter that cannot honour one reads as without it: Only is known to docker agent, the event stores
// and stores of files; Keep, Since and Live to stores on a server; Deep to what is in a database; Brief to
// docker agent, the event stores and stores of files; Newest and Counted to stores of files; Bodies to the event
// stores; Lacks to docker agent, most event stores and stores of files; Progress to all.
type Options struct {
	// Only is the id of the one session whose tree is wanted, or how its id begins; "" for
	// all. An adapter that has indexes for it yields that tree alone, if nothing makes it
	// doubt that this is all of it; session.Store.Read says what it did.
	Only string
	// Keep leaves out trees as it does for a Picker, which is asked nevertheless: a store on
	// a server does not read what it leaves out. Since is the time from which on it looks at
	// newest; zero for never. It may be nil.
	Keep  func(heads *session.Tree, newest time.Time) bool
	Since time.Time
	// Live is for how long behind its newest event a session on a server counts as one that is
	// being written to: session.Session.Writer.
	Live  time.Duration
	Deep  bool  // also run the tests that cost more than the check itself
	Brief int64 // read a store of so many bytes without contents, where a list needs none; 0 for never
	// Newest is how many bytes of the sessions that were touched last are enough, 0 for all. A
	// store that can tell which those are without reading them leaves the others out, and says
	// how many in session.Store.Left.
	Newest  int64
	Counted bool // Brief, but the number of items is needed
	// Bodies asks for trees with such a session as Fill leaves them, where that saves a second
	// reading; Fill has to be called nevertheless. May be nil.
	Bodies func(*session.Session) bool
	Texts  bool // of messages the texts are wanted: Fill may leave out the stored bytes
	// Lacks looks for up to 64 words: its bits are those that some stored bytes lack, in whatever case
	// and however JSON escapes them. A tree with a word that none of its records has may be left out,
	// together with what is wrong with it. A store that does so yields the tree first that was
	// written to last, and says session.Store.NewestFirst. It has to read all of a store that is
	// damaged. May be nil.
	Lacks    func(stored []byte) uint64
	Progress func(int64) // called now and then with the bytes read so far; may be nil
}

// Detection is what an adapter makes of a source.
type Detection struct {
	Sure       Confidence
	Generation string // "018", when it can already be told
	Why        string // "tables sessions and session_items", for people
}

// Confidence orders what several adapters say of one source.
type Confidence int

// The levels of confidence.
const (
	No      Confidence = iota // not a store of this kind
	Maybe                     // has the main table, misses much of the rest
	Certain                   // has what only this kind has
)

// Source is what a user named: a database, a stream, or a folder.
type Source struct {
	Path string       // as given; "-" for standard input
	DB   table.Reader // an opened database, nil when the source is none
	// Edit opens the database for changing, when DB is closed.
	Edit   func(ctx context.Context) (table.Editor, error)
	Stream io.ReadSeeker // the bytes of a file that is no database (spooled when it was a pipe), else nil
	Folder *os.Root      // an opened folder, which nothing that is read through it can leave; nil when the source is none
	Bytes  int64         // of a file
}

// Store is an opened store.
//
// Trees yields every session exactly once, in trees that are closed under
// parent links and references, in a deterministic order, at the outline level,
// in memory that follows the number of items and never the size of their
// texts. An error ends the sequence; damage that leaves the rest readable is a
// fault, not an error.
//
// Fill loads the bodies of a tree that Trees yielded, without changing its
// outlines. It may be called for several trees at once.
type Store interface {
	Facts() *session.Store
	Trees(ctx context.Context) iter.Seq2[*session.Tree, error]
	Fill(ctx context.Context, tree *session.Tree) error
	Close() error
}

// PartFiller is a store that loads the texts of some items without reading those of the others.
// Fill does so for parts of one tree, one after the other: a session in each, with some of its
// items. It is nil after Close.
type PartFiller interface {
	FillParts(ctx context.Context, tree *session.Tree) (*Parts, error)
}

// Parts loads the texts of parts of a tree.
type Parts struct {
	Fill  func(part *session.Tree) error
	Close func() error // what Fill needs is held until then; it may be nil
}

// Picker is a store that can leave trees out without reading them. keep is asked of every
// tree, whose sessions have no items then; newest is the newest time that a column of its
// events has, as the store writes it without a zone too, and zero where that is not known.
type Picker interface {
	Pick(ctx context.Context, keep func(heads *session.Tree, newest time.Time) bool) iter.Seq2[*session.Tree, error]
}

// Copier is a store that can write a copy of itself into a new file, as it was
// when it was opened: what a repair into another file starts from.
type Copier interface {
	Copy(ctx context.Context, path string, progress func(done int64)) (*Source, error)
}
