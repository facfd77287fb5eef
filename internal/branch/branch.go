// Package branch says who could see what: whether an agent that runs on one
// branch is shown an event of another, and why, under the rules of the runtimes
// that write such labels. It is pure.
package branch

// Model is a rule of visibility.
type Model interface {
	// Visible reports whether the viewer is shown the event, and why or why not.
	Visible(viewer Viewer, event Event) (bool, Reason)
}

// Event is what a rule asks about an event.
type Event struct {
	Label      string // its branch as the store has it, "" for the root: see Parse
	Invocation string
	Session    string // the id of the session that holds it
	Scope      string // isolation scope, "" for none
	Node       string // the only node of a workflow that is to see it, "" for all
	// Kept is why the store's reader passes it over, whoever asks: Archived,
	// Rewound, Compacted or HiddenKind; None for what it does not.
	Kept Reason
}

// Viewer is an agent when it runs.
type Viewer struct {
	Label      string
	Invocation string
	Session    string
	Scope      string
	Node       string
}

// Reason is why an event is visible or not. The names are those of the machine
// formats; which of them go with yes and no depends on the model.
type Reason uint8

// The reasons.
const (
	None            Reason = iota
	Root                   // the event has no branch: everybody sees it
	Ancestor               // it is of a branch above the viewer's
	Own                    // it is of the viewer's branch
	Unbranched             // the viewer has no branch and sees all
	OtherInvocation        // it is of another run, where branches of this one mean nothing
	Sibling                // it is of a branch beside the viewer's
	Child                  // it is of a branch below the viewer's
	Unrelated              // the branches have nothing in common
	Archived               // kept in the store, no longer sent
	OutOfScope             // another isolation scope, or another node of the workflow
	Rewound                // annulled by a later rewind
	Compacted              // a summary stands for it
	HiddenKind             // no model ever sees an event of this kind
	TokenSubset            // the viewer has all tokens of the event
	TokenMissing           // it lacks one
	ForkDisjoint           // both are of one fork, on different sides
	OwnSession             // it is of the viewer's session
	OtherSession           // it is of another
)

var names = [...]string{
	"", "root", "ancestor", "own", "unbranched-viewer", "other-invocation", "sibling", "child", "unrelated", "archived",
	"scope", "rewound", "compacted", "hidden-kind", "token-subset", "token-missing", "fork-disjoint", "own-session", "other-session",
}

func (r Reason) String() string { return names[r] }
