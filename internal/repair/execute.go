package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// executed is a plan carried out on one tree in memory: what a store has to make
// of it, and what has to be true afterwards.
type executed struct {
	store.Change
	gone    []departed  // what was stored and left the tree
	amended []rewritten // of what was stored, in the order in which it was made
	edited  recordSet   // those of amended that are still there: they are to hold other bytes
	set     recordSet   // items with a value beside what they say that the plan sets: they may hold other bytes
	added   int         // items that the plan adds
	kept    []Kept
	fresh   [][2]int // of each fix: the numbers of the items that it adds, and the number after them
	emptied []string // keys of records that are gone, as every result of them is a row of its own or left
	parted  map[string]parting

	countsRows bool // records that are stored anew have other keys: session.Keys
}

// mergeTree adds what the ledger of a batch needs to know of another tree.
func (c *executed) mergeTree(other *executed) {
	c.gone, c.amended, c.added = append(c.gone, other.gone...), append(c.amended, other.amended...), c.added+other.added
	maps.Copy(c.edited, other.edited)
	maps.Copy(c.set, other.set)
	c.emptied = append(c.emptied, other.emptied...)
}

// recordSet is a set of stored records, by their rows.
type recordSet map[string]session.Ref

func (r recordSet) hasRecord(ref session.Ref) bool { return r[recordOf(ref).Row()] != session.Ref{} }

func (r recordSet) addRecord(ref session.Ref) {
	record := recordOf(ref)
	r[record.Row()] = record
}

// Kept is an item that left the store or says something else now, as the receipt
// keeps it.
type Kept struct {
	Session string `json:"session"`
	Item    int    `json:"item"`             // its position before the repair
	Row     string `json:"row"`              // the record
	Rule    string `json:"rule"`             // whose repair it was
	Edited  bool   `json:"edited,omitempty"` // the record is still stored, and says something else
	Twin    string `json:"twin,omitempty"`   // the row that holds the same bytes and stays
	// the record as it was stored, if it is UTF-8 and has no copy; of several parts of one, the first
	// has it
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"` // the record, if it is not UTF-8
	Child  string `json:"child,omitempty"`  // the sub-session that a reference named
}

// executeFixes makes the fixes of a plan on a tree of a store, which may be nil where no
// item of it says anything of others.
func (t *Tree) executeFixes(tree *session.Tree, prologue store.Prologue, st store.Store) (*executed, error) {
	c := &executed{Change: store.Change{Before: tree, After: tree, Split: map[string]string{}}, edited: recordSet{}, set: recordSet{}, parted: map[string]parting{}}
	places := newOrigin(tree)
	first := map[string]Kept{} // of every record that is amended, by row
	told := map[string]bool{}  // records of which a part left, by row: each is kept once
	for _, fixes := range t.fixRounds() {
		d := newDraft(c.After, prologue)
		for _, f := range fixes {
			gone, amended, parted, fresh := len(d.gone), len(d.rewritten), len(d.parted), d.fresh
			if err := d.applyFix(f.Edits); err != nil {
				return nil, fmt.Errorf("the plan does not fit session %s: %s: %w", t.Root, f.Rule, err)
			}
			c.fresh = append(c.fresh, [2]int{fresh, d.fresh})
			for _, gone := range d.gone[gone:] {
				if gone.item.Table() != "" { // else an earlier round added it
					k := gone.keptRecord(f.Rule, places)
					if row := wholeRow(gone.edit.Ref); gone.edit.Ref.Pointer != "" {
						if told[row] {
							k.Text, k.Base64 = "", nil
						}
						told[row] = true
					}
					c.gone, c.kept = append(c.gone, gone), append(c.kept, k)
				}
			}
			for _, a := range d.parted[parted:] {
				row := a.edit.Ref.Row()
				if _, known := c.parted[row]; a.was.Table() != "" && !known {
					c.parted[row] = parting{a.edit.Ref, a.keptOriginal(f.Rule, places)}
				}
			}
			for _, a := range d.rewritten[amended:] {
				if a.was.Table() == "" {
					continue // an earlier round added it
				}
				c.amended = append(c.amended, a)
				if row := recordOf(a.edit.Ref).Row(); first[row].Row == "" {
					first[row] = a.keptOriginal(f.Rule, places)
				}
			}
		}
		c.Sets = append(c.Sets, d.sets...)
		for _, e := range d.sets {
			c.set.addRecord(e.Ref)
		}
		for _, caller := range d.callers {
			c.set.addRecord(caller)
		}
		maps.Copy(c.Split, d.split)
		c.After = relateItems(st, d.buildTree())
	}
	c.forgetRestored(first)
	c.countChanges(first)
	return c, nil
}

