package eventlog

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// owner is a row of the table of sessions: what events belong to.
type owner struct {
	row  table.Place
	key  []table.Value // the values of Sessions.Key
	name string        // the session's id, which no other session has
}

// owners are all sessions of a store, in row order.
type owners struct {
	list   []owner
	byKey  map[string]int // by joinedKey
	byName map[string]int
	faults []session.Fault // of rows that are lost
}

func readOwners(ctx context.Context, sessions *records) (*owners, error) {
	o := &owners{byKey: map[string]int{}, byName: map[string]int{}}
	lost, err := sessions.scan(ctx, sessions.Key, nil, func(row Row) error {
		one := owner{row: row.Place}
		for _, column := range sessions.Key {
			one.key = append(one.key, table.Kept(row.Value(column)))
		}
		o.list = append(o.list, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.faults = lost
	slices.SortFunc(o.list, func(a, b owner) int { return cmp.Compare(a.row, b.row) })
	o.name()
	var buf []byte
	for i := range o.list {
		buf = joinedKey(buf[:0], o.list[i].key)
		if _, known := o.byKey[string(buf)]; !known { // of two rows with one key the first has the events
			o.byKey[string(buf)] = i
		}
		o.byName[o.list[i].name] = i
	}
	return o, nil
}

// joinedKey tells keys apart whose texts differ, as a foreign key does.
func joinedKey(buf []byte, key []table.Value) []byte {
	for _, value := range key {
		s := text(value)
		buf = append(binary.AppendUvarint(buf, uint64(len(s))), s...)
	}
	return buf
}

// names are what a session may be called, the first that no other one is called:
// its own id, all of its key, and that with its row.
var names = []func(o *owner) string{
	func(o *owner) string { return text(o.key[len(o.key)-1]) },
	(*owner).path,
	func(o *owner) string { return o.path() + "#" + strconv.FormatInt(int64(o.row), 10) },
}

// path is all of a session's key: "app/user/id".
func (o *owner) path() string {
	parts := make([]string, len(o.key))
	for i, value := range o.key {
		parts[i] = text(value)
	}
	return strings.Join(parts, "/")
}

// name gives every session an id of its own. Of several that are called alike
// those get the next name that still have the shortest.
func (o *owners) name() {
	form := make([]int, len(o.list))
	for again := true; again; {
		again = false
		count, shortest := map[string]int{"": 2}, map[string]int{} // nobody may be called ""
		for i := range o.list {
			name := names[form[i]](&o.list[i])
			o.list[i].name = name
			if n, ok := shortest[name]; !ok || form[i] < n {
				shortest[name] = form[i]
			}
			count[name]++
		}
		for i := range o.list {
			name := o.list[i].name
			if count[name] > 1 && form[i] == shortest[name] && form[i] < len(names)-1 {
				form[i]++
				again = true
			}
		}
	}
}

// find are the sessions with these ids, as indexes in row order; those that do
// not exist are left out.
func (o *owners) find(ids []string) []int {
	var found []int
	for _, id := range ids {
		if i, ok := o.byName[id]; ok {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
