package replay

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
)

// tableEvents is the table of items that were put together from events; their
// key is the line where they began.
const tableEvents = "events"

// assembly puts the sessions of a recording together. Message bodies are not on
// the stream: they are rebuilt from the pieces that were streamed, but for those
// of completed sub-sessions.
type assembly struct {
	roots    []*node
	byID     map[string]*node // roots
	byStream map[*stream]*node
}

// node is a session of the recording.
type node struct {
	draft
	session   *session.Session
	parent    *session.Session   // nil for a run's own
	caller    callAt             // the call that started it, in the parent
	below     []*node            // sub-sessions that have not completed
	completed []*session.Session // those that have, with all below them
	results   []session.Item     // which no message holds yet
}

// callAt is a call of an item of a session; the zero value is none.
type callAt struct {
	item, nth int
	known     bool
}

func newAssembly() *assembly {
	return &assembly{byID: map[string]*node{}, byStream: map[*stream]*node{}}
}

// take adds what an event of a session says.
func (a *assembly) take(e *Event, s *stream, step *EventStep) {
	if s == nil {
		return
	}
	n := a.node(s)
	switch e.Kind {
	case UserMessage:
		n.interrupt()
		n.add(e, session.Item{Role: session.User, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	case Choice, Reasoning, PartialCall:
		n.hear(e)
	case Restarted:
		n.draft = draft{}
	case CallStarted:
		n.started(&e.Call)
	case CallAnswered:
		n.results = append(n.results, result(e))
	case MessageAdded:
		n.complete(e, step)
	case ChildCompleted:
		a.completed(n, e, step.Call)
	case TokenUsage:
		if last := n.last(); last != nil && last.Role == session.Assistant && last.Model == "" {
			last.Model = e.Model
		}
	case TitleSet:
		n.session.Title = e.Text
	case Summarized:
		n.add(e, session.Item{Kind: session.Summary, KeptFrom: e.KeptFrom, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	}
}

// node is the session of a stream. That of a run is known by its id: it may go on
// later.
func (a *assembly) node(s *stream) *node {
	n := a.byStream[s]
	if n == nil && s.parent == nil {
		n = a.byID[s.id]
	}
	if n == nil {
		n = &node{session: &session.Session{Agent: s.agent}}
		if s.parent == nil {
			a.roots = append(a.roots, n)
		} else {
			parent := a.node(s.parent)
			n.parent, parent.below = parent.session, append(parent.below, n)
			n.caller = calling(parent.session, s.frame.Call)
		}
	}
	a.byStream[s] = n
	if n.session.ID = s.id; s.parent == nil {
		a.byID[s.id] = n
	} else if s.id == "" {
		n.session.ID = tableEvents + ":" + lineKey(s.line)
	}
	return n
}

// completed puts a sub-session in the place of what was streamed of it. One that
// is told again, because a client connected anew, stays as it is.
func (a *assembly) completed(n *node, e *Event, call string) {
	if e.Child == nil {
		return
	}
	child := e.Child.Root()
	if slices.ContainsFunc(n.completed, func(s *session.Session) bool { return s.ID == child.ID }) {
		return
	}
	told := map[string]*session.Session{}
	for _, s := range e.Child.Sessions {
		told[s.ID] = s
		if root := a.byID[s.ID]; root != nil && root != n { // recorded from the middle on
			a.roots = slices.DeleteFunc(a.roots, func(n *node) bool { return n == root })
			delete(a.byID, s.ID)
		}
	}
	n.below = without(n.below, told)
	n.completed = append(n.completed, e.Child.Sessions...)
	child.Parent = n.session.ID
	calling(n.session, call).starts(child.ID, n.session)
	n.add(e, session.Item{Kind: session.SubSession, Child: child.ID, Body: &session.Body{}})
}

// without leaves out what was streamed of the sessions that were told whole, and
// keeps what is below them and was not told with them: it failed.
func without(list []*node, told map[string]*session.Session) []*node {
	var kept []*node
	for _, n := range list {
		n.below = without(n.below, told)
		whole := told[n.session.ID]
		if whole == nil {
			kept = append(kept, n)
			continue
		}
		for _, c := range n.below {
			if c.parent == n.session && c.caller.known {
				c.caller = calling(whole, n.session.Items[c.caller.item].Calls[c.caller.nth].ID)
			}
			if c.parent == n.session {
				c.parent = whole
			}
		}
		kept = append(kept, n.below...)
	}
	return kept
}

// trees are the sessions as a correct runtime would have stored them.
func (a *assembly) trees() []*session.Tree {
	var list []*session.Tree
	for _, root := range a.roots {
		root.interrupt()
		if root.session.Items == nil && root.below == nil {
			continue
		}
		tree := &session.Tree{}
		root.collect(tree, false)
		adopt(tree)
		list = append(list, tree)
	}
	return list
}

// collect adds the session and all below it to a tree. Of what never completed
// nothing is finished.
func (n *node) collect(tree *session.Tree, lost bool) {
	at := len(tree.Sessions)
	tree.Sessions = append(append(tree.Sessions, n.session), n.completed...)
	for _, s := range tree.Sessions[at:] {
		for i := range s.Items {
			if lost {
				s.Items[i].Flags |= session.Unfinished
			}
		}
	}
	for _, c := range n.below {
		if c.interrupt(); len(c.session.Items) > 0 || len(c.below) > 0 {
			c.session.Parent = c.parent.ID
			c.caller.starts(c.session.ID, c.parent)
			c.collect(tree, true)
		}
	}
}

// calling is the latest call of an id.
func calling(s *session.Session, id string) callAt {
	for i, it := range slices.Backward(s.Items) {
		for nth := range it.Calls {
			if id != "" && it.Calls[nth].ID == id {
				return callAt{i, nth, true}
			}
		}
	}
	return callAt{}
}

// starts records which session a call started.
func (c callAt) starts(id string, caller *session.Session) {
	if c.known && c.item < len(caller.Items) && c.nth < len(caller.Items[c.item].Calls) {
		if d := caller.Items[c.item].Calls[c.nth].Delegation; d != nil {
			d.Child = id
		}
	}
}

// adopt sets the children of all sessions of a tree.
func adopt(tree *session.Tree) {
	byID := map[string]*session.Session{}
	for _, s := range tree.Sessions {
		byID[s.ID] = s
		s.Children = nil
	}
	for _, s := range tree.Sessions[1:] {
		if parent := byID[s.Parent]; parent != nil && parent != s {
			parent.Children = append(parent.Children, s)
		}
	}
}

// add appends an item.
func (n *node) add(e *Event, it session.Item) *session.Item {
	it.Table, it.Position = tableEvents, int64(len(n.session.Items))
	if it.Key == "" {
		it.Key = lineKey(e.Line)
	}
	if it.Time.IsZero() {
		it.Time = e.Time
	}
	n.session.Items = append(n.session.Items, it)
	return n.last()
}

func lineKey(line int64) string { return strconv.FormatInt(line, 10) }

func (n *node) last() *session.Item {
	if len(n.session.Items) == 0 {
		return nil
	}
	return &n.session.Items[len(n.session.Items)-1]
}

// result is the message that a result will be. Runtimes do not store nothing
// (docker agent, runtime/tool_dispatch.go).
func result(e *Event) session.Item {
	const noOutput = "(no output)"
	text := e.Text
	if blank(text) {
		text = noOutput
	}
	digest := session.DigestOf(text)
	return session.Item{
		Role: session.Tool, Agent: e.Agent, Text: digest, Body: &session.Body{}, Time: e.Time, Key: lineKey(e.Line),
		Results: []session.Result{{CallID: e.Call.ID, Name: e.Call.Name, Text: text, Digest: digest, IsError: e.IsError}},
	}
}

// complete adds the message that is complete now.
func (n *node) complete(e *Event, step *EventStep) {
	switch step.Row {
	case session.Tool:
		at := slices.IndexFunc(n.results, func(it session.Item) bool { return it.Results[0].CallID == step.Call })
		it := n.results[at]
		n.results = slices.Delete(n.results, at, at+1)
		it.Agent = cmp.Or(e.Agent, it.Agent)
		n.add(e, it)
	case session.Assistant:
		n.answered(e)
	default: // it was not streamed
		n.add(e, session.Item{Role: session.Assistant, Agent: e.Agent, Flags: session.Blank, Body: &session.Body{}})
	}
}

// answered adds the answer that was streamed.
func (n *node) answered(e *Event) {
	it := n.message()
	it.Agent = cmp.Or(e.Agent, it.Agent)
	n.add(e, it)
	n.draft = draft{}
}

// interrupt adds what was never complete: an answer, and results that no message
// holds.
func (n *node) interrupt() {
	for _, it := range n.results {
		it.Flags |= session.Unfinished
		n.add(&Event{Line: n.line}, it)
	}
	n.results = nil
	if n.empty() {
		return
	}
	it := n.message()
	it.Flags |= session.Unfinished
	n.add(&Event{Line: n.line}, it)
	n.draft = draft{}
}
