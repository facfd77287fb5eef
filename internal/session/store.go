package session

import (
	"cmp"
	"slices"
)

// Writer says whether the runtime that owns a store may still be writing.
type Writer uint8

// The writer states. Modification times are never evidence for them: a fresh
// checkout would change the verdict.
const (
	WriterUnknown Writer = iota // no probe possible
	WriterLive                  // another process holds the store
	WriterDead                  // the probe says that nobody does
)

var writers = []string{"unknown", "live", "dead"}

func (w Writer) String() string { return writers[w] }

// ParseWriter parses the inverse of Writer.String; unknown names give WriterUnknown.
func ParseWriter(name string) Writer { return Writer(max(slices.Index(writers, name), 0)) }

// WriterOf says whether a session may still be written to.
func (s *Store) WriterOf(one *Session) Writer { return cmp.Or(one.Writer, s.Writer) }

// Store is what an adapter knows of the whole store.
type Store struct {
	Path       string
	Kind       string // "docker-agent"
	Title      string // "docker agent", for people
	Generation string // schema generation: "018"
	Bytes      int64
	Identity   string // tells a database on a server from another one of its name
	// Read is ByIndex, where only one tree was read, by its keys; where that was asked for
	// and not done, why; else "".
	Read       string
	Writer     Writer
	WriterName string // "docker-agent (pid 4711)", "" when nobody is known

	Runtime
	Children
	Requests
	Reader
	Keys
	Condition

	// Versions says which versions of the runtime leave such a store behind, "" when unknown.
	Versions string
	// Advice are sentences about the runtime generation that wrote the store,
	// printed with a report that has findings.
	Advice []string
}

// ByIndex is what Store.Read says of a store that was not read as a whole.
const ByIndex = "by index"

// Children is what is known of the sessions that calls start.
type Children struct {
	// ChildrenClosed: the runtime never sends a child session to a model again
	// once its delegation is answered or closed.
	ChildrenClosed bool
	// ChildPrologue: every child session starts with a system message that
	// holds its task and an implicit user message.
	ChildPrologue bool
	// ReusesChildren: the runtime documents that a session goes on where another call
	// of its agent comes later, so that one session serves several calls.
	ReusesChildren bool
	// SharedChildren says what would have given every call a session of its own, and
	// in which versions of the runtime: a clause that a finding ends with, "" when
	// there is no such setting.
	SharedChildren string
	// WholeTurns: a turn is stored when it is over, so that of one that was stopped only the
	// sub-sessions that it started are left.
	WholeTurns bool
	// Agents are the agents that this runtime runs itself, by the name that a call
	// has; nil when the store does not say.
	Agents map[string]bool
}

// Requests is what is known of the requests that are made of a session.
type Requests struct {
	// Adapts is what the runtime's own request builder does so that a provider
	// does not mind, by the id of the rule that would ("SC401"), or by id and
	// profile where only some requests are built so ("SC304 gemini"): "leaves
	// blank messages out". Only what every version does that may read the store.
	Adapts map[string]string
	// Loses is what every version that may read the store leaves out of requests, or sends in
	// its place, by the id of the rule that finds it: no request fails, and the model does not
	// learn of it.
	Loses map[string]string
	// Model is the one that answers where no session names one, as far as the
	// runtime's own default tells: a hint for who judges requests. "" when unknown.
	Model string
	// Profile is the provider whose API the store has its items of, which judges requests whatever
	// model answers; "" where the form of items tells nothing.
	Profile string
}

