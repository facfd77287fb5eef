package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
)

// Ledger counts the items of the touched trees: before = after − synthetic +
// quarantined + removed. Edited ones are among those before and after.
type Ledger struct {
	Before      int `json:"before"`      // items of the repaired trees before; always `after` − `synthetic` + `quarantined` + `removed`
	After       int `json:"after"`       // items after it
	Synthetic   int `json:"synthetic"`   // items that the repair wrote
	Quarantined int `json:"quarantined"` // items that left the store for the receipt
	Removed     int `json:"removed"`     // items that left the store because the same bytes are still stored in another place
	Edited      int `json:"edited"`      // items whose content changed; the receipt keeps them as they were, and they count before and after
}

func (l *Ledger) addCounts(m Ledger) {
	l.Before += m.Before
	l.After += m.After
	l.Synthetic += m.Synthetic
	l.Quarantined += m.Quarantined
	l.Removed += m.Removed
	l.Edited += m.Edited
}

// verifyBalance holds what is stored after a repair against what was stored before
// it, item by item: every item is still there with the same bytes, or with others
// where the plan changes it, or it left with a reason; what is new is
// what the plan adds. It trusts nothing but the digests of the stored rows and
// the plan's lists of what leaves and what is edited.
func verifyBalance(before, after map[string]store.Sum, all *executed) (Ledger, error) {
	was, is := rowsOf(before), rowsOf(after)
	l := Ledger{Before: len(was), After: len(is)}
	if all.countsRows {
		all.restoreKeys(was, is)
	}
	edited, other := map[string]bool{}, map[string]bool{} // that have to hold other bytes, that may
	for _, record := range all.edited {
		edited[record.Key], other[record.Key] = true, true
	}
	scrubbed := map[string]bool{} // of which no digest may have what becomes of them
	for _, a := range all.amended {
		scrubbed[recordOf(a.edit.Ref).Key] = a.edit.Op == session.Scrub || scrubbed[recordOf(a.edit.Ref).Key]
	}
	for _, record := range all.set { // the journal has what was there
		other[record.Key] = true
	}
	for i := range all.gone {
		if err := l.countLeaving(all.gone[i].edit, was, is, other); err != nil {
			return l, err
		}
	}
	for _, key := range all.emptied { // the receipt keeps the record, and rows of their own its results
		if _, there := is[key]; there || was[key] == "" {
			return l, fmt.Errorf("item %s still exists, or did not exist before, although all of its parts were moved", key)
		}
		l.Quarantined++
		delete(was, key)
	}
	for key, sum := range was {
		now, there := is[key]
		switch {
		case !there:
			return l, fmt.Errorf("item %s is missing", key)
		case edited[key] && now == sum && !scrubbed[key]:
			return l, fmt.Errorf("item %s is unchanged, although the plan changes it", key)
		case edited[key]:
			l.Edited++
		case now != sum && !other[key]:
			return l, fmt.Errorf("the bytes of item %s changed, although the plan does not change it", key)
		}
	}
	if l.Edited != len(edited) {
		return l, fmt.Errorf("%d items were changed, and the plan changes %d", l.Edited, len(edited))
	}
	l.Synthetic = len(is) - len(was)
	if l.Synthetic != all.added {
		return l, fmt.Errorf("%d new items are stored, and the plan adds %d", l.Synthetic, all.added)
	}
	if l.Before != l.After-l.Synthetic+l.Quarantined+l.Removed {
		return l, fmt.Errorf("%d items before, %d after, %d added, %d in the receipt, %d removed copies: the numbers do not add up",
			l.Before, l.After, l.Synthetic, l.Quarantined, l.Removed)
	}
	return l, nil
}

// restoreKeys gives records that were stored anew the keys that they had, where keys are numbers
// of rows: those that say the same, and then those that the plan changes. What each of
// them says was held against the plan before.
func (all *executed) restoreKeys(was, is map[string]string) {
	leaves, edited := map[string]bool{}, map[string]bool{}
	for i := range all.gone {
		if e := &all.gone[i].edit; e.Ref.Pointer == "" {
			leaves[e.Ref.Key] = true
		}
	}
	for _, key := range all.emptied {
		leaves[key] = true
	}
	for _, record := range all.edited {
		edited[record.Key] = true
	}
	fresh := slices.DeleteFunc(sortedKeys(is), func(key string) bool { return was[key] != "" })
	find := func(key string, same func(now string) bool) {
		if _, there := is[key]; there || leaves[key] {
			return
		}
		if n := slices.IndexFunc(fresh, func(now string) bool { return same(is[now]) }); n >= 0 {
			is[key] = is[fresh[n]]
			delete(is, fresh[n])
			fresh = slices.Delete(fresh, n, n+1)
		}
	}
	for _, key := range sortedKeys(was) {
		find(key, func(now string) bool { return now == was[key] && !edited[key] })
	}
	for _, key := range sortedKeys(edited) {
		find(key, func(string) bool { return true })
	}
}

// countLeaving counts a record that the plan takes out, and takes it out of was.
func (l *Ledger) countLeaving(e session.Edit, was, is map[string]string, other map[string]bool) error {
	if e.Ref.Pointer != "" {
		return nil // a part of a record that stays
	}
	if _, there := is[e.Ref.Key]; there {
		return fmt.Errorf("%s still exists, although the plan removes it", e.Ref.Row())
	}
	if _, there := was[e.Ref.Key]; !there {
		return fmt.Errorf("%s did not exist, although the plan removes it", e.Ref.Row())
	}
	if e.Op == session.Quarantine {
		l.Quarantined++
	} else {
		twin := is[e.Twin.Key]
		if other[e.Twin.Key] { // the receipt keeps what it was
			twin = was[e.Twin.Key]
		}
		if saidIn(twin) != saidIn(was[e.Ref.Key]) {
			return fmt.Errorf("%s was removed, but %s does not hold the same bytes", e.Ref.Row(), e.Twin.Row())
		}
		l.Removed++
	}
	delete(was, e.Ref.Key)
	return nil
}

// saidIn is what of the digest of an item is the same for its copies.
func saidIn(sum string) string {
	said, _, _ := strings.Cut(sum, store.SumSays)
	return said
}

// rowsOf are the digests of all items, by key.
func rowsOf(sums map[string]store.Sum) map[string]string {
	rows := map[string]string{}
	for _, s := range sums {
		maps.Copy(rows, s.Items)
	}
	return rows
}

// recordDigests are the digests of the sessions.
func recordDigests(sums map[string]store.Sum) map[string]string {
	list := map[string]string{}
	for id, s := range sums {
		list[id] = s.Record
	}
	return list
}

// byID reads all trees of a store, by the ids of all their sessions.
func byID(ctx context.Context, st store.Store) (map[string]*session.Tree, error) {
	trees := map[string]*session.Tree{}
	for t, err := range st.Trees(ctx) {
		if err != nil {
			return nil, err
		}
		for _, s := range t.Sessions {
			trees[s.ID] = t
		}
	}
	return trees, nil
}

// relateItems is a tree that a repair changed, with what its items say of each other as
// the store would read it.
func relateItems(st store.Store, tree *session.Tree) *session.Tree {
	if r, ok := st.(store.Relater); ok {
		r.Relate(tree)
	}
	return tree
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// textOrBytes is a stored record for a JSON file: as text where it can be one.
func textOrBytes(body *session.Body) (text string, bytes []byte) {
	raw := body.Raw
	if len(raw) == 0 {
		raw = []byte(body.Text)
	}
	if utf8.Valid(raw) {
		return string(raw), nil
	}
	return "", raw
}
