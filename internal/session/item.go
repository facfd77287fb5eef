package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says what an item is.
type Kind uint8

// The kinds of items. Other is everything that no model ever sees: error and
// termination rows, unknown types, records that do not decode.
const (
	Message Kind = iota
	SubSession
	Summary
	Other
)

var kinds = []string{"message", "sub_session", "summary", "other"}

func (k Kind) String() string { return kinds[k] }

// ParseKind parses the inverse of Kind.String; unknown names give Other.
func ParseKind(name string) (kind Kind, known bool) {
	if i := slices.Index(kinds, name); i >= 0 {
		return Kind(i), true
	}
	return Other, false
}

// MarshalText makes a kind readable in a saved plan.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(text []byte) error {
	kind, known := ParseKind(string(text))
	if !known {
		return fmt.Errorf("%q is no kind of item", text)
	}
	*k = kind
	return nil
}

// Role is who a message speaks for.
type Role uint8

// The roles. NoRole marks an item that is no message, or a role outside the table.
const (
	NoRole Role = iota
	User
	Assistant
	Tool
	System
)

var roles = []string{"", "user", "assistant", "tool", "system"}

func (r Role) String() string { return roles[r] }

// MarshalText makes a role readable in a saved plan.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (r *Role) UnmarshalText(text []byte) error {
	*r = ParseRole(string(text))
	return nil
}

// ParseRole parses the inverse of Role.String; unknown names give NoRole.
func ParseRole(name string) Role {
	if name == "developer" {
		return System
	}
	return Role(max(slices.Index(roles, name), 0))
}

// Flags are facts about an item that decoding can tell.
type Flags uint16

const (
	// Implicit items are hidden from people but sent to the model.
	Implicit Flags = 1 << iota
	// Archived items are kept but no longer sent.
	Archived
	// Synthetic items were written by a repair, not by the runtime.
	Synthetic
	// Unfinished items were streaming when their writer stopped: no final
	// record replaced the partial one.
	Unfinished
	// Blank messages have no text beyond white space, no calls, no media and
	// no result; readers drop them or providers reject them.
	Blank
	// Skipped items are passed over by the store's own reader when it loads
	// the session (dangling references, unknown kinds): they shift index
	// references and reach no model.
	Skipped
	// Dangling sub-session items refer to a session that does not exist.
	Dangling
	// BlankText items have a text that is nothing but white space.
	BlankText
	// TrailingSpace items have a text that ends in white space.
	TrailingSpace
	// NullText items hold null where a text belongs.
	NullText
	// EmptyCalls items hold a list of calls that is empty.
	EmptyCalls
	// Rewound items were annulled later: the store keeps them, its reader does not.
	Rewound
	// Compacted items are covered by a summary that says so itself, wherever it stands.
	Compacted
	// Unshown items are messages that the store's reader keeps from every model:
	// requests for a person's confirmation and the answers to them, or what stands before
	// a gap (Fault.Hides).
	Unshown
	// SummaryTurn items are messages that a compaction wrote in place of others, and
	// are sent like these: the request for a summary and the summary (Spring AI Session).
	SummaryTurn
	// BySegments items have a branch, and were written by a version of the runtime that
	// compares labels by whole segments. Where nobody can tell, they have not the flag.
	BySegments
)

// Has reports whether all flags of g are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// HomeUnknown is Item.Home of what the run of a sub-session stored, and nothing tells which.
const HomeUnknown = "?"

// Item is one entry of a session.
type Item struct {
	Key string // the record's key in its table, unique within the store

	Kind  Kind
	Role  Role
	Flags Flags
	// Copied: what it says is stored in the session that is its Home, too.
	Copied bool
	// Passed: the runtime passes over its record as it is stored, and so sends nothing of it, though it can be
	// read; a fault says why.
	Passed bool
	// Note: a user's message that asks nothing: a command of the program and what it printed, a
	// notification, that a person interrupted it.
	Note bool

	Position int64     // the stored order value; Items is sorted by it
	Time     time.Time // zero when absent or unreadable

	// Shared is read by the methods that are named after its fields. nil is one without any of them.
	Shared *Shared

	Calls   []Call
	Results []Result
	// Blocks are the parts of a message in their stored order, all of them. nil
	// when there is nothing to tell beyond a text, then calls, then results.
	Blocks []Block
	// Size is about what the item adds to a request, in bytes: texts,
	// arguments, results and media. 0 when it is not known.
	Size int64

	// Meaning is the digest of what the item says: role, agent, text, media,
	// reasoning, calls and results. Two items with the same Meaning are twins.
	Meaning Digest
	// Text is the digest of the text alone: of a message's text, or of a
	// tool item's result.
	Text Digest

	// Body is nil at the outline level.
	Body *Body
}

// DropTexts takes the texts away that an outline does not have.
func (it *Item) DropTexts() {
	it.Body = nil
	for i := range it.Calls {
		it.Calls[i].Args = ""
	}
	for i := range it.Results {
		it.Results[i].Text = ""
	}
}

// KeepTexts makes copies of the texts that DropTexts would drop, which may be parts of a row.
func (it *Item) KeepTexts() {
	for i := range it.Calls {
		it.Calls[i].Args = strings.Clone(it.Calls[i].Args)
	}
	for i := range it.Results {
		it.Results[i].Text = strings.Clone(it.Results[i].Text)
	}
}

