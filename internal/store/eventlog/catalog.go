package eventlog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// catalog is what has to be known of a store before one of its sessions can be
// read: how they are called, and so their events.
type catalog struct {
	*owners
	layout   *Layout
	schema   table.Schema
	sessions records
	events   records
	moving   bool                  // places say nothing to people: table.About
	doubled  map[table.Place]int64 // rows of events whose id another event has as well, by what tells them apart
}

func newCatalog(ctx context.Context, db table.Reader, layout *Layout) (*catalog, error) {
	c := &catalog{layout: layout, moving: db.About().Moving, sessions: records{&layout.Sessions, db}, events: records{&layout.Events, db}}
	var err error
	if layout.Prepare != nil {
		if err = layout.Prepare(ctx, db, nil); err != nil {
			return nil, err
		}
	}
	if c.schema, err = db.Schema(ctx); err != nil {
		return nil, err
	}
	if c.owners, err = readOwners(ctx, &c.sessions); err != nil {
		return nil, err
	}
	return c, c.findDoubled(ctx)
}

// hasScopedIDs reports whether ids of events mean something within a session only.
func (c *catalog) hasScopedIDs() bool { return len(c.events.Key) > 1 && !c.layout.OneID }

// eventKey is the key of an event: session.Item.Key.
func (c *catalog) eventKey(o *owner, row Row) string {
	id := column.View(row.Value(c.events.ID))
	var key string
	if c.hasScopedIDs() {
		key = o.name + "/" + id
	} else {
		key = strings.Clone(id)
	}
	nth, doubled := c.doubled[row.Place]
	if id == "" && !doubled {
		nth = shownNumber(row.Place, 1, c.moving)
	}
	if id == "" || doubled {
		key += "#" + strconv.FormatInt(nth, 10)
	}
	return key
}

// shownNumber is the number by which people know a row: its own, or, where it has none that stays,
// which it is of those that are called alike.
func shownNumber(at table.Place, nth int64, moving bool) int64 {
	if moving {
		return nth
	}
	return int64(at)
}

// findDoubled finds the events that share an id, where no index forbids it.
func (c *catalog) findDoubled(ctx context.Context) error {
	c.doubled = map[table.Place]int64{}
	same := []string{c.events.ID}
	if c.hasScopedIDs() {
		same = append(same, c.events.Key...)
	}
	if c.schema.Tables[c.events.Name].IsUnique(same...) {
		return nil
	}
	first, count := map[digest]table.Place{}, map[digest]int64{}
	var buf []byte
	_, err := c.events.db.Scan(ctx, table.Selection{Table: c.events.Name, Columns: same, Glance: true}, func(at table.Place, row []table.Value) error {
		buf = buf[:0]
		for _, value := range row {
			buf = table.AppendExactly(buf, value)
		}
		sum := sha256.Sum256(buf)
		if other, known := first[sum]; known {
			count[sum]++
			c.doubled[other], c.doubled[at] = shownNumber(other, 1, c.moving), shownNumber(at, count[sum]+1, c.moving)
		} else {
			first[sum] = at
		}
		return nil
	})
	return err
}

// reading is a way to find the events of some sessions: see eventsOf.
type reading func(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]session.Fault, error)

// eventsOf hands the events of some sessions to fn, with the session's index; of
// all of them for a nil list, and then those of no session as well, with -1. names
// are the columns that are read besides the key.
func (c *catalog) eventsOf(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]session.Fault, error) {
	wanted := make(map[int]bool, len(list))
	for _, i := range list {
		wanted[i] = true
	}
	key := make([]table.Value, len(c.events.Key))
	var joined, last []byte
	number := -1
	each := func(row Row) error {
		for i, column := range c.events.Key {
			key[i] = row.Value(column)
		}
		joined = joinedKey(joined[:0], key)
		if last == nil || string(joined) != string(last) { // events of one session mostly come together
			last = append(last[:0], joined...)
			var ok bool
			if number, ok = c.numberByKey(key); !ok {
				number = -1
			}
		}
		if list != nil && !wanted[number] {
			return nil
		}
		return fn(number, row)
	}
	names = append(slices.Clone(c.events.Key), names...)
	if list == nil {
		return c.events.scanRows(ctx, names, nil, each)
	}
	keys := lists.MapEach(list, func(n int) []table.Value { return c.list[n].keyValues() })
	return c.events.scanRows(ctx, names, keys, each)
}