// forgetRestored forgets the edits of items that say in the end what they said: a fix can put back
// what one of an earlier round changed.
func (c *executed) forgetRestored(amended map[string]Kept) {
	before := map[string]*session.Item{}
	for _, s := range c.Before.Sessions {
		for i := range s.Items {
			if row := s.ItemRef(i).Row(); amended[row].Row != "" {
				before[row] = &s.Items[i]
			}
		}
	}
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			row := s.ItemRef(i).Row()
			was := before[row]
			if was == nil || c.amends(s.ItemRef(i), session.Scrub) { // of which the model may hold nothing
				continue
			}
			is := s.Items[i]
			if is.Position, is.Meaning = was.Position, was.Meaning; reflect.DeepEqual(is, *was) {
				s.Items[i].Meaning = was.Meaning
				delete(amended, row)
				c.amended = slices.DeleteFunc(c.amended, func(a rewritten) bool { return recordOf(a.edit.Ref).Row() == row })
			}
		}
	}
}

// inRows makes of the plan what it is for a store that keeps its rows: there a
// result that leaves an item is a row of its own, and the row that it left says
// something else, or is gone with the last of them.
func (c *executed) inRows() {
	there := recordSet{}
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if ref := s.ItemRef(i); isPart(ref) && ref.Table != "" {
				c.added++
			} else {
				there.addRecord(ref)
			}
		}
	}
	for i := range c.gone {
		if ref := c.gone[i].edit.Ref; ref.Pointer == "" {
			delete(c.parted, ref.Row()) // what was left of it left, too
		}
	}
	for _, row := range sortedKeys(c.parted) {
		p := c.parted[row]
		if there.hasRecord(p.ref) {
			if c.edited.hasRecord(p.ref) {
				continue
			}
			c.edited.addRecord(p.ref)
		} else {
			p.kept.Edited = false
			c.emptied = append(c.emptied, p.ref.Key)
			if c.edited.hasRecord(p.ref) { // parts of it were changed before they left: the receipt has it
				delete(c.edited, row)
				continue
			}
		}
		c.kept = append(c.kept, p.kept)
	}
}

// parting is a record that lost results that it had, as the receipt keeps it.
type parting struct {
	ref  session.Ref
	kept Kept
}

// countChanges notes what is new in the tree, and what is still there of what was
// amended.
func (c *executed) countChanges(amended map[string]Kept) {
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if s.Items[i].Table() == "" {
				c.added++
				continue
			}
			ref := s.ItemRef(i)
			if k, ok := amended[recordOf(ref).Row()]; ok && !c.edited.hasRecord(ref) {
				c.edited.addRecord(ref)
				c.kept = append(c.kept, k)
			}
		}
	}
}

// departed is what left a tree, as it was then: an item, or a part of one.
type departed struct {
	edit session.Edit
	item session.Item
}

// keptRecord is how the receipt tells of it.
func (d *departed) keptRecord(rule string, places *origin) Kept {
	at := places.placeOf(d.edit.Ref)
	k := Kept{Session: at.Session, Item: at.Item, Row: d.edit.Ref.Row(), Rule: rule, Child: d.item.Child()}
	switch {
	case d.edit.Op == session.RemoveTwin:
		k.Twin = d.edit.Twin.Row()
	case d.item.Body != nil:
		k.Text, k.Base64 = textOrBytes(d.item.Body)
	}
	return k
}

