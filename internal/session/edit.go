package session

// Op is what an edit does to a store.
type Op string

// The edits. Most move, add or remove whole records; Set, Wrap, Scrub and Omit change
// what one says, and the receipt keeps the record as it was.
const (
	Move       Op = "move"       // the item Ref goes to session To, directly after item After
	RemoveTwin Op = "remove"     // the item Ref leaves; its surviving copy is Twin
	Quarantine Op = "quarantine" // the item Ref leaves for the receipt
	Insert     Op = "insert"     // a new item in session To, directly after item After
	Create     Op = "create"     // a new session NewID below session To
	Set        Op = "set"        // Field of Ref becomes Value
	MoveRun    Op = "move-run"   // the record of the run Ref goes to session To
	Wrap       Op = "wrap"       // the arguments of the call Ref become {"INVALID_JSON": "the text that they were"}
	Scrub      Op = "scrub"      // bytes of the record Ref that are not valid Unicode become U+FFFD; with FieldNUL, each U+0000 becomes \u0000
	Omit       Op = "omit"       // the block Ref leaves its item, and its Note comes in its place
)

// The fields of an item that Set changes beside the columns of its store. The
// pointer of Ref says which call, result or block is meant: "/calls/0".
const (
	FieldText     = "text"    // of the item: its blank texts leave; the value is "" (a plan holds no text)
	FieldCallID   = "id"      // of a call
	FieldResultID = "call"    // of a result: the id of the call that it answers
	FieldBlockID  = "item_id" // of a block: the provider's own id, nil to take it away
	FieldBranch   = "branch"  // of an item
	FieldChild    = "child"   // of a result: the session that it names as the one that gave it; of a call or a result: the session of its Question
)

// FieldNUL is what a Scrub changes that is about U+0000.
const FieldNUL = "nul"

// FieldPosition is the field of an item that says where it stands. Where it is set, all
// positions of the session are made to rise.
const FieldPosition = "position"

// FieldArchived is the field of an item that says whether it is still sent; its
// value is "true" or "false". It is no part of what the item says.
const FieldArchived = "archived"

// FieldSummary is the field of a session that names the message from which on it is sent,
// "" for none: that message is a summary.
const FieldSummary = "summary_message_id"

// FieldState is the field of a run that says whether it has ended: see Run.Ends.
const FieldState = "state"

// FieldUnfinished is the field of an item that says whether it was still being written;
// its value is "false".
const FieldUnfinished = "unfinished"

// Edit is one change, as data: a plan can be saved, shown and applied later.
// The draft of package repair makes it; an adapter writes the difference.
type Edit struct {
	Op    Op  `json:"op"`
	Ref   Ref `json:"ref,omitzero"`
	Twin  Ref `json:"twin,omitzero"`
	After Ref `json:"after,omitzero"` // zero: at the start of To

	To    string `json:"to,omitempty"`     // session id
	NewID string `json:"new_id,omitempty"` // Create
	Like  string `json:"like,omitempty"`   // Create: the session that the new one is split from, and has its owner from; "" for none

	New *NewItem `json:"new,omitempty"` // Insert

	Field string  `json:"field,omitempty"`
	Value *string `json:"value,omitempty"` // nil sets NULL

	// Call is the call that a new record belongs to: a created session or a
	// rebuilt prologue takes its agent, task and time from it, a result its
	// time.
	Call *CallRef `json:"call,omitempty"`
}

// CallRef addresses one call of an item.
type CallRef struct {
	Ref  Ref    `json:"ref"`
	ID   string `json:"id"`
	Nth  int    `json:"nth"` // index among the item's calls
	Name string `json:"name,omitempty"`
}

// NewItem describes an item that a repair adds. Its text is either given or
// taken from a stored item, so that a fix can be built from outlines.
type NewItem struct {
	Kind     Kind   `json:"kind"`
	Role     Role   `json:"role,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Child    string `json:"child,omitempty"`    // SubSession
	CallID   string `json:"call_id,omitempty"`  // Tool
	IsError  bool   `json:"is_error,omitempty"` // Tool
	Text     string `json:"text,omitempty"`     //
	TextFrom Ref    `json:"text_from,omitzero"` // the record whose text is used instead: an item, or of TableBackups
	Prologue bool   `json:"prologue,omitempty"` // the task and start messages of a child, rebuilt from Edit.Call
	Rule     string `json:"rule"`               // the rule that adds it: part of the synthetic marker
	Restored bool   `json:"restored,omitempty"` // a real text put back in its place, not a placeholder
}
