package repair

import (
	"cmp"
	"container/list"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// draft is a tree on which fixes are made, edit by edit: "after" means the place
// at that moment. It gives out a new tree and leaves the one that it began with
// as it was. Every edit of every store means what it means here.
type draft struct {
	before   *session.Tree
	prologue store.Prologue

	sessions  []*draftSession
	byID      map[string]*draftSession
	rows      map[string]*list.Element // of *entry, by session.Ref.Row of the whole record
	behind    map[string]*list.Element // the result that was put last behind a row
	fresh     int                      // names new records
	sets      []session.Edit
	callers   []session.Ref     // records of calls that name another child, as their results do
	gone      []departed        // what was taken out of the tree
	rewritten []rewritten       // what says something else now
	parted    []rewritten       // what lost a result that it had, as it was; the edit only names it
	split     map[string]string // sessions that were split from another one: by id, the id of that one
	fixes     int               // how many there were, with that which is being made
	joins     int               // results that went into new items that were there
}

// draftSession is a session while it is being worked on.
type draftSession struct {
	session.Session
	items   *list.List // of *entry
	touched bool       // its list of items changed
	named   bool       // its results name their tools
	split   bool       // from another session: it begins with its first item
}

// entry is an item while it is being worked on.
type entry struct {
	session.Item
	home    *draftSession
	moved   bool  // to another place, so that its position is void
	came    bool  // from another session, where its position was its time
	left    int   // the number of results that it began with
	parted  bool  // results of it were taken out
	emptied bool  // its blank text was taken away
	omitted []int // its blocks that left, or were media and are notes now
	joined  bool  // it got results besides, so that they are numbered anew
	own     ownParts
}

func newDraft(tree *session.Tree, prologue store.Prologue) *draft {
	d := &draft{
		before: tree, prologue: prologue,
		byID: map[string]*draftSession{}, rows: map[string]*list.Element{}, behind: map[string]*list.Element{},
		split: map[string]string{}, fixes: 1,
	}
	for _, s := range tree.Sessions {
		b := d.addSession(*s)
		for i := range s.Items {
			e := &entry{Item: s.Items[i], home: b, left: len(s.Items[i].Results)}
			d.rows[s.ItemRef(i).Row()] = b.items.PushBack(e)
			b.named = b.named || slices.ContainsFunc(e.Results, func(r session.Result) bool { return r.Name != "" })
			if e.Table() == "" {
				d.fresh++
			}
		}
	}
	return d
}

func (d *draft) addSession(s session.Session) *draftSession {
	s.Items, s.Children = nil, nil
	s.IndexRefs = slices.Clone(s.IndexRefs)
	b := &draftSession{Session: s, items: list.New()}
	d.sessions, d.byID[s.ID] = append(d.sessions, b), b
	return b
}

// applyFix makes all edits of a fix. After an error the draft is void.
func (d *draft) applyFix(edits []session.Edit) error {
	d.fixes++
	for _, e := range edits {
		if err := d.applyEdit(e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Op, e.Ref.Row(), err)
		}
	}
	return nil
}

func (d *draft) applyEdit(e session.Edit) error {
	if at := d.findRecord(e.Ref); at != nil && e.Ref.Pointer != "" && at.Value.(*entry).joined {
		return fmt.Errorf("its parts are numbered differently now")
	}
	if rewordsItem(e) {
		return d.rewriteRecord(e)
	}
	switch e.Op {
	case session.Create:
		if e.Like != "" {
			return d.splitOff(e)
		}
		return d.createSession(e)
	case session.MoveRun:
		return d.moveRun(e)
	case session.Insert:
		return d.insertItem(e)
	case session.Move:
		return d.moveRecord(e)
	case session.RemoveTwin:
		if d.findRecord(e.Twin) == nil {
			return fmt.Errorf("its copy %s does not exist", e.Twin.Row())
		}
		return d.removeRecord(e)
	case session.Quarantine:
		return d.removeRecord(e)
	case session.Set:
		if e.Ref.Table == session.TableRuns {
			return d.endRun(e)
		}
		return d.setValue(e)
	}
	return fmt.Errorf("sessctl does not know this change")
}

// findRecord finds the element of a record, whatever part of it the reference means; nil
// when there is none.
func (d *draft) findRecord(r session.Ref) *list.Element {
	r.Pointer = ""
	return d.rows[r.Row()]
}

func (d *draft) removeRecord(e session.Edit) error {
	taken, err := d.takeOut(e.Ref)
	if err == nil {
		d.gone = append(d.gone, departed{e, taken.Item})
	}
	return err
}

