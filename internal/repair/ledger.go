package repair

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Ledger counts the items of the touched trees: before = after − synthetic +
// quarantined + removed. Edited ones are among those before and after.
type Ledger struct {
	Before      int `json:"before"`
	After       int `json:"after"`
	Synthetic   int `json:"synthetic"`   // written by the repair
	Quarantined int `json:"quarantined"` // left the store for the receipt
	Removed     int `json:"removed"`     // twins: the same bytes are still stored in another place
	Edited      int `json:"edited"`      // say something else; the receipt keeps them as they were
}

func (l *Ledger) add(m Ledger) {
	l.Before += m.Before
	l.After += m.After
	l.Synthetic += m.Synthetic
	l.Quarantined += m.Quarantined
	l.Removed += m.Removed
	l.Edited += m.Edited
}

// balance holds what is stored after a repair against what was stored before
// it, item by item: every item is still there with the same bytes, or with others
// where the plan changes it, or it left with a reason; what is new is
// what the plan adds. It trusts nothing but the digests of the stored rows and
// the plan's lists of what leaves and what is edited.
func balance(before, after map[string]store.Sum, all *carried) (Ledger, error) {
	was, is := rowsOf(before), rowsOf(after)
	l := Ledger{Before: len(was), After: len(is)}
	edited, other := map[string]bool{}, map[string]bool{} // that have to hold other bytes, that may
	for _, record := range all.edited {
		edited[record.Key], other[record.Key] = true, true
	}
	for _, record := range all.set { // the journal has what was there
		other[record.Key] = true
	}
	for i := range all.gone {
		if err := l.leave(all.gone[i].edit, was, is, other); err != nil {
			return l, err
		}
	}
	for _, key := range all.emptied { // the receipt keeps the record, and rows of their own its results
		if _, there := is[key]; there || was[key] == "" {
			return l, fmt.Errorf("item %s is still there, or was not there before, although all its parts left it", key)
		}
		l.Quarantined++
		delete(was, key)
	}
	for key, sum := range was {
		now, there := is[key]
		switch {
		case !there:
			return l, fmt.Errorf("item %s is missing", key)
		case edited[key] && now == sum:
			return l, fmt.Errorf("item %s is as before, although the plan changes what it says", key)
		case edited[key]:
			l.Edited++
		case now != sum && !other[key]:
			return l, fmt.Errorf("item %s holds other bytes than before", key)
		}
	}
	if l.Edited != len(edited) {
		return l, fmt.Errorf("%d items were edited where the plan edits %d", l.Edited, len(edited))
	}
	l.Synthetic = len(is) - len(was)
	if l.Synthetic != all.added {
		return l, fmt.Errorf("%d new items are stored where the plan adds %d", l.Synthetic, all.added)
	}
	if l.Before != l.After-l.Synthetic+l.Quarantined+l.Removed {
		return l, fmt.Errorf("%d items before, %d after, %d added, %d in the receipt, %d removed twins: that does not add up",
			l.Before, l.After, l.Synthetic, l.Quarantined, l.Removed)
	}
	return l, nil
}

// leave counts a record that the plan takes out, and takes it out of was.
func (l *Ledger) leave(e session.Edit, was, is map[string]string, other map[string]bool) error {
	if e.Ref.Pointer != "" {
		return nil // a part of a record that stays
	}
	if _, there := is[e.Ref.Key]; there {
		return fmt.Errorf("%s is still there, although the plan takes it out", e.Ref.Row())
	}
	if _, there := was[e.Ref.Key]; !there {
		return fmt.Errorf("%s was not there to be taken out", e.Ref.Row())
	}
	if e.Op == session.Quarantine {
		l.Quarantined++
	} else {
		twin := is[e.Twin.Key]
		if other[e.Twin.Key] { // the receipt keeps what it was
			twin = was[e.Twin.Key]
		}
		if twin != was[e.Ref.Key] {
			return fmt.Errorf("%s was removed, but %s does not hold the same bytes", e.Ref.Row(), e.Twin.Row())
		}
		l.Removed++
	}
	delete(was, e.Ref.Key)
	return nil
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
