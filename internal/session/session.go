// Package session is the canonical model of persisted agent conversations:
// pure data that every adapter produces and every rule reads.
//
// The model has two levels of detail. The outline (everything but Item.Body)
// is what nearly all rules need and is small; the body (texts, arguments, raw
// bytes) is loaded for one tree at a time when a view, an export or a plan asks
// for it. Stored order is the order of Items; times are data, never order.
package session

import (
	"cmp"
	"slices"
	"time"
)

// Session is one conversation with its items in stored order.
type Session struct {
	ID     string
	Parent string // the recorded parent session, "" for a root
	App    string
	User   string
	Title  string
	Agent  string // the agent that the session belongs to, "" when the store does not say
	Model  string // the model that the session's own record names, "" when it names none

	Thinking Tristate // whether the session says that its model thinks
	Unstored bool     // the provider was told to keep nothing: its ids mean nothing to it later

	Created time.Time // zero when absent or unreadable
	Updated time.Time

	// Task is the digest of the task text that the session's first message
	// hands to it, 0 when it starts in another way. It equals
	// Delegation.Task of the call that created the session.
	Task Digest

	// Forked: it says itself that it began as a copy of another session.
	Forked bool

	// Tick, where it is not 0: the positions of its items are their times by the clock
	// that wrote them, counted in this. What gets another place gets another time.
	Tick time.Duration
	// TickBits, where it is not 0: the lowest bits of a position tell items of one tick
	// apart, and only the others are the time.
	TickBits uint

	// OneAnswer: its runtime stores the results of one message's calls in one item, and so
	// does a repair.
	OneAnswer bool
	// CallOrder: the results of one message's calls stand in the order of the calls, because
	// the record of a call holds its result.
	CallOrder bool

	// Delegated: the store says itself that another agent's call started it.
	Delegated bool
	// Stalled is why its runtime, or which versions of it, make no request for the prompts at
	// its end, and what to do; empty where nothing keeps them from it.
	Stalled struct{ Why, Way string }
	// Mended: a repair that is being planned changes what is sent of it.
	Mended bool
	// Deleted: its runtime shows it to nobody any more, and kept its records.
	Deleted bool
	// Inseparable is the reason why its records cannot be parted into several
	// sessions, "" when nothing is in the way.
	Inseparable string

	// Runs are the requests that the session served, in the order in which they
	// came, where the store keeps a record of each beside the items.
	Runs []Run

	// Writer is known where the store can tell it of one session: another one than that of
	// the whole store (a server that many processes write to).
	Writer Writer

	// Version is that of the runtime which wrote its newest record, and Resumption what follows
	// from it, where the sessions of a store are of several versions.
	Version    string
	Resumption *Resumption

	// Workspace is the folder that the session's agent works in, "" when the store
	// does not say.
	Workspace string

	// Agents are the agents that the session may have, those that never spoke
	// among them; nil when the store does not say.
	Agents []string

	Items     []Item
	IndexRefs []IndexRef
	Faults    []Fault // of the session's own record; an item's faults name the item

	// Children are the sessions of the tree that belong below this one: those
	// that record it as parent, and those that only an item of it refers to.
	Children []*Session

	// Raw carries what the model has no field for (the canonical stream's
	// "raw"); loaded with the bodies.
	Raw []byte
}

// Tristate is a fact that a store may leave open.
type Tristate uint8

// The states.
const (
	Unsaid Tristate = iota
	Yes
	No
)

// Ref addresses the session's own record.
func (s *Session) Ref() Ref { return Ref{Session: s.ID, Table: TableSessions, Key: s.ID} }

// ItemRef addresses the item at index i.
func (s *Session) ItemRef(i int) Ref {
	return Ref{Session: s.ID, Table: s.Items[i].Table(), Key: s.Items[i].Key}
}

// IndexRef is a number stored elsewhere that means a place in the session's
// list of items as the reader loads it (items that it skips do not count).
type IndexRef struct {
	Ref     Ref
	Field   string // for people: "instruction_context updates[1].position"
	Index   int64
	Pointer string // JSON pointer below the field, "" when the column is the number
}

// Tree is a set of sessions that belong together: everything that parent links
// and references connect. It is the unit of checking, repair and parallelism.
type Tree struct {
	// Sessions holds every session of the tree, parents before children, in a
	// deterministic order. Sessions[0] is the root; further sessions without a
	// parent in the tree are further roots (only damage makes those).
	Sessions []*Session
}

// Root is the session that the tree is named after.
func (t *Tree) Root() *Session { return t.Sessions[0] }