func (d *draft) moveRecord(e session.Edit) error {
	to := d.byID[e.To]
	if to == nil {
		return fmt.Errorf("there is no session %s", e.To)
	}
	if e.After == e.Ref {
		return nil
	}
	from := d.findRecord(e.Ref)
	taken, err := d.takeOut(e.Ref)
	if err != nil {
		return err
	}
	taken.moved = true
	home := from.Value.(*entry).home
	taken.came = taken.came || home != to && home.Tick > 0
	if home != to && taken.Home() != "" { // it is at home now, also where the store named another one or none
		taken.Own().Home = to.ID
	}
	if taken.Role != session.Tool || home != to {
		return d.insertEntry(taken, to, e.After)
	}
	return d.placeAnswer(taken, to, e.After)
}

// takeOut takes a record out, or the one result of it that a reference means.
func (d *draft) takeOut(r session.Ref) (*entry, error) {
	at := d.findRecord(r)
	if at == nil {
		return nil, fmt.Errorf("the record does not exist")
	}
	e := at.Value.(*entry)
	if r.Pointer != "" {
		if err := d.requireWhole(r); err != nil {
			return nil, err
		}
		e.home.touched = true
		was := e.Item
		e.own = ownParts{}
		part, err := e.splitResult(r)
		if err == nil {
			d.parted = append(d.parted, rewritten{edit: session.Edit{Ref: recordOf(r)}, was: was})
		}
		return part, err
	}
	e.home.touched = true
	e.home.items.Remove(at)
	delete(d.rows, r.Row())
	return e, nil
}

// splitResult takes one result out of an item, as an item of its own. The number in the
// pointer is that of the item as it was stored, so results are marked first and
// dropped when the tree is given out.
func (e *entry) splitResult(r session.Ref) (*entry, error) {
	list, n := partOf(r.Pointer)
	if list != inResults || n >= e.left || n >= len(e.Results) || e.Results[n].CallID == takenResult {
		return nil, fmt.Errorf("the record has no such part")
	}
	part := &entry{Item: e.Item, left: 1}
	part.Role = session.Tool
	part.Flags &^= session.Blank | session.BlankText | session.TrailingSpace | session.NullText | session.EmptyCalls
	part.Key += partMark + strconv.Itoa(n)
	part.Calls, part.Blocks, part.Results = nil, nil, []session.Result{e.Results[n]}
	part.Text, part.Size = e.Results[n].Digest, int64(len(e.Results[n].Text))
	if e.Body != nil {
		part.Body = &session.Body{Raw: e.Body.Raw}
	}
	if !e.parted {
		e.Results = slices.Clone(e.Results)
	}
	e.Size = max(e.Size-part.Size, 0)
	e.Results[n], e.parted = session.Result{CallID: takenResult}, true
	return part, nil
}

// takenResult marks a result that was taken out of its item. No store has such
// an id.
const takenResult = "\x00taken"

// insertEntry places an entry directly behind a record; without one it goes to the
// start, behind a prologue that a repair wrote.
func (d *draft) insertEntry(e *entry, to *draftSession, after session.Ref) error {
	e.home = to
	to.touched = true
	row := session.Ref{Table: e.Table(), Key: e.Key}.Row()
	if after == (session.Ref{}) {
		d.rows[row] = to.insertAtStart(e)
		return nil
	}
	place := d.findRecord(after)
	if place == nil || place.Value.(*entry).home != to {
		return fmt.Errorf("the record %s, which it has to follow, is not in session %s", after.Row(), to.ID)
	}
	d.rows[row] = to.items.InsertAfter(e, place)
	return nil
}

func (b *draftSession) insertAtStart(e *entry) *list.Element {
	for at := b.items.Front(); at != nil; at = at.Next() {
		it := at.Value.(*entry)
		if !it.Flags.Has(session.Synthetic) || it.Role == session.Tool {
			return b.items.InsertBefore(e, at)
		}
	}
	return b.items.PushBack(e)
}

// createSession makes a session below another one, which begins with the task that a
// call hands to it.
func (d *draft) createSession(e session.Edit) error {
	if d.byID[e.NewID] != nil {
		return fmt.Errorf("session %s exists already", e.NewID)
	}
	if d.byID[e.To] == nil {
		return fmt.Errorf("there is no session %s", e.To)
	}
	call, made, err := d.findCall(e.Call)
	if err != nil {
		return err
	}
	child := d.addSession(session.Session{ID: e.NewID, Parent: e.To, Created: made.Time})
	// A store that records whose a session is does so for the parent, too.
	if call.Delegation != nil && d.byID[e.To].Agent != "" {
		child.Agent = call.Delegation.Agent
	}
	return d.insertPrologue(child, call, made)
}