// Reader is what the store's own reader makes of a session that several agents share:
// what it shows to which of them, and in what form and order.
type Reader struct {
	// BranchModel is how the store's own reader decides what an agent sees: the
	// name of a model of package branch, "" where every session is one agent's.
	BranchModel string
	// MainBranch is, of the model names, the branch that goes on where nobody chose another.
	MainBranch string
	// ForeignText: what other agents said reaches an agent as a text of the user,
	// their calls and results with it. So only an agent's own calls need results.
	ForeignText bool
	// GathersResults: the reader puts every result behind its call, however late it
	// was stored.
	GathersResults bool
	// LastResult: the reader looks up the last item with a result of each call's id and sends
	// it behind the call, wherever it is stored, and no other results
	// (google/adk-python flows/llm_flows/contents.py, adk-go contents_processor.go, adk-js
	// content_processor_utils.ts: rearrangeEventsForAsyncFunctionResponsesInHistory).
	LastResult bool
	// SilentLabels: a branch label may end in the name of an agent that never
	// speaks itself, as a sequence of others.
	SilentLabels bool
	// HidesToolRuns: the reader keeps what a tool's own run said ("tool@call id"
	// below the viewer's branch) from everybody above.
	HidesToolRuns bool
	// OpenScopes: an event without an isolation scope is seen in every scope. Else the
	// scopes have to be equal.
	OpenScopes bool
	// Retells is how the reader words what it makes texts of.
	Retells Retelling
	// RootSummaries: a summary has no branch, so that every agent sees it. Else it
	// has the longest one that all it covers have in common.
	RootSummaries bool
	// PrefixReaders names the versions of the store's readers that took every
	// label that begins with another's text for one below it, "" when none did.
	PrefixReaders string
	// PrefixUntold: nothing in the store shows whether one of them wrote it.
	PrefixUntold bool
	// LikeFilter: a reader filters branches by SQL's LIKE, for which %, _ and case
	// mean something else than for the others.
	LikeFilter bool
	// FoldsBranches: that reader overlooks case in all comparisons of branches, as the collation of
	// their column says.
	FoldsBranches bool
	// TurnsTies: the reader shows events of one place in the reverse of the order in
	// which they were written.
	TurnsTies bool
	// Zoneless are the programs whose own local time the store keeps without a zone, "" where
	// its times are instants.
	Zoneless string
	// TiesMove: an event that is changed comes behind the others of its place.
	TiesMove bool
	// TiesByKey: events of one place come in the order of their keys, or in none, so that nothing
	// tells which was written first.
	TiesByKey bool
}

// Keys is how the store names and numbers its records.
type Keys struct {
	// CountsKeys: the key of an item is its place among all items of the store, so that
	// it changes with what is put before it, in whatever session.
	CountsKeys bool
	// NeedsAll: what becomes of an item is written only where all bodies of its tree are loaded.
	NeedsAll bool
	// Renumbers: the store numbers records anew when one is put between others.
	// Positions tell the order only.
	Renumbers bool
	// CountsRows: the key of a record is the number of its row, so that one that is stored
	// anew gets another.
	CountsRows bool
	// Hides: what is no longer sent is hidden by itself, wherever it stands.
	Hides bool
	// ByChain: what is sent follows from the chain of records alone, so that none can be sent again.
	ByChain bool
	// Refuses is what the store does not take of results that tools gave: a clause, "" where
	// nothing is known.
	Refuses string
	// KeepsIDs: no repair gives a call another id.
	KeepsIDs bool
	// PartsTexts: a blank text can leave a message whatever else that says.
	PartsTexts bool
	// Omits: blocks can leave a message, with a note in their place where they were media.
	Omits bool
	// Closes: a message that was still being written can be given the end that the
	// runtime itself gives to one that was cancelled.
	Closes bool
}

// Condition is what is wrong with the store, and what that keeps from being done.
type Condition struct {
	// ReadOnly is the reason why this store cannot be repaired in place, "" if it can.
	ReadOnly string
	// Recovery tells what to do about damage of the store: verb phrases, "" where nothing is
	// known. It is asked only where there is damage, and may read the store; nil: "".
	Recovery func() string `json:"-"`
	// Brief: nothing that messages say was read. Items are no more than their number, the
	// sub-sessions that they refer to, and agents where the store has them beside messages.
	Brief bool
	// Uncounted: Brief, and not even the number of items is known, nor the sub-sessions that
	// are not in files of their own; times and titles are those of the first and last records.
	Uncounted bool
	// Left is how many root sessions were not looked at, because newer ones were enough.
	Left int
	// NewestFirst: the sessions that were written to last come first.
	NewestFirst bool
	// Triggers are those of the database that its runtime does not make: what they do
	// to a repair, and to taking it back, nobody can foretell.
	Triggers []Trigger
	// Incomplete is the reason why not everything could be read, "" if all was.
	Incomplete string
	// Faults are defects of the store as a whole, and of records that belong
	// to no session.
	Faults []Fault
}

