package replay

import "github.com/sessctl/sessctl/internal/session"

// Comparison is how a stored tree differs from what the events of its run amount
// to.
type Comparison struct {
	Recorded      *session.Tree // what the events amount to
	RecordedTrace *Trace        // its replay, in which nothing leaked
	// Trace is the replay of the stored tree with the recording as its witness:
	// leaked are exactly the stored items that the events put into a child, each
	// with its frame and its twin, and none is undecidable.
	Trace       *Trace
	Differences []Difference // by session of the recording, in its order
	// Compared counts the stored items that stand among those of the recorded
	// runs. What was not recorded is not compared: other runs of the session, and
	// children of theirs.
	Compared int
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
	// "agent", "arguments", "calls", "error mark", "implicit mark", "sub-session",
	// Retried.
	What []string
}

// Retried is the part of an item that differs where the store has the end of an
// answer only: the beginning may be that of an attempt that failed and was made
// again, of which docker agent emits no event (runtime/fallback.go).
const Retried = "the beginning of its text"

// Compare holds a stored tree against what the events of its run amount to. Both
// have their bodies loaded, and the same root by id. Sessions are the same if
// their ids are: a child that the store has under another id counts as lost, but
// for one that never completed and that a repair rebuilt. The recording may be of
// a part of a run only, or of several, and the session may hold others. What results
// say is told in the form in which the runtime stores them.
func Compare(recorded, stored *session.Tree, runtime *session.Runtime) *Comparison {
	c := newComparer(recorded, stored, runtime)
	for _, p := range c.pairs {
		if p.stored != nil {
			c.findLeaks(p)
			c.excuse(p)
			p.excuseReplies()
		}
	}
	for _, p := range c.pairs {
		p.explain()
	}
	c.findElsewhere()
	trace := c.trace(stored)
	return &Comparison{Recorded: recorded, RecordedTrace: c.recorded, Trace: trace, Differences: c.differences(trace), Compared: c.compared()}
}
