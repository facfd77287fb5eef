package session

import (
	"cmp"
	"fmt"
)

// Damage is what faults say of a store that was not read, so that no result covers
// all of it.
type Damage struct {
	First   string // "" where everything was read
	Remedy  string // of the first, "" where it is Store.Recovery
	Count   int
	records int // that they are about
	pages   bool
}

// Add takes in the faults that tell of damage.
func (d *Damage) Add(faults []Fault) {
	for i := range faults {
		if faults[i].Kind == StoreDamaged {
			d.add(&faults[i])
		}
	}
}

// AddUnread takes in the faults that tell of what a list or an export lacks: damage, and
// what is stored and was not read. items are those of the session that has the faults.
func (d *Damage) AddUnread(faults []Fault, items []Item) {
	for i := range faults {
		if faults[i].Unread(items) {
			d.add(&faults[i])
		}
	}
}

func (d *Damage) add(f *Fault) {
	if d.Count++; d.Count == 1 {
		d.First, d.Remedy = f.Loss(), f.Remedy
	}
	d.records += max(f.Count, 1)
	d.pages = d.pages || f.Kind == StoreDamaged
}

// String is the first damage and how many there are besides, "" for none.
func (d *Damage) String() string {
	switch {
	case d.Count < 2:
		return d.First
	case d.pages: // of which nobody can say how much they held
		return fmt.Sprintf("%s, and %d more", d.First, d.Count-1)
	}
	return fmt.Sprintf("%s, and %d more (%d records in all)", d.First, d.Count-1, d.records)
}

// Incomplete is the reason why a tree of a store was not read whole, "" if it was. What
// is known to be of another session is none.
func Incomplete(facts *Store, tree *Tree) string {
	var d Damage
	for i := range facts.Faults {
		f := &facts.Faults[i]
		if f.Kind == StoreDamaged || f.Unread(nil) && (f.Ref.Session == "" || tree.Session(f.Ref.Session) != nil) {
			d.add(f)
		}
	}
	for _, s := range tree.Sessions {
		d.AddUnread(s.Faults, s.Items)
	}
	return cmp.Or(facts.Incomplete, d.String())
}