// keptOriginal is how the receipt tells of a record that says something else now: as it
// was stored.
func (a *rewritten) keptOriginal(rule string, places *origin) Kept {
	at := places.placeOf(a.edit.Ref)
	k := Kept{Session: at.Session, Item: at.Item, Row: recordOf(a.edit.Ref).Row(), Rule: rule, Edited: true}
	if a.was.Body != nil {
		k.Text, k.Base64 = textOrBytes(a.was.Body)
	}
	return k
}

// usedRows are the rows of the items whose bodies the edits of some fixes use; told: or the steps
// that tell of them.
func usedRows(fixes []Fix, told bool) map[string]bool {
	rows := map[string]bool{}
	for _, f := range fixes {
		for _, e := range f.Edits {
			if told || e.Op == session.Quarantine || e.Ref.Pointer != "" || rewordsItem(e) {
				rows[recordOf(e.Ref).Row()] = true
			}
			if e.Call != nil {
				rows[wholeRow(e.Call.Ref)] = true
			}
			if e.New != nil {
				rows[wholeRow(e.New.TextFrom)] = true
			}
		}
	}
	return rows
}

// hasRows reports whether all of some rows are among others.
func hasRows(among, rows map[string]bool) bool {
	for row := range rows {
		if !among[row] {
			return false
		}
	}
	return true
}

// fillItems loads the bodies of the items of some rows, nil for all.
func fillItems(ctx context.Context, st store.Store, tree *session.Tree, rows map[string]bool) error {
	if rows == nil {
		return st.Fill(ctx, tree)
	}
	part := &session.Tree{}
	for _, s := range tree.Sessions {
		some := *s
		some.Items = nil
		for i := range s.Items {
			if rows[wholeRow(s.ItemRef(i))] {
				some.Items = append(some.Items, s.Items[i])
			}
		}
		part.Sessions = append(part.Sessions, &some) // those without items, too: a store reads them together
	}
	err := st.Fill(ctx, part)
	copyBodies(tree, part)
	return err
}

// copyBodies gives the items of a tree the bodies that were loaded of a part of it.
func copyBodies(tree, part *session.Tree) {
	filled := map[string]*session.Item{}
	for _, s := range part.Sessions {
		for i := range s.Items {
			filled[wholeRow(s.ItemRef(i))] = &s.Items[i]
		}
	}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if f := filled[wholeRow(s.ItemRef(i))]; f != nil {
				s.Items[i] = *f
			}
		}
	}
}

// Foresee is what the plan makes of its tree, whose bodies are loaded.
func (t *Tree) Foresee(tree *session.Tree, prologue store.Prologue) (*session.Tree, error) {
	c, err := t.executeFixes(tree, prologue, nil)
	if err != nil {
		return nil, err
	}
	return c.After, nil
}

// rehearsal asks a store whether it can write the fixes that are planned for a tree. What
// it cannot write is left out, and the others are made.
type rehearsal struct {
	*planner
	tree *session.Tree // as it is stored
	left []leftOut
}

// leftOut is a fix that the store cannot write behind so many planned ones.
type leftOut struct {
	Fix
	behind int
	why    error
}

// withoutLeftOut are the fixes that were not left out.
func (r *rehearsal) withoutLeftOut(list []Fix) []Fix {
	return slices.DeleteFunc(list, func(f Fix) bool {
		return slices.ContainsFunc(r.left, func(l leftOut) bool { return sameFix(l.Fix, f) })
	})
}

// sameFix tells fixes apart, in one round and the next.
func sameFix(a, b Fix) bool {
	return a.Rule == b.Rule && a.Fingerprint == b.Fingerprint && a.Title == b.Title
}

