package session

import (
	"cmp"
	"fmt"
)

// Damage is what faults say of a store that cannot be read, so that no result
// covers all of it.
type Damage struct {
	First  string // "" where everything was read
	Remedy string // of the first, "" where it is Store.Recovery
	Count  int
}

// Add takes in the faults that tell of damage.
func (d *Damage) Add(faults []Fault) {
	for i := range faults {
		if faults[i].Kind != StoreDamaged {
			continue
		}
		if d.Count++; d.Count == 1 {
			d.First, d.Remedy = faults[i].Detail, faults[i].Remedy
		}
	}
}

// String is the first damage and how many there are besides, "" for none.
func (d *Damage) String() string {
	if d.Count > 1 {
		return fmt.Sprintf("%s, and %d more", d.First, d.Count-1)
	}
	return d.First
}

// Incomplete is the reason why a store and a tree of it were not read whole, ""
// if they were. tree may be nil.
func Incomplete(facts *Store, tree *Tree) string {
	var d Damage
	d.Add(facts.Faults)
	if tree != nil {
		for _, s := range tree.Sessions {
			d.Add(s.Faults)
		}
	}
	return cmp.Or(facts.Incomplete, d.String())
}
