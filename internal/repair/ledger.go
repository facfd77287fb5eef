package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

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
func balance(before, after map[string]store.Sum, all *executed) (Ledger, error) {
	was, is := rowsOf(before), rowsOf(after)
	l := Ledger{Before: len(was), After: len(is)}
	if all.countsRows {
		all.rekey(was, is)
	}
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
		case edited[key] && now == sum:
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

// rekey gives records that were stored anew the keys that they had, where keys are numbers
// of rows: those that say the same, and then those that the plan changes. What each of
// them says was held against the plan before.
func (all *executed) rekey(was, is map[string]string) {
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
		find(key, func(now string) bool { return now == was[key] })
	}
	for _, key := range sortedKeys(edited) {
		find(key, func(string) bool { return true })
	}
}

// leave counts a record that the plan takes out, and takes it out of was.
func (l *Ledger) leave(e session.Edit, was, is map[string]string, other map[string]bool) error {
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
		maps.Copy(rows, s.Items)
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

// streamLedger is the ledger of a rewritten tree, whose records have other bytes and
// keys than before. It counts what items say: as multisets, before = after −
// synthetic + quarantined + removed, where what an edit changed counts as what it
// has become. All bodies must be loaded.
func streamLedger(c *executed, stored *session.Tree) (Ledger, error) {
	l := Ledger{Edited: len(c.edited)}
	balance := map[string]int{}
	for _, s := range c.Before.Sessions {
		for i := range s.Items {
			l.Before += count(balance, 1, parts(&s.Items[i]))
		}
	}
	for _, s := range stored.Sessions {
		for i := range s.Items {
			l.After += count(balance, -1, parts(&s.Items[i]))
		}
	}
	for _, s := range c.After.Sessions {
		for i := range s.Items {
			if s.Items[i].Table == "" {
				l.Synthetic += count(balance, 1, parts(&s.Items[i]))
			}
		}
	}
	for i := range c.gone {
		n := count(balance, -1, parts(&c.gone[i].item))
		if c.gone[i].edit.Op == session.Quarantine {
			l.Quarantined += n
		} else {
			l.Removed += n
		}
	}
	for i := range c.amended {
		count(balance, -1, parts(&c.amended[i].was))
		count(balance, 1, parts(&c.amended[i].is))
	}
	for part, n := range balance {
		if n > 0 {
			return l, fmt.Errorf("something that was said is missing (%d times): %.40q", n, part)
		}
		if n < 0 {
			return l, fmt.Errorf("something that nobody said was added (%d times): %.40q", -n, part)
		}
	}
	return l, nil
}

func count(balance map[string]int, sign int, parts []string) int {
	for _, p := range parts {
		balance[p] += sign
	}
	return len(parts)
}

// parts are what an item says, each as a text of its own: itself, unless it is
// there for its results only, and every result.
func parts(it *session.Item) []string {
	var list []string
	body := cmp.Or(it.Body, &session.Body{})
	if !onlyResults(it) || len(it.Results) == 0 {
		calls := ""
		for i := range it.Calls {
			calls += fmt.Sprintf("%q %q %q ", it.Calls[i].ID, it.Calls[i].Name, it.Calls[i].Args)
		}
		list = append(list, fmt.Sprintf("%s %s %q %q %q %s%s", it.Kind, it.Role, it.Agent, body.Text, body.Reasoning, calls, it.Child))
	}
	for i := range it.Results {
		if r := &it.Results[i]; r.CallID != takenResult {
			list = append(list, fmt.Sprintf("result %q %t %q", r.CallID, r.IsError, r.Text))
		}
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

// related is a tree that a repair changed, with what its items say of each other as
// the store would read it.
func related(st store.Store, tree *session.Tree) *session.Tree {
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