// findCall finds the call that an edit takes the task from, and the item that made it.
func (d *draft) findCall(r *session.CallRef) (*session.Call, *entry, error) {
	if r == nil {
		return nil, nil, fmt.Errorf("the change names no call")
	}
	at := d.findRecord(r.Ref)
	if at == nil {
		return nil, nil, fmt.Errorf("the message %s of the call does not exist", r.Ref.Row())
	}
	made := at.Value.(*entry)
	if r.Nth < 0 || r.Nth >= len(made.Calls) {
		return nil, nil, fmt.Errorf("%s has no call %d", r.Ref.Row(), r.Nth)
	}
	return &made.Calls[r.Nth], made, nil
}

// insertPrologue puts the items that a child starts with at its start.
func (d *draft) insertPrologue(child *draftSession, call *session.Call, made *entry) error {
	if d.prologue == nil {
		return fmt.Errorf("stores of this kind cannot hold the task of a sub-session")
	}
	title, items := d.prologue(call)
	child.Title = cmp.Or(child.Title, title)
	if call.Delegation != nil {
		child.Task = call.Delegation.Task
	}
	for i := range items {
		it := items[i]
		it.Time = made.Time
		it.Flags |= session.Synthetic
		if err := d.insertEntry(d.newEntry(it), child, session.Ref{}); err != nil {
			return err
		}
	}
	return nil
}

// newEntry is an entry for a new item, with a key that nothing else has.
func (d *draft) newEntry(it session.Item) *entry {
	it.Own().Table, it.Key = "", newKey+strconv.Itoa(d.fresh)
	d.fresh++
	return &entry{Item: it, moved: true, left: len(it.Results)}
}

// newKey is before the number in the key of a new item.
const newKey = "new-"

func (d *draft) insertItem(e session.Edit) error {
	to := d.byID[e.To]
	if to == nil || e.New == nil {
		return fmt.Errorf("there is no session %s to insert into", e.To)
	}
	if e.New.Prologue {
		call, made, err := d.findCall(e.Call)
		if err != nil {
			return err
		}
		return d.insertPrologue(to, call, made)
	}
	it, err := d.composeItem(e)
	if err != nil {
		return err
	}
	if e.New.Role == session.Tool {
		if to.OneAnswer && e.Call != nil && d.joinResult(&it.Results[0], e) {
			return nil
		}
		return d.placeAnswer(d.newEntry(it), to, e.After)
	}
	return d.insertEntry(d.newEntry(it), to, e.After)
}

// joinResult adds a result to the new item at its place that has others of its turn already, in
// the order of the calls, and reports whether there is one.
func (d *draft) joinResult(r *session.Result, e session.Edit) bool {
	at, last, calls := d.findRecord(e.After), d.behind[e.After.Row()], d.findRecord(e.Call.Ref).Value.(*entry).Calls
	for ; at != nil; at = at.Next() {
		it := at.Value.(*entry)
		makes := func(c session.Call) bool { return c.ID == it.Results[0].CallID }
		if it.Table() == "" && it.Role == session.Tool && slices.ContainsFunc(calls, makes) {
			n := 0
			for _, c := range calls[:e.Call.Nth] {
				if n < len(it.Results) && it.Results[n].CallID == c.ID {
					n++
				}
			}
			it.Results, it.Text, it.joined = slices.Insert(slices.Clip(it.Results), n, *r), 0, true
			d.joins++
			return true
		}
		if last == nil || at == last {
			break
		}
	}
	return false
}

// composeItem composes the item that an edit describes. It has the time of the call that
// it belongs to, because a repair has no clock, and whoever sees the call sees it.
func (d *draft) composeItem(e session.Edit) (session.Item, error) {
	n := e.New
	it := session.Item{Kind: n.Kind, Role: n.Role, Shared: &session.Shared{Agent: n.Agent, Child: n.Child}, Body: &session.Body{}}
	if !n.Restored { // what is put back is no other than what was lost
		it.Flags = session.Synthetic
	}
	tool := ""
	if e.Call != nil {
		call, made, err := d.findCall(e.Call)
		if err != nil {
			return it, err
		}
		if d.byID[e.To].named {
			tool = call.Name
		}
		it.Time, it.Position = made.Time, made.Position
		it.Shared.Branch, it.Shared.Scope, it.Shared.Invocation = made.Branch(), made.Scope(), made.Invocation()
		it.Flags |= made.Flags & session.BySegments // its record is made like that of the call
	}
	text, err := d.textOfNew(n)
	if err != nil {
		return it, err
	}
	it.Text = session.DigestOf(text)
	if n.Role == session.Tool {
		it.Results = []session.Result{{
			CallID: n.CallID, Name: tool, Text: text, Digest: it.Text, IsError: n.IsError, Synthetic: !n.Restored,
		}}
	} else {
		it.Body.Text = text
	}
	if n.Kind == session.SubSession {
		it.Text = 0
	}
	return it, nil
}

