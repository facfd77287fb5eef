package repair

import (
	"fmt"
	"maps"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// carried is a plan carried out on one tree in memory: what a store has to make
// of it, and what has to be true afterwards.
type carried struct {
	store.Change
	gone    []departed  // what was stored and left the tree
	amended []amendment // of what was stored, in the order in which it was made
	edited  recordSet   // those of amended that are still there: they are to hold other bytes
	set     recordSet   // items with a value beside what they say that the plan sets: they may hold other bytes
	added   int         // items that the plan adds
	kept    []Kept
	emptied []string // keys of records that are gone, as every result of them is a row of its own or left
	parted  map[string]parting
}

// join adds what the ledger of a batch needs to know of another tree.
func (c *carried) join(other *carried) {
	c.gone, c.added = append(c.gone, other.gone...), c.added+other.added
	maps.Copy(c.edited, other.edited)
	maps.Copy(c.set, other.set)
	c.emptied = append(c.emptied, other.emptied...)
}

// recordSet is a set of stored records, by their rows.
type recordSet map[string]session.Ref

func (r recordSet) has(ref session.Ref) bool { return r[recordOf(ref).Row()] != session.Ref{} }

func (r recordSet) add(ref session.Ref) {
	record := recordOf(ref)
	r[record.Row()] = record
}

// Kept is an item that left the store or says something else now, as the receipt
// keeps it.
type Kept struct {
	Session string `json:"session"`
	Item    int    `json:"item"` // its index before the repair
	Row     string `json:"row"`
	Rule    string `json:"rule"`
	Edited  bool   `json:"edited,omitempty"` // the record is still stored, and says something else
	Twin    string `json:"twin,omitempty"`   // the row that holds the same bytes and stays
	Text    string `json:"text,omitempty"`   // the stored record, if it is UTF-8 and has no copy; of several parts of one, the first has it
	Base64  []byte `json:"base64,omitempty"`
	Child   string `json:"child,omitempty"` // the sub-session that a reference named
}

// carryOut makes the fixes of a plan on a tree of a store, which may be nil where no
// item of it says anything of others.
func (t *Tree) carryOut(tree *session.Tree, prologue store.Prologue, st store.Store) (*carried, error) {
	c := &carried{Change: store.Change{Before: tree, After: tree, Split: map[string]string{}}, edited: recordSet{}, set: recordSet{}, parted: map[string]parting{}}
	places := newOrigin(tree)
	first := map[string]Kept{} // of every record that is amended, by row
	told := map[string]bool{}  // records of which a part left, by row: each is kept once
	for _, fixes := range t.rounds() {
		d := newDesk(c.After, prologue)
		for _, f := range fixes {
			gone, amended, parted := len(d.gone), len(d.amended), len(d.parted)
			if err := d.fix(f.Edits); err != nil {
				return nil, fmt.Errorf("the plan does not fit session %s: %s: %w", t.Root, f.Rule, err)
			}
			for _, gone := range d.gone[gone:] {
				if gone.item.Table != "" { // else an earlier round added it
					k := gone.keep(f.Rule, places)
					if row := whole(gone.edit.Ref); gone.edit.Ref.Pointer != "" {
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
				if _, known := c.parted[row]; a.was.Table != "" && !known {
					c.parted[row] = parting{a.edit.Ref, a.keep(f.Rule, places)}
				}
			}
			for _, a := range d.amended[amended:] {
				if a.was.Table == "" {
					continue // an earlier round added it
				}
				c.amended = append(c.amended, a)
				if row := recordOf(a.edit.Ref).Row(); first[row].Row == "" {
					first[row] = a.keep(f.Rule, places)
				}
			}
		}
		c.Sets = append(c.Sets, d.sets...)
		for _, e := range d.sets {
			c.set.add(e.Ref)
		}
		maps.Copy(c.Split, d.split)
		c.After = related(st, d.tree())
	}
	c.count(first)
	return c, nil
}

// inRows makes of the plan what it is for a store that keeps its rows: there a
// result that leaves an item is a row of its own, and the row that it left says
// something else, or is gone with the last of them.
func (c *carried) inRows() {
	there := recordSet{}
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if ref := s.ItemRef(i); isPart(ref) {
				c.added++
			} else {
				there.add(ref)
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
		if there.has(p.ref) {
			if c.edited.has(p.ref) {
				continue
			}
			c.edited.add(p.ref)
		} else {
			p.kept.Edited = false
			c.emptied = append(c.emptied, p.ref.Key)
			if c.edited.has(p.ref) { // parts of it were changed before they left: the receipt has it
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

// count notes what is new in the tree, and what is still there of what was
// amended.
func (c *carried) count(amended map[string]Kept) {
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if s.Items[i].Table == "" {
				c.added++
				continue
			}
			ref := s.ItemRef(i)
			if k, ok := amended[recordOf(ref).Row()]; ok && !c.edited.has(ref) {
				c.edited.add(ref)
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

// keep is how the receipt tells of it.
func (d *departed) keep(rule string, places *origin) Kept {
	at := places.place(d.edit.Ref)
	k := Kept{Session: at.Session, Item: at.Item, Row: d.edit.Ref.Row(), Rule: rule, Child: d.item.Child}
	switch {
	case d.edit.Op == session.RemoveTwin:
		k.Twin = d.edit.Twin.Row()
	case d.item.Body != nil:
		k.Text, k.Base64 = textOrBytes(d.item.Body)
	}
	return k
}

// keep is how the receipt tells of a record that says something else now: as it
// was stored.
func (a *amendment) keep(rule string, places *origin) Kept {
	at := places.place(a.edit.Ref)
	k := Kept{Session: at.Session, Item: at.Item, Row: recordOf(a.edit.Ref).Row(), Rule: rule, Edited: true}
	if a.was.Body != nil {
		k.Text, k.Base64 = textOrBytes(a.was.Body)
	}
	return k
}

// needed are the items whose bodies a plan's edits use, as a tree that shares
// its items' calls and results with the given one.
func (t *Tree) needed(tree *session.Tree) *session.Tree {
	rows := map[string]bool{}
	for _, f := range t.Fixes {
		for _, e := range f.Edits {
			if e.Op == session.Quarantine || e.Ref.Pointer != "" || rewords(e) {
				rows[recordOf(e.Ref).Row()] = true
			}
			if e.Call != nil {
				rows[whole(e.Call.Ref)] = true
			}
			if e.New != nil {
				rows[whole(e.New.TextFrom)] = true
			}
		}
	}
	part := &session.Tree{}
	for _, s := range tree.Sessions {
		some := *s
		some.Items = nil
		for i := range s.Items {
			if rows[whole(s.ItemRef(i))] {
				some.Items = append(some.Items, s.Items[i])
			}
		}
		if len(some.Items) > 0 {
			part.Sessions = append(part.Sessions, &some)
		}
	}
	return part
}

// adopt gives the items of a tree the bodies that were loaded of a part of it.
func adopt(tree, part *session.Tree) {
	filled := map[string]*session.Item{}
	for _, s := range part.Sessions {
		for i := range s.Items {
			filled[whole(s.ItemRef(i))] = &s.Items[i]
		}
	}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if f := filled[whole(s.ItemRef(i))]; f != nil {
				s.Items[i] = *f
			}
		}
	}
}

// Foresee is what the plan makes of its tree, whose bodies are loaded.
func (t *Tree) Foresee(tree *session.Tree, prologue store.Prologue) (*session.Tree, error) {
	c, err := t.carryOut(tree, prologue, nil)
	if err != nil {
		return nil, err
	}
	return c.After, nil
}
