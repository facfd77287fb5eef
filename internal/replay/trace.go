package replay

import "github.com/sessctl/sessctl/internal/session"

// Action is what a correct runtime would have done with an item or an event.
type Action uint8

// The actions.
const (
	Persist Action = iota // it belongs into the session that holds it
	Skip                  // it belongs into a child: a leak
	None                  // an event that stores nothing
)

func (a Action) String() string { return [...]string{"persist", "skip", "none"}[a] }

// Reason says why an event is stored where it is. Stored items have none.
type Reason uint8

// The reasons.
const (
	Unreasoned    Reason = iota
	NothingStored        // it leaves nothing in a store
	OwnID                // it carries the id of the run's session
	ChildID              // it carries the id of another session
	OwnStream            // no id; of the streams that run, the run's own session speaks
	ChildStream          // no id; a sub-session's stream speaks
	OwnCall              // no id; the call was made in the run's own session
	ChildCall            // no id; the call was made in a sub-session
	AtDepthZero          // no delegation is open
	BelowZero            // a delegation is open
	NotGuarded           // the depth model stores such records at any depth
	OwnRecord            // the parent's own record of a sub-session
	ChildRecord          // the record of a sub-session of a sub-session
	Opens                // a delegation begins
	Closes               // a delegation ends
	Clamped              // the end of a delegation that is not open
	RunBegins            // the run's own session begins or goes on: nothing is open
)

// String is the reason as machine formats name it.
func (r Reason) String() string {
	return [...]string{
		"", "stores-nothing", "own-id", "child-id", "own-stream", "child-stream", "own-call", "child-call", "depth-zero", "delegation-open",
		"not-guarded", "own-record", "child-record", "opens", "closes", "clamped", "run-begins",
	}[r]
}

// Step is the verdict on one stored item or one event.
type Step struct {
	Depth  int // delegations open at the item: 0 for the session's own
	Action Action
	Reason Reason
	Frame  *Frame // the innermost open delegation of a skipped item, else nil
}

// Frame is one open delegation as seen from the session that holds the items, or
// from the session of a recorded run.
type Frame struct {
	Parent *Frame
	Item   int    // index of the item that opened it, -1 when that item did not leak, and of a recorded one
	Nth    int    // index of the call in that item
	Caller string // the agent that waits
	Agent  string // the agent asked, "" when the arguments do not say

	Call  string // of a recorded one: the id of the call, "" when unknown
	Child string // of a recorded one: the id of the session that it started, "" when unknown

	// Copy is the call in the child that made it, for an inner frame; nil when
	// that child is not stored.
	Copy *Delegation

	next *Frame // that of the item's next call, which runs after this one
	done bool   // the call has its result

	speaker string // the agent that spoke inside last
	passed  bool   // it handed over to one that has not spoken yet
}

// Depth counts the frame and those around it.
func (f *Frame) Depth() int {
	n := 0
	for ; f != nil; f = f.Parent {
		n++
	}
	return n
}

// Delegation is one delegation call of a session's own item, with what the
// stored items tell of its fate.
type Delegation struct {
	Session *session.Session
	Item    int // index of the item that made the call
	Nth     int // index of the call in that item
	Result  int // index of the item with its result, the first of several; -1 when there is none
	Final   int // index of the item with the result that counts (see Outcome), -1 when there is none
	End     int // index behind the last item of its window, and of a child apart behind its result

	Child     *session.Session // the session that it started, nil when unknown
	Reference int              // index of the sub-session item for Child, -1 when there is none

	Leaked []Leaked // items of its child that stand in Session, in stored order
}

// Call is the call itself.
func (d *Delegation) Call() *session.Call { return &d.Session.Items[d.Item].Calls[d.Nth] }

// Outcome is the result that counts, nil when there is none: the first that does not say
// that the child waits for a person or still runs, and without such a one the last.
// A call that needs an approval has two results (kagent).
func (d *Delegation) Outcome() *session.Result {
	if d.Final < 0 {
		return nil
	}
	var found *session.Result
	results := d.Session.Items[d.Final].Results
	for n := range results {
		if r := &results[n]; r.CallID == d.Call().ID && (found == nil || found.Pending) {
			found = r
		}
	}
	return found
}

// Caller is the agent that made the call.
func (d *Delegation) Caller() string { return d.Session.Items[d.Item].Agent() }

// Leaked is one item that stands in a session although a child produced it.
type Leaked struct {
	Item  int       // index in the session that holds it
	Frame *Frame    // where it belongs when no copy exists
	Twin  *TreeItem // its copy in the child's subtree, nil when there is none

	// Undecidable: no twin, and the caller's own agent name. It may be the
	// caller's; it is reported and never moved.
	Undecidable bool
}

// TreeItem is an item of a session of the tree.
type TreeItem struct {
	Session *session.Session
	Item    int
}

// Session is the replay of one session.
type Session struct {
	Session     *session.Session
	Steps       []Step // parallel to the items
	Delegations []*Delegation
}

// Trace is the replay of a tree.
type Trace struct {
	Sessions []*Session // parallel to Tree.Sessions

	bySession map[*session.Session]*Session // made by link, for trees of several sessions

	// Callers says which delegation started a child session; sessions that no
	// delegation is known for are missing.
	Callers map[*session.Session]*Delegation
}
