package repair

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Ledger counts the items of the touched trees: before = after − synthetic +
// quarantined + removed.
type Ledger struct {
	Before      int `json:"before"`
	After       int `json:"after"`
	Synthetic   int `json:"synthetic"`   // written by the repair
	Quarantined int `json:"quarantined"` // left the store for the receipt
	Removed     int `json:"removed"`     // twins: the same bytes are still stored in another place
}

func (l *Ledger) add(m Ledger) {
	l.Before += m.Before
	l.After += m.After
	l.Synthetic += m.Synthetic
	l.Quarantined += m.Quarantined
	l.Removed += m.Removed
}

// balance holds what is stored after a repair against what was stored before
// it, item by item: every item is still there with the same bytes, or it left
// with a reason; what is new is what the plan adds. It trusts nothing but the
// digests of the stored rows and the plan's list of what leaves.
func balance(before, after map[string]store.Sum, gone []departed, added int) (Ledger, error) {
	was, is := rowsOf(before), rowsOf(after)
	l := Ledger{Before: len(was), After: len(is)}
	for i := range gone {
		e := gone[i].edit
		if e.Ref.Pointer != "" {
			continue // a part of a record that stays
		}
		if _, there := is[e.Ref.Key]; there {
			return l, fmt.Errorf("%s is still there, although the plan takes it out", e.Ref.Row())
		}
		if _, there := was[e.Ref.Key]; !there {
			return l, fmt.Errorf("%s was not there to be taken out", e.Ref.Row())
		}
		if e.Op == session.Quarantine {
			l.Quarantined++
		} else {
			if is[e.Twin.Key] != was[e.Ref.Key] {
				return l, fmt.Errorf("%s was removed, but %s does not hold the same bytes", e.Ref.Row(), e.Twin.Row())
			}
			l.Removed++
		}
		delete(was, e.Ref.Key)
	}
	for key, sum := range was {
		if is[key] != sum {
			return l, fmt.Errorf("item %s is missing or holds other bytes than before", key)
		}
	}
	l.Synthetic = len(is) - len(was)
	if l.Synthetic != added {
		return l, fmt.Errorf("%d new items are stored where the plan adds %d", l.Synthetic, added)
	}
	if l.Before != l.After-l.Synthetic+l.Quarantined+l.Removed {
		return l, fmt.Errorf("%d items before, %d after, %d added, %d in the receipt, %d removed twins: that does not add up",
			l.Before, l.After, l.Synthetic, l.Quarantined, l.Removed)
	}
	return l, nil
}

// rowsOf are the digests of all items, by key.
func rowsOf(sums map[string]store.Sum) map[string]string {
	rows := map[string]string{}
	for _, s := range sums {
		for key, sum := range s.Items {
			rows[key] = sum
		}
	}
	return rows
}

// records are the digests of the sessions.
func records(sums map[string]store.Sum) map[string]string {
	list := map[string]string{}
	for id, s := range sums {
		list[id] = s.Record
	}
	return list
}