// Body is what an item says, loaded on request.
type Body struct {
	Text      string // the message's or summary's text; a tool item's text is in its results
	Reasoning string
	Raw       []byte // the stored bytes, exactly
}

// Call is one tool_use.
type Call struct {
	ID         string
	Name       string
	Args       string // the raw argument text; body level only
	Form       ArgsForm
	Server     bool // the provider ran the tool: its result is a part of the same message
	Delegation *Delegation
	// Waits: a long-running tool. The call may stay without a result until
	// somebody outside answers, and the last of several results counts.
	Waits bool
	// Asked: the store holds a question to a person about the call, and the answer can
	// still come.
	Asked bool
	// Owed: a sub-agent's call that the runtime answers itself, from the sub-session, when the
	// session goes on.
	Owed     bool
	Question Question
}

// Question is what a question to a person says about the run of a worker that waits
// for the answer. It stands with the call that asks, with the result of the call that
// started the run, and with the answer. The zero value is none.
type Question struct {
	Child string // the session of the run
	Run   string // its id
}

// ArgsForm says what the arguments of a call are, at the outline level.
type ArgsForm uint8

// The forms. No text at all counts as an object without members, as runtimes
// send it.
const (
	ArgsObject ArgsForm = iota // a JSON object
	ArgsValue                  // JSON, but not an object
	ArgsBroken                 // not JSON
)

// Result is one tool_result.
type Result struct {
	CallID    string
	Name      string // "" where the store does not record it
	Text      string // body level only
	Digest    Digest // of Text
	IsError   bool
	Synthetic bool // a placeholder that some tool wrote for a missing result
	Pending   bool // recorded as still running or waiting for approval
	Null      bool // the store holds null where the text belongs
	Server    bool // of a tool that the provider ran

	Child       string // the session that the result names as the one that gave it
	Answer      Digest // of the child's answer alone, where the store wraps it into the text
	Correlation string // what ties it to its delegation besides the call id, "" when the store has nothing
	Question    Question
}

// Output is a file that an item refers to.
type Output struct {
	Path    string // as it is stored
	Real    string // where it lies below the store's folder, links followed; "" when it does not exist or lies outside
	Outside bool   // it leads out of the store's folder
	Bytes   int64
	Hash    bool // its name holds a digest that its content does not have
}

// Delegation is what a call that starts a child session says about the child.
type Delegation struct {
	Agent    string // the agent asked, "" when the arguments do not say
	Task     Digest // of the task text, 0 when the arguments do not say
	Child    string // the child's id, where the store records it with the call or its result
	Run      string // the id of the child's run that the call started, where the store records it
	Likely   bool   // Child is told by something weaker than the call's result
	Blocking bool   // the caller waits; its own items cannot come before the result
	Apart    bool   // the child runs elsewhere: nothing of it can be stored in the caller's session

	Tools       []string      // the tools that the child was given, nil when the store does not say
	Timeout     time.Duration // the time that the child was given, 0 when the store does not say
	Correlation string        // what its result has to have as well, "" when the store has nothing
}

// HasBlock reports whether one of the item's blocks is of this kind.
func (it *Item) HasBlock(kind BlockKind) bool {
	for i := range it.Blocks {
		if it.Blocks[i].Kind == kind {
			return true
		}
	}
	return false
}

// IsAnswer reports whether the item holds results where an API looks for them: a
// tool item, or a user item with results, as Anthropic has them.
func (it *Item) IsAnswer() bool {
	return it.Role == Tool || it.Role == User && slices.ContainsFunc(it.Results, func(r Result) bool { return !r.Server })
}

// SaysText reports of an outline whether its message has a text beside its calls and results.
func (it *Item) SaysText() bool {
	return it.Text != 0 && (it.Role != Tool || len(it.Results) != 1 || it.Text != it.Results[0].Digest)
}

// MakesCall reports whether the item makes a call of this id.
func (it *Item) MakesCall(id string) bool {
	return slices.ContainsFunc(it.Calls, func(c Call) bool { return c.ID == id })
}

// AnswersCall reports whether the item has a result for a call of this id.
func (it *Item) AnswersCall(id string) bool {
	return slices.ContainsFunc(it.Results, func(r Result) bool { return r.CallID == id })
}

// OnWire reports whether the item becomes part of a request to a model.
func (it *Item) OnWire() bool {
	return it.Kind == Message && it.Flags&(Skipped|Archived|Rewound|Compacted|Unshown) == 0
}

// FormOf says what the text of a call's arguments is.
func FormOf(args string) ArgsForm {
	switch {
	case args == "":
		return ArgsObject
	case !json.Valid([]byte(args)):
		return ArgsBroken
	case strings.HasPrefix(strings.TrimLeft(args, " \t\r\n"), "{"):
		return ArgsObject
	}
	return ArgsValue
}

// TextFlags are the flags that the text of a message gives its item.
func TextFlags(text string) Flags {
	switch trimmed := strings.TrimSpace(text); {
	case text == "":
		return 0
	case trimmed == "":
		return BlankText | TrailingSpace
	case !strings.HasSuffix(text, trimmed):
		return TrailingSpace
	}
	return 0
}

// IsServerCall reports whether an id is one that a provider gives to calls of
// tools that it runs itself (Anthropic).
func IsServerCall(id string) bool { return strings.HasPrefix(id, "srvtoolu_") }