// Session finds a session of the tree by id, nil when it is not in it.
func (t *Tree) Session(id string) *Session {
	for _, s := range t.Sessions {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Copy is a tree of copied sessions, to be filled and kept. They share their items.
func (t *Tree) Copy() *Tree {
	copied := make(map[*Session]*Session, len(t.Sessions))
	tree := &Tree{Sessions: make([]*Session, len(t.Sessions))}
	for i, s := range t.Sessions {
		c := *s
		c.Faults, c.Children = slices.Clone(s.Faults), slices.Clone(s.Children)
		tree.Sessions[i], copied[s] = &c, &c
	}
	for _, s := range tree.Sessions {
		for i, child := range s.Children {
			s.Children[i] = copied[child]
		}
	}
	return tree
}

// Outline is a copy of the tree without its texts, as a store gives it before they are
// loaded.
func (t *Tree) Outline() *Tree {
	outline := t.Copy()
	for _, s := range outline.Sessions {
		s.Items, s.Raw = slices.Clone(s.Items), nil
		for i := range s.Items {
			it := &s.Items[i]
			it.Calls, it.Results = slices.Clone(it.Calls), slices.Clone(it.Results)
			it.DropTexts()
		}
	}
	return outline
}

// Items counts the items of all sessions of the tree.
func (t *Tree) Items() int {
	n := 0
	for _, s := range t.Sessions {
		n += len(s.Items)
	}
	return n
}

// LoadedIndexes lists the indexes of the items that the store's own reader keeps when
// it loads the session. Index references count in this list.
func (s *Session) LoadedIndexes() []int {
	list := make([]int, 0, len(s.Items))
	for i := range s.Items {
		if !s.Items[i].Flags.Has(Skipped) {
			list = append(list, i)
		}
	}
	return list
}

// ToolBefore is the name of the tool of the last call with an id that comes before an
// item, "" for none.
func (s *Session) ToolBefore(it *Item, call string) (name string) {
	for i := range s.Items {
		if s.Items[i].Table() == it.Table() && s.Items[i].Key == it.Key {
			break
		}
		for _, c := range s.Items[i].Calls {
			if c.ID == call {
				name = c.Name
			}
		}
	}
	return name
}

// LastSummary is the index of the summary that the next request starts from,
// -1 when the session was never summarised. A summary without text is ignored,
// as readers do, and so is one that a later one stands for.
func (s *Session) LastSummary() int {
	for i := len(s.Items) - 1; i >= 0; i-- {
		it := &s.Items[i]
		if it.Kind == Summary && it.Text != 0 && it.Flags&(Skipped|Compacted) == 0 {
			return i
		}
	}
	return -1
}

// RequestStart is the index of the first item that the next request sends: behind the
// last summary, or at the start of the tail that the summary kept, when that
// lies between the beginning and the summary (docker agent 3.4).
func (s *Session) RequestStart() int {
	last := s.LastSummary()
	if last < 0 {
		return 0
	}
	if kept := s.Items[last].KeptFrom(); kept > 0 {
		loaded := s.LoadedIndexes()
		if kept < int64(len(loaded)) && loaded[kept] < last {
			return loaded[kept]
		}
	}
	return last + 1
}

// RemapIndex is what an index into the loaded list of a session becomes when
// the session's items change: the index of the same item, else of the next one
// that is still there, else the end of the list. One behind the end stays behind
// it, however long the list becomes, and a negative one as it is.
func RemapIndex(before, after *Session, index int64) int64 {
	old, loaded := before.LoadedIndexes(), after.LoadedIndexes()
	switch {
	case index < 0:
		return index
	case index > int64(len(old)):
		return max(index, int64(len(loaded)))
	}
	now := map[string]int64{}
	for n, i := range loaded {
		now[after.ItemRef(i).Row()] = int64(n)
	}
	for _, i := range old[index:] {
		if n, ok := now[before.ItemRef(i).Row()]; ok {
			return n
		}
	}
	return int64(len(loaded))
}

// TakeTexts gives the items of an outline the texts of those that they are of, if all are there.
func (s *Session) TakeTexts(from *Session) bool {
	texts := make(map[string]*Item, len(from.Items))
	for i := range from.Items {
		texts[from.Items[i].Key] = &from.Items[i]
	}
	for i := range s.Items {
		it, text := &s.Items[i], texts[s.Items[i].Key]
		if text == nil || len(it.Calls) != len(text.Calls) || len(it.Results) != len(text.Results) {
			return false
		}
		it.TakeTexts(text)
	}
	return true
}

// SetPending leaves the results of an item that another session shares.
func (it *Item) SetPending(nth int, pending bool) {
	if it.Results[nth].Pending != pending {
		it.Results = slices.Clone(it.Results)
		it.Results[nth].Pending = pending
	}
}

// TakeTexts gives an outline the texts of the item that it is of.
func (it *Item) TakeTexts(full *Item) {
	it.Body = full.Body
	for i := range min(len(it.Calls), len(full.Calls)) {
		it.Calls[i].Args = full.Calls[i].Args
	}
	for i := range min(len(it.Results), len(full.Results)) {
		it.Results[i].Text = full.Results[i].Text
	}
}

// Live reports whether a process has one of the conversations open.
func (t *Tree) Live() bool {
	return slices.ContainsFunc(t.Sessions, func(s *Session) bool { return s.Writer == WriterLive && (s.Parent == "" || s == t.Root()) })
}

// Conversations makes a tree of each session that nobody's call started, with what is below it: a
// fork whose calls name the sub-sessions of the original is of one tree with it, and a session of
// its own. The first one has what is below none.
func (t *Tree) Conversations() []*Tree {
	if len(t.Sessions) < 2 { //nolint:mnd // most trees
		return []*Tree{t}
	}
	parts, of := []*Tree{{}}, map[*Session]*Tree{}
	for i, s := range t.Sessions { // parents come before children
		part := cmp.Or(of[s], parts[0])
		if i > 0 && of[s] == nil && s.Parent == "" && !s.Delegated && !s.LooksDelegated() {
			part = &Tree{}
			parts = append(parts, part)
		}
		part.Sessions = append(part.Sessions, s)
		for _, child := range s.Children {
			of[child] = cmp.Or(of[child], part)
		}
	}
	return parts
}

// SpreadTimes lets the times of the session reach to another one.
func (s *Session) SpreadTimes(at time.Time) {
	if !at.IsZero() && (s.Created.IsZero() || at.Before(s.Created)) {
		s.Created = at
	}
	if at.After(s.Updated) {
		s.Updated = at
	}
}