// valuesOf are a row's values for a list of columns, in its order.
func (r Row) valuesOf(names []string) []table.Value {
	list := make([]table.Value, len(names))
	for i, name := range names {
		list[i] = r.Value(name)
	}
	return list
}

// gone is the place of a session that is not stored any more, or was not looked for.
const gone = table.Place(-1)

// owner is a row of the table of sessions: what events belong to.
type owner struct {
	row    table.Place
	within *[]table.Value // the values of Sessions.Key but the last, often shared with other sessions
	name   string         // the session's id, which no other session has
	odd    *odd           // nil where the last value of the key is the name
}

// odd is what few sessions have, so that a million of them take less memory.
type odd struct {
	id   table.Value // the last value of the key
	told int64       // see shownNumber
}

// keyID is the last value of the key.
func (o *owner) keyID() table.Value {
	if o.odd == nil {
		return o.name
	}
	return o.odd.id
}

// keyValues are the values of Sessions.Key.
func (o *owner) keyValues() []table.Value { return append(slices.Clone(*o.within), o.keyID()) }

// owners are all sessions of a store, in row order.
type owners struct {
	list   []owner
	byName []uint32        // an open hash table of their indexes plus one: see seek
	byKey  map[string]int  // by joinedKey, of those that are not called by their ids
	faults []session.Fault // of rows that are lost
}

