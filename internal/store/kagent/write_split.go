package kagent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// createSession makes the row of a session that is split from another one: it is the
// same agent's and the same user's. Its times are those of its events, as the runtime
// would have them, which touches the session with each one (docs/stores/kagent.md#what-is-read).
func createSession(s *session.Session, like eventlog.Row) ([]table.Field, error) {
	row := []table.Field{{Name: "id", Value: s.ID}, {Name: "name", Value: s.Title}}
	for _, column := range []string{"user_id", "deleted_at", "agent_id", "source"} {
		row = append(row, table.Field{Name: column, Value: like.Value(column)})
	}
	for n, name := range []string{"created_at", "updated_at"} {
		value := like.Value(name)
		if last := len(s.Items) - 1; last >= 0 && value != nil {
			at, err := timeLike(value, s.Items[n*last].Position)
			if err != nil && times.Read(value).Wrong != "" {
				return nil, err
			}
			if err == nil { // else the event has no time, and the session keeps that of the other one
				value = at
			}
		}
		row = append(row, table.Field{Name: name, Value: value})
	}
	return row, nil
}

// child is the session that a result named before a change, and the one that it names
// after it.
type child struct {
	was, is       string
	made, given   string // the invocations of the call and of the result
	asked, answer session.Digest
	nth           int // which call with its id of that invocation it answers, from 0 on
}

// children are those of the results of a session that name one, or that leave it.
type children struct {
	byCall map[string][]child
	calls  map[made]int    // how often an invocation makes calls with an id
	known  map[string]bool // the invocations of the session
	differ bool            // a result names another session than before
}

// made are the calls with one id that an invocation makes. Models that number their
// calls give an id again with every turn.
type made struct{ invocation, call string }

// childrenOf are the children of a session; split are the sessions that are new, with the
// ones that they are split from.
func childrenOf(s *change.Session, split map[string]string) *children {
	c := &children{byCall: map[string][]child{}, calls: map[made]int{}, known: map[string]bool{}}
	open := map[string]child{} // what is known of the last call with an id
	for i := range s.Items {
		is := s.Items[i].Is
		c.known[is.Invocation()] = true
		for n := range is.Calls {
			call := &is.Calls[n]
			key := made{is.Invocation(), call.ID}
			asks := child{made: is.Invocation(), nth: c.calls[key]}
			if d := call.Delegation; d != nil {
				asks.asked = d.Task
				if like := split[d.Child]; d.Likely && like != "" { // the result that named it leaves
					link := asks
					link.was, link.is, link.given, c.differ = like, d.Child, is.Invocation(), true
					c.byCall[call.ID] = append(c.byCall[call.ID], link)
				}
			}
			open[call.ID] = asks
			c.calls[key]++
		}
		for n := range is.Results {
			if r := s.Items[i].WasResult(n); r != nil && r.Child != "" {
				link := open[r.CallID]
				link.was, link.is, link.given, link.answer = r.Child, is.Results[n].Child, is.Invocation(), r.Answer
				c.byCall[r.CallID] = append(c.byCall[r.CallID], link)
				c.differ = c.differ || link.was != link.is
			}
		}
	}
	return c
}

// chooseChild says which session a mention in the data of a run's task names from now on.
func (c *children) chooseChild(run *session.Run) func(m *mention) (string, error) {
	return func(m *mention) (string, error) {
		links := filterChildren(c.byCall[m.call], func(l *child) bool { return isCalled(l.was, m.was) })
		if m.invocation != "" && c.known[m.invocation] {
			links = filterChildren(links, func(l *child) bool { return l.isOfInvocation(m.invocation) })
		} else {
			links = narrowChildren(links, func(l *child) bool { return l.isOfInvocation(run.Invocation) })
		}
		links = narrowChildren(links, func(l *child) bool { return m.evidence != 0 && m.evidence == l.evidenceFor(m.answers) })
		if !agreeOnChild(links) {
			links = filterChildren(links, func(l *child) bool {
				return l.nth == m.nth && m.of == c.calls[made{cmp.Or(m.invocation, run.Invocation), m.call}]
			})
			if !agreeOnChild(links) || len(links) == 0 {
				return "", fmt.Errorf("it names session %s for call %s, which several results answer with different sessions", m.was, m.call)
			}
		}
		if len(links) == 0 || links[0].was == links[0].is {
			return m.was, nil
		}
		return links[0].is, nil
	}
}