// retryLeftOut reports whether fixes were left out behind fewer planned ones than there are now:
// those that came since may have made way for them.
func (r *rehearsal) retryLeftOut(planned int) bool {
	n := len(r.left)
	r.left = slices.DeleteFunc(r.left, func(l leftOut) bool { return l.behind < planned })
	return len(r.left) < n
}

// selectWritable selects those of some fixes that the store can write behind the planned ones, all
// together. It parts what the store does not take, by the items that the store names, or else
// into halves, until that is one fix. Of many that are all named, each is left out: trying
// them one by one would take a rehearsal for each.
func (r *rehearsal) selectWritable(planned, list []Fix) []Fix {
	asked, ok := r.st.(store.Rehearser)
	if !ok || len(list) == 0 {
		return list
	}
	all := slices.Concat(planned, list)
	c, err := (&Tree{Root: r.tree.Root().ID, Fixes: all}).executeFixes(r.tree, r.opts.Prologue, r.st)
	if err == nil {
		err = asked.Rehearse(r.ctx, &c.Change)
	}
	switch {
	case err == nil || errors.Is(err, store.ErrReorder) && r.opts.Allow[Reorder] || r.ctx.Err() != nil:
		return list
	case len(list) == 1:
		r.left = append(r.left, leftOut{list[0], len(planned), err})
		return nil
	}
	first, second := list[:len(list)/2], list[len(list)/2:]
	if named := c.findRefused(err, list); named != nil {
		var rest, about []Fix
		for i, f := range list {
			if named[i] == nil {
				rest = append(rest, f)
			} else {
				about = append(about, f)
			}
		}
		switch {
		case len(rest) > 0 && len(about) > 0:
			first, second = rest, about
		case len(about) > fewNamed:
			for i, f := range list {
				r.left = append(r.left, leftOut{f, len(planned), named[i]})
			}
			return nil
		}
	}
	fit := r.selectWritable(planned, first)
	return slices.Concat(fit, r.selectWritable(slices.Concat(planned, fit), second))
}

// fewNamed fixes are tried one by one although the store names all of them: one may be in the
// way of another.
const fewNamed = 8

// findRefused says of each of the last fixes that were carried out why an item cannot be written that
// it adds or edits, or that comes directly after such ones; nil where the error names none.
func (c *executed) findRefused(err error, last []Fix) []error {
	refused, ok := errors.AsType[store.Unwritable](err)
	if !ok {
		return nil
	}
	of := map[string]int{} // which of the fixes, by the keys of items
	for i, f := range last {
		for _, e := range f.Edits {
			of[recordOf(e.Ref).Key] = i
		}
		added := c.fresh[len(c.fresh)-len(last)+i]
		for n := added[0]; n < added[1]; n++ {
			of[newKey+strconv.Itoa(n)] = i
		}
	}
	whys := make([]error, len(last))
	for key, why := range refused { // also of what is gone
		if i, edited := of[recordOf(session.Ref{Key: key}).Key]; edited {
			whys[i] = why
		}
	}
	for _, s := range c.After.Sessions {
		before := -1
		for n := range s.Items {
			if i, edited := of[recordOf(s.ItemRef(n)).Key]; edited {
				before = i
			} else if why := refused[s.Items[n].Key]; why != nil && before >= 0 {
				whys[before] = why
			}
		}
	}
	return whys
}

// noteRefused notes the fixes that are left out, with the first reason of those of one rule.
func (r *rehearsal) noteRefused() {
	byRule := map[string]int{}
	r.planner.left = append(r.planner.left, r.left...)
	for _, l := range r.left {
		if n, known := byRule[l.Rule]; known {
			r.plan.Refused[n].Count++
			continue
		}
		byRule[l.Rule] = len(r.plan.Refused)
		refused := Refused{Root: r.tree.Root().ID, Rule: l.Rule, Count: 1, Why: l.why.Error()}
		if errors.Is(l.why, store.ErrReorder) {
			refused.Allow = Reorder
		}
		r.plan.Refused = append(r.plan.Refused, refused)
	}
}