func readOwners(ctx context.Context, sessions *records) (*owners, error) {
	o := &owners{byKey: map[string]int{}}
	lost, err := sessions.scanRows(ctx, sessions.Key, nil, func(row Row) error {
		key := row.valuesOf(sessions.Key)
		last := len(key) - 1
		one := owner{row: row.Place, name: column.Text(key[last])}
		if _, text := key[last].(string); !text {
			one.odd = &odd{table.CloneValue(key[last]), int64(one.row)}
		}
		if n := len(o.list); n > 0 && slices.EqualFunc(*o.list[n-1].within, key[:last], sameText) { // sessions of one user mostly come together
			one.within = o.list[n-1].within
		} else {
			within := row.cloneValues().valuesOf(sessions.Key)[:last:last]
			one.within = &within
		}
		o.list = append(o.list, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.faults = lost
	slices.SortFunc(o.list, func(a, b owner) int { return cmp.Compare(a.row, b.row) })
	same := map[string]int64{}
	for i := range o.list {
		if one := &o.list[i]; sessions.db.About().Moving { // else the place tells it
			same[one.keyPath()]++
			one.odd = &odd{one.keyID(), same[one.keyPath()]}
		}
	}
	o.assignNames()
	return o, nil
}

// sameText reports whether two values are the same text, or the same bytes.
func sameText(a, b table.Value) bool {
	if second, ok := b.([]byte); ok {
		first, ok := a.([]byte)
		return ok && bytes.Equal(first, second)
	}
	first, ok := a.(string)
	second, both := b.(string)
	return ok && both && first == second
}

// seekName is the place in byName of the session that is called so, or where it would be. A
// map takes three times the memory of a session's key.
func (o *owners) seekName(name string) (at int, known bool) {
	size := len(o.byName)
	for at = int(maphash.String(nameSeed, name) % uint64(size)); o.byName[at] != 0; at = (at + 1) % size { //nolint:gosec // below size
		if o.list[o.byName[at]-1].name == name {
			return at, true
		}
	}
	return at, false
}

var nameSeed = maphash.MakeSeed()

// numberByName is the session that is called so.
func (o *owners) numberByName(name string) (n int, ok bool) {
	at, known := o.seekName(name)
	return int(o.byName[at]) - 1, known
}

// indexNames fills byName; each reports whether every session has a name of its own.
func (o *owners) indexNames() (each bool) {
	o.byName, each = make([]uint32, 2*len(o.list)+1), true
	for i := range o.list {
		at, known := o.seekName(o.list[i].name)
		o.byName[at], each = uint32(i+1), each && !known //nolint:gosec // a table has fewer rows
	}
	return each
}

// numberByKey is the session with a key.
func (o *owners) numberByKey(key []table.Value) (n int, ok bool) {
	same := func(a, b table.Value) bool { return column.View(a) == column.View(b) }
	last := len(key) - 1
	if n, ok = o.numberByName(column.View(key[last])); ok && (o.list[n].odd == nil || same(o.list[n].odd.id, key[last])) && slices.EqualFunc(*o.list[n].within, key[:last], same) {
		return n, true
	}
	n, ok = o.byKey[string(joinedKey(nil, key))]
	return n, ok
}

// joinedKey tells keys apart whose texts differ, as a foreign key does.
func joinedKey(buf []byte, key []table.Value) []byte {
	for _, value := range key {
		s := column.View(value)
		buf = append(binary.AppendUvarint(buf, uint64(len(s))), s...)
	}
	return buf
}

// names are what a session may be called, the first that no other one is called:
// its own id, all of its key, and that with its row.
var names = []func(o *owner) string{
	func(o *owner) string { return column.View(o.keyID()) },
	(*owner).keyPath,
	func(o *owner) string { return o.keyPath() + "#" + strconv.FormatInt(o.odd.told, 10) },
}

// keyPath is all of a session's key: "app/user/id".
func (o *owner) keyPath() string {
	parts := make([]string, 0, len(*o.within)+1)
	for _, value := range *o.within {
		parts = append(parts, column.View(value))
	}
	return strings.Join(append(parts, column.View(o.keyID())), "/")
}

// assignNames gives every session an id of its own: that of its row, where no other one has it.
func (o *owners) assignNames() {
	each := o.indexNames()
	if _, nameless := o.numberByName(""); !nameless && each {
		return
	}
	o.renameDuplicates()
	o.indexNames()
	for i := range o.list {
		one := &o.list[i]
		key := string(joinedKey(nil, one.keyValues()))
		if _, known := o.byKey[key]; !known && one.name != names[0](one) { // of two rows with one key the first has the events
			o.byKey[key] = i
		}
	}
}

// renameDuplicates gives of several sessions that are called alike the next name to those that still
// have the shortest.
func (o *owners) renameDuplicates() {
	form := make([]int, len(o.list))
	for again := true; again; {
		again = false
		count, shortest := map[string]int{"": 2}, map[string]int{} // nobody may be called ""
		for i := range o.list {
			one := &o.list[i]
			if one.odd == nil {
				one.odd = &odd{one.name, int64(one.row)}
			}
			name := names[form[i]](one)
			one.name = name
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

// findSessions finds the sessions with these ids, as indexes in row order; those that do
// not exist are left out.
func (o *owners) findSessions(ids []string) []int {
	var found []int
	for _, id := range ids {
		if i, ok := o.numberByName(id); ok && o.list[i].row != gone {
			found = append(found, i)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// entry is an event in the first pass.
type entry struct {
	row     table.Place
	at, tie int64
}

// orphans are the events of a session that does not exist.
type orphans struct {
	id   string
	key  string // of the first event
	rows []table.Place
}

// readEvents finds the events of some sessions, of all for nil, in their order.
func (st *logStore) readEvents(ctx context.Context, only []int) error {
	st.entries = make([][]entry, len(st.list))
	if !st.hasUnlinkedSessions() {
		st.links, st.unsaid = make([][]int, len(st.list)), make([][]string, len(st.list))
	}
	strays := map[string]*orphans{}
	read, bytes := 0, 0
	columns := slices.Concat(st.layout.Place, []string{st.events.ID}, st.layout.LinkColumns)
	if st.lacks != nil {
		columns = slices.Concat(columns, st.layout.Said)
		st.glimpses = make([]store.Glimpse, len(st.list))
	}
	each := func(owner int, row Row) error {
		for _, value := range row.values {
			bytes += len(column.View(value))
		}
		if read++; read%4096 == 0 && st.progress != nil {
			st.progress(int64(bytes))
		}
		if owner < 0 {
			st.noteStray(strays, row)
			return nil
		}
		at, tie := st.layout.Order(row.Place, row)
		st.entries[owner] = append(st.entries[owner], entry{row.Place, at, tie})
		if st.lacks != nil {
			st.lookInto(owner, at, row)
		}
		if st.layout.Links != nil {
			st.noteLinks(owner, row)
		}
		return nil
	}
	lost, err := st.eventsOf(ctx, only, columns, each)
	if err == nil && st.narrowed && !st.alone {
		err = st.scanOwnerless(ctx, columns, each)
	}
	if err != nil && st.narrowed && ctx.Err() == nil { // damage ends such a reading: the whole one tells of it
		st.entries, st.links, strays = make([][]entry, len(st.list)), make([][]int, len(st.list)), map[string]*orphans{}
		if all, again := st.eventsOf(ctx, nil, columns, each); again == nil {
			lost, err = all, nil
		}
	}
	if err != nil {
		return err
	}
	for _, events := range st.entries {
		slices.SortFunc(events, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie), cmp.Compare(a.row, b.row))
		})
	}
	if len(lost) > 0 {
		st.lacks = nil
	}
	st.facts.Faults = append(st.facts.Faults, lost...)
	st.reportStrays(slices.Collect(maps.Values(strays)))
	return nil
}

// noteStray notes an event that belongs to no session.
func (st *logStore) noteStray(strays map[string]*orphans, row Row) {
	key := row.valuesOf(st.events.Key)
	joined := string(joinedKey(nil, key))
	o := strays[joined]
	if o == nil {
		within := key[:len(key)-1]
		missing := owner{within: &within, odd: &odd{id: key[len(key)-1]}}
		missing.name = strings.Clone(missing.keyPath())
		o = &orphans{id: missing.name, key: st.eventKey(&missing, row)}
		strays[joined] = o
	}
	o.rows = append(o.rows, row.Place)
}

// reportStrays makes a fault for every session that is missing.
func (st *logStore) reportStrays(strays []*orphans) {
	slices.SortFunc(strays, func(a, b *orphans) int { return cmp.Compare(a.rows[0], b.rows[0]) })
	why := "which does not exist"
	if len(st.faults) > 0 {
		why = "whose own row is damaged or does not exist"
	}
	for _, o := range strays {
		count := "1 row"
		if len(o.rows) > 1 {
			count = fmt.Sprint(len(o.rows), " rows")
		}
		if from := fmt.Sprintf(", from row %d on,", o.rows[0]); !st.moving {
			count += from
		}
		st.facts.Faults = append(st.facts.Faults, session.Fault{
			Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: o.id, Table: st.events.Name, Key: o.key}, Count: len(o.rows),
			Detail: fmt.Sprintf("%s has %s of session %.60q, %s", st.events.Name, count, o.id, why),
		})
		for _, row := range o.rows {
			st.orphaned[row] = true
		}
	}
}

// records reads one of the two tables.
type records struct {
	*Table
	db table.Reader
}

// ownColumns are the columns that the database does not keep by itself.
func (t *Table) ownColumns() []string {
	if t.Derived == nil {
		return t.Columns
	}
	return slices.DeleteFunc(slices.Clone(t.Columns), func(c string) bool { return slices.Contains(t.Derived, c) })
}

// existing are those values of a new row for which the table has a column.
func (t *Table) existing(fields []table.Field) []table.Field {
	return slices.DeleteFunc(fields, func(f table.Field) bool { return !slices.Contains(t.Columns, f.Name) })
}

// columns are some columns of a table, as rows have them and as they are asked for.
type columns struct {
	names *jsonscan.Names[int]
	list  []string
}

func (t *records) pickColumns(names []string) columns {
	c := columns{names: new(jsonscan.Names[int])}
	for _, name := range names {
		if jsonscan.FindName(c.names, name) == nil && slices.Contains(t.Columns, name) {
			c.names.Set(name, len(c.list))
			c.list = append(c.list, name)
		}
	}
	return c
}

// scanRows hands the rows with some keys to fn, with nil every row; others may come, too.
// What is lost is returned.
func (t *records) scanRows(ctx context.Context, names []string, keys [][]table.Value, fn func(Row) error) ([]session.Fault, error) {
	c := t.pickColumns(names)
	rows := table.Selection{Table: t.Name, Columns: c.list, Key: t.Key, Keys: keys}
	return t.db.Scan(ctx, rows, func(at table.Place, values []table.Value) error { return fn(Row{at, c.names, values}) })
}

// readRows hands the rows at places to fn, with their indexes in the list. Those that cannot
// be read are returned, by index.
func (t *records) readRows(ctx context.Context, names []string, places []table.Place, fn func(n int, row Row) error) (unread []int, err error) {
	c := t.pickColumns(names)
	return t.db.Rows(ctx, t.Name, c.list, places, func(n int, values []table.Value) error { return fn(n, Row{places[n], c.names, values}) })
}

// cloneValues is a row that outlives the function that got it.
func (r Row) cloneValues() Row {
	r.values = slices.Clone(r.values)
	for i, v := range r.values {
		r.values[i] = table.CloneValue(v)
	}
	return r
}
