package recording

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

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

// add appends an item.
func (n *node) add(e *Event, it session.Item) *session.Item {
	it.Table, it.Position = Table, n.next
	n.next++
	if it.Key == "" {
		it.Key = lineKey(e.Line)
	}
	if it.Time.IsZero() {
		it.Time = e.Time
	}
	n.session.Items = append(n.session.Items, it)
	return n.last()
}

// unnamedID is what a session is called that no event names.
func unnamedID(line int64) string { return Table + ":" + lineKey(line) }

// Unnamed reports whether no event of the recording names the session.
func Unnamed(s *session.Session) bool { return strings.HasPrefix(s.ID, Table+":") }

func lineKey(line int64) string { return strconv.FormatInt(line, 10) }

func (n *node) last() *session.Item {
	if len(n.session.Items) == 0 {
		return nil
	}
	return &n.session.Items[len(n.session.Items)-1]
}

// result is the message that a result will be. Runtimes may have a text for one that is
// blank.
func result(e *Event, noOutput string) session.Item {
	text := e.Text
	if blank(text) && noOutput != "" {
		text = noOutput
	}
	digest := session.DigestOf(text)
	return session.Item{
		Role: session.Tool, Agent: e.Agent, Text: digest, Body: &session.Body{}, Time: e.Time, Key: lineKey(e.Line),
		Results: []session.Result{{CallID: e.Call.ID, Name: e.Call.Name, Text: text, Digest: digest, IsError: e.IsError}},
	}
}

// complete adds the message that is complete now.
func (n *node) complete(e *Event, step *Step) {
	switch step.Row {
	case session.Tool:
		at := slices.IndexFunc(n.results, func(it session.Item) bool { return it.Results[0].CallID == step.Call })
		if at < 0 { // it was added already
			return
		}
		it := n.results[at]
		n.results = slices.Delete(n.results, at, at+1)
		it.Agent = cmp.Or(e.Agent, it.Agent)
		n.add(e, it)
	case session.Assistant:
		if !n.empty() {
			n.answered(e)
		}
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

// interrupt adds what no event said to be complete; unfinished says whether it
// would have been said.
func (n *node) interrupt(unfinished bool) {
	n.flush(unfinished)
	if n.empty() {
		return
	}
	it := n.message()
	if unfinished {
		it.Flags |= session.Unfinished
	}
	n.add(&Event{Line: n.line}, it)
	n.draft = draft{}
}

// flush adds the results that no message holds.
func (n *node) flush(unfinished bool) {
	for _, it := range n.results {
		if unfinished {
			it.Flags |= session.Unfinished
		}
		n.add(&Event{Line: n.line}, it)
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

// starts records which session a call started.
func (c callPlace) starts(id string, caller *session.Session) {
	if c.known && c.item < len(caller.Items) && c.nth < len(caller.Items[c.item].Calls) {
		if d := caller.Items[c.item].Calls[c.nth].Delegation; d != nil {
			d.Child = id
		}
	}
}
