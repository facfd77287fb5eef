package agenttest

// recorder writes the events of a run to the store, as the runtime's persistent
// layer does. It sees the events of all conversations of the run.
type recorder struct {
	db     *DB
	root   *conversation
	scoped bool // v1.32.1 and later: streamed and finished messages of other sessions are dropped
	stored map[*conversation]*Session

	streaming *Item         // the row of the message that is streaming, in the root's session
	streamer  *conversation // who streams
	leaks     []leak
	taken     []taken
}

// leak is a row of the root's session that holds a message of a child.
type leak struct {
	item  *Item
	child *conversation
	entry *entry // nil when the message was never finished
}

// taken is a row of the root's session that a child began to stream and that a
// result of the root then took over: its agent_name is still the child's.
type taken struct {
	item  *Item
	entry *entry
}

func newRecorder(db *DB, root *conversation, scoped bool) *recorder {
	session := db.Root(root.row)
	root.row = session.row
	return &recorder{db: db, root: root, scoped: scoped, stored: map[*conversation]*Session{root: session}}
}

// user records what the user said.
func (r *recorder) user(e *entry) {
	e.stored = r.stored[r.root].add(e.item())
	e.inRoot = e.stored
}

// stop is the end of a run: what was streaming stays as it is.
func (r *recorder) stop() {
	if r.streaming != nil && r.streamer != r.root {
		r.leaks = append(r.leaks, leak{r.streaming, r.streamer, nil})
	}
	r.streaming = nil
}

// streamed records the text and reasoning of an answer before it is finished.
// Without scoping they go into the root's session, whoever speaks.
func (r *recorder) streamed(c *conversation, agent, text, reasoning string) {
	if r.scoped && c != r.root {
		return
	}
	r.streaming, r.streamer = r.stored[r.root].Placeholder(agent, text, reasoning), c
}

// added records a finished message. It takes the row of what was streaming,
// whoever streamed it; else it gets a row of its own, if the session has one:
// a child's has none before it is complete.
func (r *recorder) added(c *conversation, e *entry) {
	if r.scoped && c != r.root {
		return
	}
	item := r.streaming
	switch {
	case item != nil:
		item.replace(encode(e.message), e.implicit)
		e.inRoot = item
		r.attribute(c, e, item)
		r.streaming = nil
	case r.stored[c] != nil:
		item = r.stored[c].add(e.item())
	}
	if c == r.root {
		e.stored, e.inRoot = item, item
	}
}

// attribute keeps the truth about a row of the root's session that was streamed.
func (r *recorder) attribute(c *conversation, e *entry, item *Item) {
	switch {
	case c != r.root:
		r.leaks = append(r.leaks, leak{item, c, e})
	case r.streamer != r.root:
		r.taken = append(r.taken, taken{item, e})
	}
}

// completed stores a child with everything below it. It fails, and the runtime
// only warns, when the caller has no row yet (it stores the child later, with
// itself) or when a compaction stored the child's row already.
func (r *recorder) completed(caller, child *conversation) {
	parent := r.stored[caller]
	if parent == nil || r.anyStored(child) {
		return
	}
	session := r.store(parent, child)
	r.db.lag(parent)
	r.db.lag(session)
	parent.insert(&Item{child: session})
}

func (r *recorder) anyStored(c *conversation) bool {
	if r.stored[c] != nil {
		return true
	}
	for _, e := range c.entries {
		if e.child != nil && r.anyStored(e.child) {
			return true
		}
	}
	return false
}

func (r *recorder) store(parent *Session, c *conversation) *Session {
	session := parent.Child(c.row)
	r.stored[c] = session
	for _, e := range c.entries {
		if e.child != nil {
			session.insert(&Item{child: r.store(session, e.child)})
			continue
		}
		e.stored = session.insert(e.item())
	}
	return session
}

// item is the entry as the store takes it.
func (e *entry) item() *Item {
	if e.summary != nil {
		return &Item{summary: e.summary}
	}
	return &Item{agent: e.agent, message: encode(e.message), implicit: e.implicit}
}

// compacting stores the row of a session that is about to be compacted, unless
// its caller has none.
func (r *recorder) compacting(c *conversation) {
	if r.stored[c] == nil && r.stored[c.caller] != nil {
		r.stored[c] = r.stored[c.caller].Child(c.row)
	}
}

// summarized records a compaction, which no version drops.
func (r *recorder) summarized(c *conversation, e *entry) {
	if session := r.stored[c]; session != nil {
		e.stored = session.add(e.item())
	}
}

// tokens updates the counters of the root, the only ones that are stored while
// a run goes on.
func (r *recorder) tokens(c *conversation, u *Usage) {
	if c == r.root {
		r.stored[c].Tokens(u)
	}
}
