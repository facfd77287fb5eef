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
	// `move`, `remove`, `quarantine`, `insert`, `create`, `set`, `move-run` (the record of a run goes
	// to another session), `wrap` (arguments become an object that holds them as text), `scrub` (what
	// is no Unicode becomes U+FFFD; with the field `nul`, U+0000 becomes text) or `omit` (a block
	// leaves, and a note comes in the place of media)
	Op    Op  `json:"op"`
	Ref   Ref `json:"ref,omitzero"`   // the record that it changes
	Twin  Ref `json:"twin,omitzero"`  // the record that holds the same bytes and stays
	After Ref `json:"after,omitzero"` // the record before its new place; left out for the start of the session

	To    string `json:"to,omitempty"`     // the session that it goes to
	NewID string `json:"new_id,omitempty"` // of `create`: the id of the new session
	Like  string `json:"like,omitempty"`   // of `create`: the session that the new one is split from, and has its owner from

	New *NewItem `json:"new,omitempty"` // of `insert`: the new item

	Field string  `json:"field,omitempty"` // of `set`: what is set
	Value *string `json:"value,omitempty"` // of `set`: to what; left out for null

	// the call that a new record belongs to: a created session takes its agent, task and time from it,
	// a result its time
	Call *CallRef `json:"call,omitempty"`
}

// CallRef addresses one call of an item.
type CallRef struct {
	Ref  Ref    `json:"ref"` // the record of its item
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
	Child    string `json:"child,omitempty"`    // of a reference: the sub-session
	CallID   string `json:"call_id,omitempty"`  // of a result: the call
	IsError  bool   `json:"is_error,omitempty"` // of a result: the tool failed
	Text     string `json:"text,omitempty"`
	TextFrom Ref    `json:"text_from,omitzero"` // the record whose text is used instead: an item, or a line of a backup
	Prologue bool   `json:"prologue,omitempty"` // it stands for the task and start messages of a sub-session, made from the call
	Rule     string `json:"rule"`               // the rule that adds it
	Restored bool   `json:"restored,omitempty"` // a real text put back in its place, not a placeholder
}