// origin says where the records of a tree were stored before anything was
// planned: people see one numbering, that of the store as it is.
type origin struct{ places map[string]session.Place }

func newOrigin(tree *session.Tree) *origin {
	o := &origin{places: map[string]session.Place{}}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			o.places[wholeRow(s.ItemRef(i))] = session.Place{Session: s.ID, Item: i}
		}
	}
	return o
}

func (o *origin) placeOf(r session.Ref) session.Place {
	if p, ok := o.places[recordOf(r).Row()]; ok {
		return p
	}
	return session.Place{Session: r.Session, Item: -1}
}

// itemsByRow are the items of a tree by the rows of their records, and what backups of the runtime hold.
func itemsByRow(tree *session.Tree) map[string]*session.Item {
	items := make(map[string]*session.Item, tree.Items())
	for _, s := range tree.Sessions {
		for i := range s.Items {
			items[wholeRow(s.ItemRef(i))] = &s.Items[i]
		}
		for row, text := range s.KeptTexts() {
			items[row] = &session.Item{Body: &session.Body{Text: text}}
		}
	}
	return items
}

// describeSteps tells what edits do to the items of a tree whose bodies are loaded.
func (o *origin) describeSteps(items map[string]*session.Item, edits []session.Edit) []Step {
	list := make([]Step, 0, len(edits))
	for _, e := range edits {
		at := o.placeOf(e.Ref)
		step := Step{Op: e.Op, Session: at.Session, Item: at.Item, To: e.To, After: o.placeOf(e.After).Item, Part: e.Ref.Pointer, Field: e.Field, Value: e.Value}
		if e.Ref.Table == session.TableSessions {
			step.Session, step.Item = e.Ref.Key, -1
		}
		if e.Ref.Table == session.TableRuns {
			step.Run = e.Ref.Key
		}
		if e.Twin != (session.Ref{}) {
			twin := o.placeOf(e.Twin)
			step.Twin = &twin
		}
		step.DescribeItem(items[wholeRow(e.Ref)])
		step.describeNew(e, items)
		list = append(list, step)
	}
	return list
}

// DescribeItem says what a stored item is.
func (s *Step) DescribeItem(it *session.Item) {
	if it == nil {
		return
	}
	s.Kind, s.Role, s.Agent, s.Child = it.Kind, it.Role, it.Agent(), it.Child()
	for i := range it.Calls {
		s.Calls = append(s.Calls, it.Calls[i].Name)
	}
	if it.Body != nil {
		s.Text = it.Body.Text
	}
	list, n := partOf(s.Part)
	switch {
	case list == inCalls && n < len(it.Calls):
		s.Call = it.Calls[n].ID
	case (list == inResults || list == "" && it.Role == session.Tool) && n < len(it.Results):
		s.Call, s.Text = it.Results[n].CallID, it.Results[n].Text
		s.Rest = list == inResults && (len(it.Results) > 1 || !onlyResults(it))
	}
}

// describeNew says what a new record will be.
func (s *Step) describeNew(e session.Edit, items map[string]*session.Item) {
	if e.Call != nil {
		if it := items[wholeRow(e.Call.Ref)]; it != nil && e.Call.Nth < len(it.Calls) {
			s.Call = it.Calls[e.Call.Nth].ID
			if d := it.Calls[e.Call.Nth].Delegation; d != nil {
				s.Agent = d.Agent
			}
		}
	}
	if e.Op == session.Create {
		s.Child, s.Like = e.NewID, e.Like
	}
	n := e.New
	if n == nil {
		return
	}
	s.Item, s.Session = -1, e.To
	s.Kind, s.Role, s.Child, s.Call, s.Text = n.Kind, n.Role, n.Child, n.CallID, n.Text
	s.Agent = cmp.Or(n.Agent, s.Agent)
	if from := items[wholeRow(n.TextFrom)]; from != nil && from.Body != nil {
		s.Text = from.Body.Text
	}
	if n.Prologue {
		s.Role = session.System
	}
}
