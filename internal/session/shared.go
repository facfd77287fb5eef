package session

// Shared is what an item has in common with most of those beside it, or what few items have.
// Items of a session point to one as long as it is the same, so nobody changes it in place.
type Shared struct {
	Table string // the table that holds the record

	Agent      string // who produced it, "" for user and system items
	Model      string // the model that produced it, or that a prompt is for; "" when the store does not say
	Provider   string // whose API that is asked through, in the runtime's words; "" when the store does not say
	Branch     string // the path label; see package branch for the other forms
	Invocation string // the run of the runtime that made it
	Scope      string // only agents that run in this scope see it; "" is a scope, too
	Node       string // of a user's message that is for one node of a workflow only, that node's path

	// Home is the session whose run stored it, where the store tells that this is another one
	// than it is in; HomeUnknown where it was one of several; else "".
	Home string

	// Refusal is what the store kept of a request that failed, of which the item is all
	// there is in the place of an answer.
	Refusal Refusal

	Child    string // the sub-session's id, for SubSession items
	KeptFrom int64  // for Summary items: index in the loaded list of the first item kept, 0 for none

	// Outputs are the files that the item says it wrote or refers to, where the store
	// is a folder and its reader looked at them; nil for none.
	Outputs *[]Output
}

var none Shared

func (it *Item) sharedFields() *Shared {
	if it.Shared == nil {
		return &none
	}
	return it.Shared
}

// Table is the table that holds the record.
func (it *Item) Table() string { return it.sharedFields().Table }

// Agent is who produced the item.
func (it *Item) Agent() string { return it.sharedFields().Agent }

// Model is the model that produced it, or that it is for.
func (it *Item) Model() string { return it.sharedFields().Model }

// Provider is whose API the model is asked through.
func (it *Item) Provider() string { return it.sharedFields().Provider }

// Branch is its path label.
func (it *Item) Branch() string { return it.sharedFields().Branch }

// Invocation is the run of the runtime that made it.
func (it *Item) Invocation() string { return it.sharedFields().Invocation }

// Scope is that of the agents that see it.
func (it *Item) Scope() string { return it.sharedFields().Scope }

// Node is the path of the node that it is for.
func (it *Item) Node() string { return it.sharedFields().Node }

// Home is the session whose run stored it.
func (it *Item) Home() string { return it.sharedFields().Home }

// Refusal is what was kept of a request that failed.
func (it *Item) Refusal() Refusal { return it.sharedFields().Refusal }

// Child is the id of the sub-session that it stands for.
func (it *Item) Child() string { return it.sharedFields().Child }

// KeptFrom is where what a summary kept begins.
func (it *Item) KeptFrom() int64 { return it.sharedFields().KeptFrom }

// Outputs are the files that it refers to.
func (it *Item) Outputs() []Output {
	if list := it.sharedFields().Outputs; list != nil {
		return *list
	}
	return nil
}

// SetOutputs gives the item files that it refers to.
func (it *Item) SetOutputs(list []Output) {
	if it.Own().Outputs = nil; len(list) > 0 {
		it.Shared.Outputs = &list
	}
}

// Own gives the item a copy of what it shares, for the caller to change.
func (it *Item) Own() *Shared {
	own := *it.sharedFields()
	it.Shared = &own
	return it.Shared
}

// Sharing lets items that are read one after the other share what they can: what the user's and
// an agent's have stays the same for many turns. The zero value is ready.
type Sharing struct {
	next   Shared
	latest [4]*Shared
	oldest int
}

// Begin gives an item that will be read one of its own, for its reader to fill.
func (s *Sharing) Begin(it *Item, table string) {
	s.next = Shared{Table: table}
	it.Shared = &s.next
}

// Share gives an item that was read the one that one of the last items has, if that is the same.
func (s *Sharing) Share(it *Item) {
	own := it.sharedFields()
	for _, kept := range s.latest {
		if kept != nil && *kept == *own {
			it.Shared = kept
			return
		}
	}
	it.Own()
	s.latest[s.oldest] = it.Shared
	s.oldest = (s.oldest + 1) % len(s.latest)
}
