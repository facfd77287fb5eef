package recording

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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

// takeEvent adds what an event of a session says.
func (a *assembly) takeEvent(e *Event, s *openSession, step *Step) {
	if s == nil {
		return
	}
	n := a.openNode(s)
	switch e.Kind {
	case UserMessage:
		n.interruptAnswer(!a.silent)
		n.next = max(n.next, e.Position)
		n.appendItem(e, session.Item{Role: session.User, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	case Choice, Reasoning, PartialCall:
		if n.isEmpty() {
			n.flushResults(false) // no event says that these are complete
		}
		n.addPiece(e)
	case Restarted:
		n.draft = draft{}
	case CallStarted:
		a.completeImplied(n, e)
		n.noteStarted(&e.Call)
	case CallAnswered:
		a.completeImplied(n, e)
		n.results = append(n.results, resultItem(e, a.noOutput))
	case MessageAdded:
		a.silent = false
		n.completeMessage(e, step)
	case StreamStopped:
		if a.silent {
			n.interruptAnswer(false)
		}
	case ChildCompleted:
		a.replaceCompleted(n, e, step.Call)
	case TokenUsage:
		if last := n.lastItem(); last != nil && last.Role == session.Assistant && last.Model() == "" {
			last.Own().Model = e.Model
		}
	case TitleSet:
		n.session.Title = e.Text
	case Summarized:
		n.interruptAnswer(!a.silent) // a summary stands for what was said before it
		n.appendItem(e, session.Item{Kind: session.Summary, Shared: &session.Shared{KeptFrom: e.KeptFrom}, Text: session.DigestOf(e.Text), Body: &session.Body{Text: e.Text}})
	}
}

// completeImplied completes an answer whose call runs.
func (a *assembly) completeImplied(n *node, e *Event) {
	if _, made := n.at[e.Call.ID]; made {
		n.addAnswer(e)
		a.silent = true
	}
}

// openNode is the session of a stream. That of a run is known by its id: it may go on
// later.
func (a *assembly) openNode(s *openSession) *node {
	n := a.nodes[s]
	if n == nil && s.parent == nil && s.id != "" {
		n = a.byID[s.id]
	}
	if n == nil {
		n = &node{session: &session.Session{Agent: s.agent}, began: s.line}
		if s.parent == nil {
			a.roots = append(a.roots, n)
		} else {
			parent := a.openNode(s.parent)
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

// replaceCompleted puts a sub-session in the place of what was streamed of it. One that
// is told again, because a client connected anew, stays as it is.
func (a *assembly) replaceCompleted(n *node, e *Event, call string) {
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
	n.below = dropTold(n.below, told)
	n.completed = append(n.completed, e.Child.Sessions...)
	child.Parent = n.session.ID
	latestCall(n.session, call).recordChild(child.ID, n.session)
	n.appendItem(e, session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: child.ID}, Body: &session.Body{}})
}

// dropTold leaves out what was streamed of the sessions that were told whole, and
// keeps what is below them and was not told with them: it failed.
func dropTold(list []*node, told map[string]*session.Session) []*node {
	var kept []*node
	for _, n := range list {
		n.below = dropTold(n.below, told)
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

// buildTrees builds the sessions as a correct runtime would have stored them.
func (a *assembly) buildTrees() []*session.Tree {
	var list []*session.Tree
	for _, root := range a.roots {
		root.interruptAnswer(!a.silent)
		if root.session.Items == nil && root.below == nil {
			continue
		}
		tree := &session.Tree{}
		root.collectTree(tree, false, map[string]bool{})
		linkChildren(tree)
		list = append(list, tree)
	}
	return list
}

// collectTree adds the session and all below it to a tree. Of what never completed
// nothing is finished.
func (n *node) collectTree(tree *session.Tree, lost bool, ids map[string]bool) {
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
		if c.interruptAnswer(true); len(c.session.Items) > 0 || len(c.below) > 0 {
			c.session.Parent = c.parent.ID
			c.caller.recordChild(c.session.ID, c.parent)
			c.collectTree(tree, true, ids)
		}
	}
}

// linkChildren sets the children of all sessions of a tree.
func linkChildren(tree *session.Tree) {
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

// draft is an answer that is streaming.
type draft struct {
	line            int64 // where it began
	agent           string
	text, reasoning strings.Builder
	calls           []draftCall
	at              map[string]int // where in calls one is, by its id
}

// draftCall is a call whose arguments are coming in.
type draftCall struct {
	id, name string
	args     *strings.Builder
}

func (d *draft) isEmpty() bool { return d.line == 0 }

// addPiece adds a piece.
func (d *draft) addPiece(e *Event) {
	d.line, d.agent = cmp.Or(d.line, e.Line), cmp.Or(e.Agent, d.agent)
	switch e.Kind {
	case Choice:
		d.text.WriteString(e.Text)
	case Reasoning:
		d.reasoning.WriteString(e.Text)
	case PartialCall:
		d.addCallPiece(&e.Call)
	}
}

// addCallPiece adds a piece of a call. Until v1.33 of docker agent each event holds all
// arguments so far, from v1.34.0 on what is new (#2163).
func (d *draft) addCallPiece(c *session.Call) {
	n, known := d.at[c.ID]
	if !known {
		if d.at == nil {
			d.at = map[string]int{}
		}
		n = len(d.calls)
		d.at[c.ID] = n
		d.calls = append(d.calls, draftCall{id: c.ID, args: &strings.Builder{}})
	}
	call := &d.calls[n]
	call.name = cmp.Or(c.Name, call.name)
	if len(c.Args) > call.args.Len() && strings.HasPrefix(c.Args, call.args.String()) {
		call.args.Reset()
	}
	call.args.WriteString(c.Args)
}

// answerItem is the answer so far.
func (d *draft) answerItem() session.Item {
	text := d.text.String()
	it := session.Item{
		Role: session.Assistant, Shared: &session.Shared{Agent: d.agent}, Text: session.DigestOf(text),
		Body: &session.Body{Text: text, Reasoning: d.reasoning.String()},
	}
	for _, c := range d.calls {
		it.Calls = append(it.Calls, session.Call{ID: c.id, Name: c.name, Args: c.args.String()})
		interpretArguments(&it.Calls[len(it.Calls)-1])
	}
	if isBlank(text) && len(it.Calls) == 0 {
		it.Flags |= session.Blank
	}
	return it
}

// interpretArguments tells what the arguments of a call mean.
func interpretArguments(c *session.Call) {
	c.Delegation, c.Form = session.DelegationFor(c.Name, c.Args), session.FormOf(c.Args)
}

// noteStarted notes a call that runs. A hook may have changed its arguments, which the
// stored message does not know of: they count only where the pieces are no JSON,
// or where no piece was recorded.
func (n *node) noteStarted(c *session.Call) {
	for i := len(n.session.Items) - 1; i >= 0; i-- {
		it := &n.session.Items[i]
		if it.Role != session.Assistant {
			continue
		}
		at := slices.IndexFunc(it.Calls, func(known session.Call) bool { return known.ID == c.ID })
		switch {
		case at < 0 && !it.Flags.Has(session.Blank):
			return
		case at < 0:
			it.Calls, it.Flags = append(it.Calls, session.Call{ID: c.ID, Name: c.Name, Args: c.Args}), it.Flags&^session.Blank
			at = len(it.Calls) - 1
		case it.Calls[at].Form == session.ArgsBroken:
			it.Calls[at].Args = c.Args
		}
		interpretArguments(&it.Calls[at])
		return
	}
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// node is a session of the recording.
type node struct {
	draft
	session   *session.Session
	began     int64              // the line where it opened
	next      int64              // the position of the next item
	parent    *session.Session   // nil for a run's own
	caller    callPlace          // the call that started it, in the parent
	below     []*node            // sub-sessions that have not completed
	completed []*session.Session // those that have, with all below them
	whole     map[string]bool    // ids of those that have
	results   []session.Item     // which no message holds yet
}

// callPlace is a call of an item of a session; the zero value is none.
type callPlace struct {
	item, nth int
	known     bool
}

// appendItem appends an item.
func (n *node) appendItem(e *Event, it session.Item) {
	it.Own().Table, it.Key, it.Position = Table, cmp.Or(it.Key, lineKey(e.Line)), n.next
	n.next++
	if it.Time.IsZero() {
		it.Time = e.Time
	}
	n.session.Items = append(n.session.Items, it)
}

// unnamedID is what a session is called that no event names.
func unnamedID(line int64) string { return Table + ":" + lineKey(line) }

// IsUnnamed reports whether no event of the recording names the session.
func IsUnnamed(s *session.Session) bool { return strings.HasPrefix(s.ID, Table+":") }

func lineKey(line int64) string { return strconv.FormatInt(line, 10) }

func (n *node) lastItem() *session.Item {
	if len(n.session.Items) == 0 {
		return nil
	}
	return &n.session.Items[len(n.session.Items)-1]
}

// resultItem is the message that a result will be. Runtimes may have a text for one that is
// blank.
func resultItem(e *Event, noOutput string) session.Item {
	text := e.Text
	if isBlank(text) && noOutput != "" {
		text = noOutput
	}
	digest := session.DigestOf(text)
	return session.Item{
		Role: session.Tool, Shared: &session.Shared{Agent: e.Agent}, Text: digest, Body: &session.Body{}, Time: e.Time, Key: lineKey(e.Line),
		Results: []session.Result{{CallID: e.Call.ID, Name: e.Call.Name, Text: text, Digest: digest, IsError: e.IsError}},
	}
}

// completeMessage adds the message that is complete now.
func (n *node) completeMessage(e *Event, step *Step) {
	switch step.Row {
	case session.Tool:
		at := slices.IndexFunc(n.results, func(it session.Item) bool { return it.Results[0].CallID == step.Call })
		if at < 0 { // it was added already
			return
		}
		it := n.results[at]
		n.results = slices.Delete(n.results, at, at+1)
		it.Own().Agent = cmp.Or(e.Agent, it.Agent())
		n.appendItem(e, it)
	case session.Assistant:
		if !n.isEmpty() {
			n.addAnswer(e)
		}
	default: // it was not streamed
		n.appendItem(e, session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: e.Agent}, Flags: session.Blank, Body: &session.Body{}})
	}
}

// addAnswer adds the answer that was streamed.
func (n *node) addAnswer(e *Event) {
	it := n.answerItem()
	it.Own().Agent = cmp.Or(e.Agent, it.Agent())
	n.appendItem(e, it)
	n.draft = draft{}
}

// interruptAnswer adds what no event said to be complete; unfinished says whether it
// would have been said.
func (n *node) interruptAnswer(unfinished bool) {
	n.flushResults(unfinished)
	if n.isEmpty() {
		return
	}
	it := n.answerItem()
	if unfinished {
		it.Flags |= session.Unfinished
	}
	n.appendItem(&Event{Line: n.line}, it)
	n.draft = draft{}
}

// flushResults adds the results that no message holds.
func (n *node) flushResults(unfinished bool) {
	for _, it := range n.results {
		if unfinished {
			it.Flags |= session.Unfinished
		}
		n.appendItem(&Event{Line: n.line}, it)
	}
	n.results = nil
}

// latestCall is the latest call of an id.
func latestCall(s *session.Session, id string) callPlace {
	for i, it := range slices.Backward(s.Items) {
		for nth := range it.Calls {
			if id != "" && it.Calls[nth].ID == id {
				return callPlace{i, nth, true}
			}
		}
	}
	return callPlace{}
}

// recordChild records which session a call started.
func (c callPlace) recordChild(id string, caller *session.Session) {
	if c.known && c.item < len(caller.Items) && c.nth < len(caller.Items[c.item].Calls) {
		if d := caller.Items[c.item].Calls[c.nth].Delegation; d != nil {
			d.Child = id
		}
	}
}