// Runtime is what is known of a runtime, whatever its sessions are read from: its store,
// a stream that was exported from it, or the events that it emitted.
type Runtime struct {
	Name string // "docker agent", "" when nobody knows which one it is
	// NoOutput is the text that it stores for a result without one, "" when it stores none.
	NoOutput string
	// OmittedOutput stands in a stored result in place of the middle of one that is longer
	// than the runtime's limit; its events have all of it. "" when it cuts none.
	OmittedOutput string
	// BlankMessages says what becomes of a message without any content on the way to a
	// provider, "" when that is not known.
	BlankMessages string
	// BlankTexts says which versions leave a blank text out that is beside other content, ""
	// where none is known to.
	BlankTexts string
	Sanitiser  *Sanitiser // nil where a request is sent with the pairs that it has
}

// Sanitiser is what a runtime makes of the calls and results of a request before it sends
// it: a result behind every call, and none without a call.
type Sanitiser struct {
	By     string // who does it: "docker agent since v1.44"
	Pairs  string // the profile of the provider as whose pairs it takes them, whoever gets the request; "" where it asks only if anything has the same id, wherever and how often
	Result string // the text of the error result that it puts behind a call that has none, "" where it leaves such calls out
	Always bool   // every version that reads such a store does it, and not only newer ones
	// Tail is the text of the result that it puts behind a call at the very end.
	Tail string
	// Elsewhere is the text of the result that it puts behind a call whose own stands in another
	// place, "" where it leaves such calls out, too.
	Elsewhere string
	// Once: of calls with one id it sends the first, with its result.
	Once bool
	// Hoists: results that only the user's own text parts from their call come before that.
	Hoists bool
	// KeepsResults: it sees to calls without a result only.
	KeepsResults bool
	// Latest: of several results of one call it sends the last, and of calls with one id one.
	Latest bool
}

// Resumption is what the version of a runtime that wrote a session last makes of its requests, in
// place of what is known of all that may read the store.
type Resumption struct {
	Sanitiser *Sanitiser
	Loses     map[string]string // see Requests.Loses
	Newer     map[string]string // what the newest version known does otherwise, by rule: "2.1 leaves it out"
}

// ResumptionOf is what is made of the requests of a session.
func (s *Store) ResumptionOf(one *Session) *Resumption {
	if one != nil && one.Resumption != nil {
		return one.Resumption
	}
	return &Resumption{Sanitiser: s.Sanitiser, Loses: s.Loses}
}

// RecoverBy is what Recovery tells, "" where nobody knows.
func (c *Condition) RecoverBy() string {
	if c.Recovery == nil {
		return ""
	}
	return c.Recovery()
}

// Adaptation is what the runtime's own request builder does so that a profile
// does not mind what a rule finds, "" when it does nothing.
func (s *Store) Adaptation(rule, profile string) string {
	return cmp.Or(s.Adapts[rule+" "+profile], s.Adapts[rule])
}

// Retelling are the words that a reader puts around what an agent is shown as a text of
// the user. The zero value is that of most.
type Retelling struct {
	Summary  string // before a summary
	Bare     bool   // a summary is sent as it is
	Result   string // a format for another agent's result: the agent, the tool and the answer
	Thoughts bool   // another agent's thoughts are sent, too
}

// Trigger is a rule of a database that changes something besides.
type Trigger struct {
	Name     string `json:"name"`
	Table    string `json:"table"`
	When     string `json:"when,omitzero"`     // `after insert` and the like; left out where it is not known
	Function string `json:"function,omitzero"` // the function that it runs, with its schema; of a server only
	Owner    string `json:"owner,omitzero"`    // the role whose function that is; of a server only
}