// isOfInvocation reports whether an invocation made the call or got the result.
func (l *child) isOfInvocation(invocation string) bool {
	return l.made == invocation || l.given == invocation
}

// evidenceFor is what tells a call, or the answer to it, from others with its id.
func (l *child) evidenceFor(answers bool) session.Digest {
	if answers {
		return l.answer
	}
	return l.asked
}

// filterChildren are the links that something holds for.
func filterChildren(links []child, holds func(l *child) bool) (some []child) {
	for i := range links {
		if holds(&links[i]) {
			some = append(some, links[i])
		}
	}
	return some
}

// narrowChildren are these, or all links where it holds for none.
func narrowChildren(links []child, holds func(l *child) bool) []child {
	if some := filterChildren(links, holds); len(some) > 0 {
		return some
	}
	return links
}

// agreeOnChild reports whether all links name the same session now.
func agreeOnChild(links []child) bool {
	return !slices.ContainsFunc(links, func(l child) bool { return l.is != links[0].is })
}

// isCalled reports whether a session is the one with a stored id. Those of several
// users that share an id are called by the user, too, or by the row besides.
func isCalled(name, stored string) bool {
	return name == stored || strings.HasSuffix(name, "/"+stored) || strings.Contains(name, "/"+stored+"#")
}

// The members of an A2A task that name the session that it is in (docs/stores/kagent.md#what-is-read), wherever they
// are but in what tools were told and answered.
var contextMembers = map[string]bool{"contextId": true, "adk_session_id": true, "kagent_session_id": true}

// rewrite is what the data of a task has to name from now on. Both shapes of tasks
// have their messages and parts in the same members.
type rewrite struct {
	move                  // of the task itself; empty when it stays where it is
	moved map[string]move // all tasks that move, by id
	state string          // what the task's becomes, "" where it stays
	// child is the session that a call or its answer names from now on.
	child func(m *mention) (string, error)
}

// move is the session where a task was, and the one where it is.
type move struct{ from, to string }

// applyToTask changes single texts of a task's data and no other byte.
func (r *rewrite) applyToTask(doc []byte) ([]byte, error) {
	return r.rewriteDocument(doc, false)
}

// applyWithin does that in a document which is all that tools were told and answered.
func (r *rewrite) applyWithin(doc []byte) ([]byte, error) { return r.rewriteDocument(doc, true) }

