package recording

import (
	"slices"

	"github.com/sessctl/sessctl/internal/session"
)

// assembly puts the sessions of a recording together. Message bodies are not on
// the stream: they are rebuilt from the pieces that were streamed, but for those
// of completed sub-sessions.
type assembly struct {
	roots    []*node
	byID     map[string]*node // roots
	nodes    map[*openSession]*node
	noOutput string // see NewRecorder
	// silent: no event says when a message is complete.
	silent bool
}

func newAssembly(noOutput string) *assembly {
	return &assembly{noOutput: noOutput, byID: map[string]*node{}, nodes: map[*openSession]*node{}}
}

// take adds what an event of a session says.
func (a *assembly) take(e *Event, s *openSession, step *Step) {
	if s == nil {
		return
	}
	n := a.node(s)
	switch e.Kind {
	case UserMessage:
		n.interrupt(!a.silent)
		n.next = max(n.next, e.Position)
		n.add(e, session.Item{Role: session.User, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	case Choice, Reasoning, PartialCall:
		if n.empty() {
			n.flush(false) // no event says that these are complete
		}
		n.hear(e)
	case Restarted:
		n.draft = draft{}
	case CallStarted:
		a.imply(n, e)
		n.started(&e.Call)
	case CallAnswered:
		a.imply(n, e)
		n.results = append(n.results, result(e, a.noOutput))
	case MessageAdded:
		a.silent = false
		n.complete(e, step)
	case StreamStopped:
		if a.silent {
			n.interrupt(false)
		}
	case ChildCompleted:
		a.completed(n, e, step.Call)
	case TokenUsage:
		if last := n.last(); last != nil && last.Role == session.Assistant && last.Model == "" {
			last.Model = e.Model
		}
	case TitleSet:
		n.session.Title = e.Text
	case Summarized:
		n.interrupt(!a.silent) // a summary stands for what was said before it
		n.add(e, session.Item{Kind: session.Summary, KeptFrom: e.KeptFrom, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	}
}

// imply completes an answer whose call runs.
func (a *assembly) imply(n *node, e *Event) {
	if n.makes(e.Call.ID) {
		n.answered(e)
		a.silent = true
	}
}

// node is the session of a stream. That of a run is known by its id: it may go on
// later.
func (a *assembly) node(s *openSession) *node {
	n := a.nodes[s]
	if n == nil && s.parent == nil && s.id != "" {
		n = a.byID[s.id]
	}
	if n == nil {
		n = &node{session: &session.Session{Agent: s.agent}, began: s.line}
		if s.parent == nil {
			a.roots = append(a.roots, n)
		} else {
			parent := a.node(s.parent)
			n.parent, parent.below = parent.session, append(parent.below, n)
			n.caller = latestCall(parent.session, s.frame.Call)
		}
	}
	a.nodes[s] = n
	n.session.ID = s.id
	switch {
	case s.parent == nil && s.id == "":
		n.session.ID = unnamedID(s.line)
	case s.parent == nil:
		a.byID[s.id] = n
	case s.id == "":
		n.session.ID = unnamedID(s.line) + "/sub-session"
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
	if n.whole[child.ID] || child.ID == n.session.ID {
		return
	}
	if n.whole == nil {
		n.whole = map[string]bool{}
	}
	n.whole[child.ID] = true
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
	latestCall(n.session, call).starts(child.ID, n.session)
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
				c.caller = latestCall(whole, n.session.Items[c.caller.item].Calls[c.caller.nth].ID)
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
		root.interrupt(!a.silent)
		if root.session.Items == nil && root.below == nil {
			continue
		}
		tree := &session.Tree{}
		root.collect(tree, false, map[string]bool{})
		adopt(tree)
		list = append(list, tree)
	}
	return list
}

// collect adds the session and all below it to a tree. Of what never completed
// nothing is finished.
func (n *node) collect(tree *session.Tree, lost bool, ids map[string]bool) {
	at := len(tree.Sessions)
	for ids[n.session.ID] { // a damaged stream names two
		n.session.ID = unnamedID(n.began) + n.session.ID
	}
	for _, s := range append([]*session.Session{n.session}, n.completed...) {
		if !ids[s.ID] {
			ids[s.ID] = true
			tree.Sessions = append(tree.Sessions, s)
		}
	}
	for _, s := range tree.Sessions[at:] {
		for i := range s.Items {
			if lost {
				s.Items[i].Flags |= session.Unfinished
			}
		}
	}
	for _, c := range n.below {
		if c.interrupt(true); len(c.session.Items) > 0 || len(c.below) > 0 {
			c.session.Parent = c.parent.ID
			c.caller.starts(c.session.ID, c.parent)
			c.collect(tree, true, ids)
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
