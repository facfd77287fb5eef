package repair

import (
	"container/list"
	"fmt"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// desk is a tree on which fixes are made, edit by edit: "after" means the place
// at that moment. It gives out a new tree and leaves the one that it began with
// as it was. Every edit of every store means what it means here.
type desk struct {
	before   *session.Tree
	prologue store.Prologue

	sessions []*bench
	byID     map[string]*bench
	rows     map[string]*list.Element // of *entry, by session.Ref.Row of the whole record
	behind   map[string]*list.Element // the result that was put last behind a row
	fresh    int                      // names new records
	sets     []session.Edit
	gone     []departed        // what was taken out of the tree
	amended  []amendment       // what says something else now
	parted   []amendment       // what lost a result that it had, as it was; the edit only names it
	split    map[string]string // sessions that were split from another one: by id, the id of that one
	fixes    int               // how many there were, with that which is being made
}

// bench is a session while it is being worked on.
type bench struct {
	session.Session
	items   *list.List // of *entry
	touched bool       // its list of items changed
	named   bool       // its results name their tools
	split   bool       // from another session: it begins with its first item
}

// entry is an item while it is being worked on.
type entry struct {
	session.Item
	home    *bench
	moved   bool // to another place, so that its position is void
	came    bool // from another session, where its position was its time
	left    int  // the number of results that it began with
	parted  bool // results of it were taken out
	emptied bool // its blank text was taken away
	own     ownParts
}

func newDesk(tree *session.Tree, prologue store.Prologue) *desk {
	d := &desk{
		before: tree, prologue: prologue,
		byID: map[string]*bench{}, rows: map[string]*list.Element{}, behind: map[string]*list.Element{},
		split: map[string]string{}, fixes: 1,
	}
	for _, s := range tree.Sessions {
		b := d.add(*s)
		for i := range s.Items {
			e := &entry{Item: s.Items[i], home: b, left: len(s.Items[i].Results)}
			d.rows[s.ItemRef(i).Row()] = b.items.PushBack(e)
			b.named = b.named || slices.ContainsFunc(e.Results, func(r session.Result) bool { return r.Name != "" })
			if e.Table == "" {
				d.fresh++
			}
		}
	}
	return d
}

func (d *desk) add(s session.Session) *bench {
	s.Items, s.Children = nil, nil
	s.IndexRefs = slices.Clone(s.IndexRefs)
	b := &bench{Session: s, items: list.New()}
	d.sessions, d.byID[s.ID] = append(d.sessions, b), b
	return b
}

// fix makes all edits of a fix. After an error the desk is void.
func (d *desk) fix(edits []session.Edit) error {
	d.fixes++
	for _, e := range edits {
		if err := d.edit(e); err != nil {
			return fmt.Errorf("%s %s: %w", e.Op, e.Ref.Row(), err)
		}
	}
	return nil
}

func (d *desk) edit(e session.Edit) error {
	if rewords(e) {
		return d.amend(e)
	}
	switch e.Op {
	case session.Create:
		if e.Like != "" {
			return d.splitOff(e)
		}
		return d.create(e)
	case session.MoveRun:
		return d.moveRun(e)
	case session.Insert:
		return d.insert(e)
	case session.Move:
		return d.move(e)
	case session.RemoveTwin:
		if d.find(e.Twin) == nil {
			return fmt.Errorf("its copy %s is not there", e.Twin.Row())
		}
		return d.remove(e)
	case session.Quarantine:
		return d.remove(e)
	case session.Set:
		return d.set(e)
	}
	return fmt.Errorf("the edit is not known")
}

// find is the element of a record, whatever part of it the reference means; nil
// when there is none.
func (d *desk) find(r session.Ref) *list.Element {
	r.Pointer = ""
	return d.rows[r.Row()]
}

func (d *desk) remove(e session.Edit) error {
	taken, err := d.take(e.Ref)
	if err == nil {
		d.gone = append(d.gone, departed{e, taken.Item})
	}
	return err
}

func (d *desk) move(e session.Edit) error {
	to := d.byID[e.To]
	if to == nil {
		return fmt.Errorf("there is no session %s", e.To)
	}
	if e.After == e.Ref {
		return nil
	}
	from := d.find(e.Ref)
	taken, err := d.take(e.Ref)
	if err != nil {
		return err
	}
	taken.moved = true
	home := from.Value.(*entry).home
	taken.came = taken.came || home != to && home.Tick > 0
	if taken.Role != session.Tool || home != to {
		return d.put(taken, to, e.After)
	}
	return d.answer(taken, to, e.After)
}

// answer puts a result behind a record, and behind the results that were put
// there before: the answers to one turn keep the order in which they come.
func (d *desk) answer(e *entry, to *bench, after session.Ref) error {
	place := after
	if last := d.behind[after.Row()]; last != nil {
		before := last.Value.(*entry)
		place = session.Ref{Table: before.Table, Key: before.Key}
	}
	if err := d.put(e, to, place); err != nil {
		return err
	}
	d.behind[after.Row()] = d.find(session.Ref{Table: e.Table, Key: e.Key})
	return nil
}

// take takes a record out, or the one result of it that a reference means.
func (d *desk) take(r session.Ref) (*entry, error) {
	at := d.find(r)
	if at == nil {
		return nil, fmt.Errorf("the record is not there")
	}
	e := at.Value.(*entry)
	if r.Pointer != "" {
		if err := d.whole(r); err != nil {
			return nil, err
		}
		e.home.touched = true
		was := e.Item
		e.own = ownParts{}
		part, err := e.split(r)
		if err == nil {
			d.parted = append(d.parted, amendment{edit: session.Edit{Ref: recordOf(r)}, was: was})
		}
		return part, err
	}
	e.home.touched = true
	e.home.items.Remove(at)
	delete(d.rows, r.Row())
	return e, nil
}

// split takes one result out of an item, as an item of its own. The number in the
// pointer is that of the item as it was stored, so results are marked first and
// dropped when the tree is given out.
func (e *entry) split(r session.Ref) (*entry, error) {
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

// put places an entry directly behind a record; without one it goes to the
// start, behind a prologue that a repair wrote.
func (d *desk) put(e *entry, to *bench, after session.Ref) error {
	e.home = to
	to.touched = true
	row := session.Ref{Table: e.Table, Key: e.Key}.Row()
	if after == (session.Ref{}) {
		d.rows[row] = to.start(e)
		return nil
	}
	place := d.find(after)
	if place == nil || place.Value.(*entry).home != to {
		return fmt.Errorf("the place %s is not in session %s", after.Row(), to.ID)
	}
	d.rows[row] = to.items.InsertAfter(e, place)
	return nil
}

func (b *bench) start(e *entry) *list.Element {
	for at := b.items.Front(); at != nil; at = at.Next() {
		it := at.Value.(*entry)
		if !it.Flags.Has(session.Synthetic) || it.Role == session.Tool {
			return b.items.InsertBefore(e, at)
		}
	}
	return b.items.PushBack(e)
}
