package replay

import "github.com/sessctl/sessctl/internal/session"

// Comparison is how a stored tree differs from what the events of its run amount
// to.
type Comparison struct {
	// Trace is the replay of the stored tree with the recording as its witness:
	// leaked are exactly the stored items that the events put into a child, each
	// with its frame and its twin, and none is undecidable.
	Trace       *Trace
	Differences []Difference // by session of the recording, in its order
}

// DifferenceKind says how a stored session differs from the recorded one.
type DifferenceKind uint8

// The kinds of differences. What leaked into a caller's session is none of them:
// the trace has it.
const (
	Lost      DifferenceKind = iota // the events have an item that the store lacks
	Foreign                         // the store has an item, among those of the run, that no event made
	Altered                         // it says something else than the events did
	Misplaced                       // it stands at another place, or in a session that is not its own
)

// Difference is one of them. Recorded and RecordedItem are its place in the
// recording (nil and -1 for a Foreign item), Stored and StoredItem its place in
// the store (of a Lost item: the session that should hold it, nil when that is
// lost as well, and the item that it should stand behind, -1 for the start).
type Difference struct {
	Kind         DifferenceKind
	Recorded     *session.Session
	RecordedItem int
	Stored       *session.Session
	StoredItem   int
	// What names the parts that differ, of an Altered item: "text", "reasoning",
	// "agent", "arguments", "calls", "error mark", "sub-session".
	What []string
}