func (r *rewrite) rewriteDocument(doc []byte, said bool) ([]byte, error) {
	value, err := treeOf(doc)
	if err != nil {
		return nil, err
	}
	w := walk{rewrite: r, doc: doc, places: map[string][]byte{}, mentions: mentions{calls: map[turns]int{}}}
	if err := w.visitValue("", value, scope{said: said}); err != nil {
		return nil, err
	}
	err = w.mentions.visitMentions(func(m *mention) error {
		is, err := r.child(m)
		if err == nil && is != m.was {
			w.places[string(m.at)] = quoteText(is)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.state != "" {
		w.places["/status/state"] = quoteText(r.state)
	}
	return jsonedit.ReplaceValues(doc, w.places)
}

// walk is a way through a document.
type walk struct {
	*rewrite
	doc      []byte
	places   map[string][]byte // the texts that change, by their pointers
	mentions mentions
}

// scope is what a value is in.
type scope struct {
	// said is what a tool was told or answered: there only a question to a person, or the
	// answer to it, names a session, together with its task (docs/stores/kagent.md#approvals).
	said       bool
	artifacts  bool   // of the task
	invocation string // that the message or artifact around it says it is of
}

// visitValue goes through a value, the members of an object in the order of their names:
// the history comes before the status, as its messages do.
func (w *walk) visitValue(at jsontext.Pointer, value any, in scope) error {
	switch v := value.(type) {
	case string:
		if in.said && at.LastToken() == "response" {
			return w.visitText(at, v)
		}
	case []any:
		for i, element := range v {
			if err := w.visitValue(at.AppendToken(strconv.Itoa(i)), element, in); err != nil {
				return err
			}
		}
	case map[string]any:
		return w.visitObject(at, v, in)
	}
	return nil
}

func (w *walk) visitObject(at jsontext.Pointer, v map[string]any, in scope) error {
	if data, ok := v["data"].(map[string]any); ok && !in.said {
		w.mentions.collectMentions(at, in, v, data)
	}
	task, _ := v["task_id"].(string)
	home, _ := v["context_id"].(string)
	if m, ok := w.moved[task]; ok && home != "" && isCalled(m.from, home) {
		w.places[string(at.AppendToken("context_id"))] = quoteText(m.to)
	}
	if details, ok := v["metadata"].(map[string]any); ok && at != "" {
		in.invocation = cmp.Or(metadataDetail(details, "invocation_id"), in.invocation)
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		inner, inside := at.AppendToken(name), in
		if !in.said && contextMembers[name] && w.move != (move{}) && v[name] == w.from {
			w.places[string(inner)] = quoteText(w.to)
		}
		inside.said = in.said || name == "data"
		inside.artifacts = in.artifacts || at == "" && name == "artifacts"
		if err := w.visitValue(inner, v[name], inside); err != nil {
			return err
		}
	}
	return nil
}

// metadataDetail is a member of metadata by the names that kagent gives it: see a2aDetails.
func metadataDetail(metadata map[string]any, name string) string {
	first, _ := metadata["adk_"+name].(string)
	second, _ := metadata["kagent_"+name].(string)
	return cmp.Or(first, second)
}

// visitText looks into a text that is JSON itself: ADK has what a person answered so.
func (w *walk) visitText(at jsontext.Pointer, text string) error {
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	stored, _ := jsonedit.RawValue(w.doc, string(at))
	doc, err := openDocument(stored)
	if err != nil {
		return nil //nolint:nilerr // it only looks like JSON
	}
	if err := doc.editObject((&rewrite{moved: w.moved}).applyWithin); err != nil {
		return err
	}
	for _, change := range doc.fieldChanges() {
		w.places[string(at)] = column.Bytes(change.New)
	}
	return nil
}

// rewriteTasks writes what a change means for tasks: those that moved belong to another
// session, and those of a session in which results name other children name these, too.
func rewriteTasks(ctx context.Context, to table.Writer, sessions []*change.Session) error {
	tasks := taskTable{edit: to}
	moves, err := tasks.findMoves(ctx, sessions)
	if err != nil {
		return err
	}
	split := map[string]string{}
	for _, s := range sessions {
		if s.Was == nil {
			split[s.Is.ID] = s.Like
		}
	}
	for _, s := range sessions {
		children := childrenOf(s, split)
		for i := range s.Is.Runs {
			run := &s.Is.Runs[i]
			m, moved := moves[run.ID]
			state := newState(s.Was, run)
			if !moved && !children.differ && state == "" {
				continue
			}
			if err := tasks.rewriteTask(ctx, run.ID, rewrite{move: m, moved: moves, state: state, child: children.chooseChild(run)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// newState is the state of a run that it did not have before, "" for none.
func newState(was *session.Session, run *session.Run) string {
	if was != nil {
		for i := range was.Runs {
			if old := &was.Runs[i]; old.ID == run.ID && old.State != run.State {
				return run.State
			}
		}
	}
	return ""
}

// taskTable is the table of tasks while it is being changed.
type taskTable struct {
	edit table.Writer
}

// findMoves finds the tasks that another session has now, by id.
func (t *taskTable) findMoves(ctx context.Context, sessions []*change.Session) (map[string]move, error) {
	homes := map[string][]string{}
	for _, s := range sessions {
		if s.Was == nil {
			continue
		}
		for i := range s.Was.Runs {
			homes[s.Was.Runs[i].ID] = append(homes[s.Was.Runs[i].ID], s.Was.ID)
		}
	}
	moves := map[string]move{}
	for _, s := range sessions {
		for i := range s.Is.Runs {
			id := s.Is.Runs[i].ID
			was := homes[id]
			if slices.Contains(was, s.Is.ID) {
				continue
			}
			if len(was) != 1 || was[0] != s.Like {
				return nil, problem.New(problem.RolledBack, "", "task %s cannot be moved to session %s: it can only move to a session that is split from its own", id, s.Is.ID)
			}
			row, err := t.readTask(ctx, id)
			if err != nil {
				return nil, err
			}
			from, _ := row.home.(string)
			moves[id] = move{from, s.Is.ID}
		}
	}
	return moves, nil
}

// taskRow is what can change of a task.
type taskRow struct {
	place      table.Place
	home, data any
}

func (t *taskTable) readTask(ctx context.Context, id string) (row taskRow, err error) {
	tasks := table.Selection{Table: tableTasks, Columns: []string{"session_id", "data", "id"}, Key: []string{"id"}, Keys: [][]table.Value{{id}}}
	found := false
	_, err = t.edit.Reader().Scan(ctx, tasks, func(at table.Place, values []table.Value) error {
		if column.Text(values[2]) == id {
			row, found = taskRow{at, table.CloneValue(values[0]), table.CloneValue(values[1])}, true
		}
		return nil
	})
	if err == nil && !found {
		err = problem.New(problem.RolledBack, "Check the store again.", "task %s no longer exists", id)
	}
	return row, err
}

// rewriteTask changes the row of a task where it has to name another session.
func (t *taskTable) rewriteTask(ctx context.Context, id string, r rewrite) error {
	row, err := t.readTask(ctx, id)
	if err != nil {
		return err
	}
	var fields []table.FieldChange
	if r.move != (move{}) {
		fields = append(fields, table.FieldChange{Name: "session_id", Old: row.home, New: r.to})
	}
	doc, err := openDocument(row.data)
	if err != nil && r.move == (move{}) {
		return nil // nobody reads it, and it stays where it is
	}
	if err == nil {
		err = doc.editObject(r.applyToTask)
	}
	if err != nil {
		return problem.New(problem.RolledBack, "Repair the other conversations one by one with --session.", "task %s cannot be changed: %v", id, err)
	}
	fields = append(fields, doc.fieldChanges()...)
	return t.edit.Update(ctx, tableTasks, row.place, fields)
}

// The members that name the session of a worker (docs/stores/kagent.md#what-is-read): in the answer to a call, and
// beside the call.
const (
	childMember = "subagent_session_id"
	childStamp  = "kagent_subagent_session_id"
)

// mention is a place in the data of a task that names the session of a worker.
type mention struct {
	at         jsontext.Pointer
	call, was  string
	invocation string         // that the message or artifact says it is of, "" for none
	answers    bool           // it is in an answer
	evidence   session.Digest // of what the call asked, or of what came back; 0 for none
	// nth and of are which call with this id of the invocation it is, or the answer to
	// it, and how many there are: in the history and the status, which hold one event
	// once, or in the artifacts, which can hold it again.
	nth, of int
	among   turns
}

// turns are the calls with one id in the history, or in the artifacts.
type turns struct {
	made
	artifacts bool
}

// mentions are collected in the order of a document.
type mentions struct {
	list  []mention
	calls map[turns]int
}

// collectMentions looks for mentions in a part with data: a call or the answer to one.
func (m *mentions) collectMentions(at jsontext.Pointer, in scope, part, data map[string]any) {
	call, _ := data["id"].(string)
	response, answers := data["response"]
	among := turns{made{in.invocation, call}, in.artifacts}
	evidence := session.Digest(0)
	if answers {
		evidence = textAt(response, "result")
	} else {
		evidence = textAt(data["args"], "request")
		m.calls[among]++
	}
	for _, place := range []struct {
		holder any
		at     jsontext.Pointer
		name   string
	}{
		{response, at.AppendToken("data").AppendToken("response"), childMember},
		{part["metadata"], at.AppendToken("metadata"), childStamp},
	} {
		members, _ := place.holder.(map[string]any)
		if was, named := members[place.name].(string); named {
			m.list = append(m.list, mention{
				at: place.at.AppendToken(place.name), call: call, was: was, invocation: in.invocation,
				answers: answers, evidence: evidence, nth: m.calls[among] - 1, among: among,
			})
		}
	}
}

// textAt is the digest of a text in an object, 0 for none.
func textAt(object any, name string) session.Digest {
	members, _ := object.(map[string]any)
	text, _ := members[name].(string)
	return session.DigestOf(text)
}

// visitMentions hands all mentions to fn.
func (m *mentions) visitMentions(fn func(m *mention) error) error {
	for i := range m.list {
		one := &m.list[i]
		one.of = m.calls[one.among]
		if err := fn(one); err != nil {
			return err
		}
	}
	return nil
}