// textOfNew is the text of a new item.
func (d *draft) textOfNew(n *session.NewItem) (string, error) {
	if n.TextFrom == (session.Ref{}) {
		return n.Text, nil
	}
	if of := d.byID[n.TextFrom.Session]; of != nil && n.TextFrom.Table == session.TableBackups {
		if text, kept := of.KeptTexts()[n.TextFrom.Row()]; kept {
			return text, nil
		}
	}
	from := d.findRecord(n.TextFrom)
	if from == nil || from.Value.(*entry).Body == nil {
		return "", fmt.Errorf("the text of %s does not exist", n.TextFrom.Row())
	}
	return from.Value.(*entry).Body.Text, nil
}

// splitOff makes a session out of nothing that belongs to whom another one does: a
// part of what that one holds moves there with the next edits. It has no message of
// its own; its title is that of the call that it is for.
func (d *draft) splitOff(e session.Edit) error {
	like := d.byID[e.Like]
	switch {
	case d.byID[e.NewID] != nil:
		return fmt.Errorf("session %s exists already", e.NewID)
	case like == nil:
		return fmt.Errorf("there is no session %s to split", e.Like)
	case d.byID[e.To] == nil:
		return fmt.Errorf("there is no session %s", e.To)
	}
	call, made, err := d.findCall(e.Call)
	if err != nil {
		return err
	}
	s := like.Session
	s.ID, s.Title, s.Created, s.Updated = e.NewID, "", made.Time, made.Time
	s.IndexRefs, s.Faults, s.Runs, s.Raw, s.Task, s.Forked = nil, nil, nil, nil, 0, false
	if s.Parent != "" {
		s.Parent = e.To
	}
	if e.Like == e.To && call.Delegation != nil { // its sub-session, which is gone
		s.Parent, s.Agent, s.User, s.Delegated, s.Task = e.To, call.Delegation.Agent, "", true, call.Delegation.Task
	}
	if d.prologue != nil {
		s.Title, _ = d.prologue(call)
	}
	if like.Task != 0 && call.Delegation != nil {
		s.Task = call.Delegation.Task
	}
	b := d.addSession(s)
	b.split, b.named, b.touched = true, like.named, true
	d.split[e.NewID] = e.Like
	return nil
}

// moveRun takes the record of a run to another session, whole.
func (d *draft) moveRun(e session.Edit) error {
	from, to := d.byID[e.Ref.Session], d.byID[e.To]
	if from == nil || to == nil {
		return fmt.Errorf("the session that it is to leave or to join does not exist")
	}
	n := slices.IndexFunc(from.Runs, func(r session.Run) bool { return r.ID == e.Ref.Key })
	if n < 0 {
		return fmt.Errorf("session %s has no such run", from.ID)
	}
	run := from.Runs[n]
	from.Runs = slices.Delete(slices.Clone(from.Runs), n, n+1)
	to.Runs = append(slices.Clone(to.Runs), run)
	slices.SortStableFunc(to.Runs, func(a, b session.Run) int { return a.Began.Compare(b.Began) })
	return nil
}

// endRun gives a run the state that says that nobody goes on with it.
func (d *draft) endRun(e session.Edit) error {
	s := d.byID[e.Ref.Session]
	if s == nil || e.Field != session.FieldState {
		return fmt.Errorf("the record does not exist")
	}
	n := slices.IndexFunc(s.Runs, func(r session.Run) bool { return r.ID == e.Ref.Key })
	if n < 0 {
		return fmt.Errorf("session %s has no such run", s.ID)
	}
	s.Runs = slices.Clone(s.Runs)
	s.Runs[n].State, s.Runs[n].Open, s.Runs[n].Ends = valueOf(e), false, ""
	return nil
}

// callFollows lets the call of a result name the child that the result names from
// now on: a store keeps it with the result only. It is the last call of that id
// before the result, which is given as it was.
func (d *draft) callFollows(it *entry, was session.Result, child string) {
	var caller *entry
	var nth int
	for at := it.home.items.Front(); at != nil && at.Value.(*entry) != it; at = at.Next() {
		made := at.Value.(*entry)
		if i := slices.IndexFunc(made.Calls, func(c session.Call) bool { return c.ID == was.CallID && c.Delegation != nil }); i >= 0 {
			caller, nth = made, i
		}
	}
	if caller == nil || caller.Calls[nth].Delegation.Child != was.Child {
		return
	}
	told := *caller.Calls[nth].Delegation
	told.Child = child
	caller.ownIn(d.fixes)
	caller.copyCalls()
	caller.Calls[nth].Delegation = &told
	d.callers = append(d.callers, session.Ref{Table: caller.Table(), Key: caller.Key})
}
