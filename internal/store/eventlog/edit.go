package eventlog

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/table"
)

// editor is a database that is opened for changing.
type editor struct {
	table.Editor
	facts  session.Store
	layout *Layout
	known  *logStore // what was read last: where its events are
	since  int64     // the Version that it holds for; -1 when something was written since
	all    *catalog  // how the sessions are called: of a database on a server they are read once
}

// Wrapped is an editor of a View: Base is that of the database itself.
type Wrapped interface{ Base() table.Editor }

// Edit opens a database for repair or undo.
func Edit(ctx context.Context, src *store.Source, reread Reread) (store.Editor, error) {
	edit, err := src.Edit(ctx)
	if err != nil {
		return nil, err
	}
	facts, layout, err := reread.examine(ctx, edit.Reader())
	if why := facts.ReadOnly; err == nil && why != "" {
		err = problem.New(problem.Unreadable, "Export it with `sessctl export` and repair the stream.", "%s cannot be repaired in place: %s", src.Path, why)
	}
	if err == nil {
		err = errors.Join(edit.DeclareDerived(ctx, layout.Sessions.Name, layout.Sessions.Derived...), edit.DeclareDerived(ctx, layout.Events.Name, layout.Events.Derived...))
	}
	if err != nil {
		return nil, errors.Join(edit.Reader().Explain(err), edit.Close())
	}
	return &editor{Editor: edit, facts: facts, layout: layout}, nil
}

func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	version, err := e.Version(ctx)
	if err != nil {
		return nil, err
	}
	c, err := e.lockSessions(ctx, sessions)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	st, err := Open{DB: e.Reader(), Facts: e.facts, Layout: e.layout, Sessions: append([]string{}, sessions...)}.readOf(ctx, c)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	e.known, e.since = st, version
	return st, nil
}

func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	if version, err := e.Version(ctx); err != nil {
		return nil, err
	} else if st := e.known; st != nil && st.moving && e.since == version && st.hasSessions(sessions) {
		return st.Sums(ctx, sessions)
	}
	c, err := e.lockSessions(ctx, sessions)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	sums, err := c.readSums(ctx, sessions, c.eventsOf)
	return sums, e.Reader().Explain(err)
}

func (e *editor) Write(ctx context.Context, c *store.Change) error {
	e.since = -1
	all, sessions, err := findDifferences(c, e.layout)
	if err != nil {
		return err
	}
	w := writer{edit: e.Editor, write: &e.layout.Write, changed: sessions, created: map[string]*owner{}}
	if st := e.known; st != nil && st.hasTree(c.Before) {
		w.catalog, w.stored = st.catalog, st.knownEvents
	} else {
		if w.catalog, err = newCatalog(ctx, e.Reader(), e.layout); err != nil {
			return e.Reader().Explain(err)
		}
		w.stored = w.eventsOf
	}
	return e.Reader().Explain(w.writeAll(ctx, all))
}

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	e.since = -1
	l := e.layout
	return e.Editor.Revert(ctx, journal, append([]string{l.Sessions.Name, l.Events.Name}, l.Write.OtherNames...)...)
}

// lockSessions keeps others from changing sessions, as far as they can within the transaction that
// is open, and then reads what has to be known of them. On a server that is less than of all:
// only how the others are called, which does not change while they are repaired.
func (e *editor) lockSessions(ctx context.Context, sessions []string) (*catalog, error) {
	if !e.Reader().About().Remote {
		return newCatalog(ctx, e.Reader(), e.layout)
	}
	if e.all == nil || len(e.all.findSessions(sessions)) < len(sessions) { // one is new
		var err error
		if e.all, err = newCatalog(ctx, e.Reader(), e.layout); err != nil {
			return nil, err
		}
	}
	own := e.all.sessionSelections(e.all.findSessions(sessions))[0]
	if err := e.Lock(ctx, own, append([]string{e.layout.Events.Name}, e.layout.Write.OtherNames...)...); err != nil {
		return nil, err
	}
	return e.all.rereadSessions(ctx, own)
}

// rereadSessions is the catalog with some sessions as they are stored now.
func (c *catalog) rereadSessions(ctx context.Context, rows table.Selection) (*catalog, error) {
	now := *c
	if now.layout.Prepare != nil && len(rows.Keys) > 0 {
		if err := now.layout.Prepare(ctx, now.sessions.db, rows.Keys); err != nil {
			return nil, err
		}
	}
	own := *c.owners
	now.owners, own.list = &own, slices.Clone(own.list)
	for i := range own.list {
		own.list[i].row = gone
	}
	if len(rows.Keys) > 0 {
		_, err := now.sessions.scanRows(ctx, now.sessions.Key, rows.Keys, func(row Row) error {
			if i, ok := own.numberByKey(row.valuesOf(now.sessions.Key)); ok {
				own.list[i].row = row.Place
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(c.doubled) == 0 { // the plan knows events by their ids, whoever got one since
		return &now, nil
	}
	return &now, now.findDoubled(ctx)
}

// sessionSelections are the rows of sessions, and of their events.
func (c *catalog) sessionSelections(list []int) [2]table.Selection {
	keys := lists.MapEach(list, func(n int) []table.Value { return c.list[n].keyValues() })
	return [2]table.Selection{
		{Table: c.sessions.Name, Columns: c.sessions.Columns, Key: c.sessions.Key, Keys: keys},
		{Table: c.events.Name, Columns: c.events.Columns, Key: c.events.Key, Keys: keys},
	}
}

// Identity is what tells the database from another one of its name.
func (e *editor) Identity() string { return e.Reader().About().Identity }

// Backup implements store.Editor. Where the database cannot be copied, the file has the rows
// of the sessions, one a line, and ends with their number.
func (e *editor) Backup(ctx context.Context, path string, sessions []string, progress func(done int64)) error {
	type copier interface {
		Backup(ctx context.Context, path string, sessions []string, progress func(done int64)) error
	}
	base := e.Editor
	if w, ok := base.(Wrapped); ok {
		base = w.Base()
	}
	if whole, ok := base.(copier); ok {
		return whole.Backup(ctx, path, sessions, progress)
	}
	c, err := newCatalog(ctx, e.Reader(), e.layout)
	if err != nil {
		return e.Reader().Explain(err)
	}
	file, err := atomicfile.Create(ctx, path, 0o600)
	if err != nil {
		return notBackedUp(path, err)
	}
	out, rows, done := bufio.NewWriter(file), 0, int64(0)
	for _, part := range c.sessionSelections(c.findSessions(sessions)) {
		wanted := map[string]bool{}
		for _, key := range part.Keys {
			wanted[string(joinedKey(nil, key))] = true
		}
		names := &jsonscan.Names[int]{}
		for i, column := range part.Columns {
			names.Set(column, i)
		}
		lost, err := e.Reader().Scan(ctx, part, func(_ table.Place, values []table.Value) error {
			row := Row{names: names, values: values}
			if !wanted[string(joinedKey(nil, row.valuesOf(part.Key)))] {
				return nil
			}
			n, err := fmt.Fprintf(out, "{\"table\":%q,\"row\":%s}\n", part.Table, row.Record(part.Columns))
			rows, done = rows+1, done+int64(n)
			if progress != nil {
				progress(done)
			}
			return err
		})
		if err == nil && lost != nil {
			err = problem.New(problem.Unreadable, "", "%s is damaged: %s", part.Table, lost[0].Detail)
		}
		if err != nil {
			return errors.Join(e.Reader().Explain(err), file.Discard())
		}
	}
	_, err = fmt.Fprintf(out, "{\"rows\":%d}\n", rows)
	_ = out.Flush() // Commit tells of a write that failed
	if err = errors.Join(err, file.Commit()); err != nil {
		return notBackedUp(path, err)
	}
	return nil
}

func notBackedUp(path string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err, Next: "Nothing was changed. Free some space there, or make it writable, and try again.",
		What: "the backup " + path + " cannot be written: " + problem.Reason(err),
	}
}

type digest = [sha256.Size]byte

// eventSum are the digests of an event: of its whole row, and of what it says.
type eventSum struct {
	row         table.Place
	at          int64
	key         string
	whole, said digest
}

// readSums reads the digests of sessions, those that do not exist included; events is how
// their events are found.
func (c *catalog) readSums(ctx context.Context, sessions []string, events reading) (map[string]store.Sum, error) {
	result := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		result[id] = store.Sum{}
	}
	list := append([]int{}, c.findSessions(sessions)...)
	places := lists.MapEach(list, func(n int) table.Place { return c.list[n].row })
	own := make([]digest, len(list))
	var buf []byte
	_, err := c.sessions.readRows(ctx, c.sessions.Columns, places, func(n int, row Row) error {
		buf = appendColumns(buf[:0], row, c.sessions.ownColumns(), nil)
		own[n] = sha256.Sum256(buf)
		return nil
	})
	if err != nil {
		return nil, err
	}
	read, apart := map[int][]eventSum{}, map[int]bool{}
	_, err = events(ctx, list, c.events.Columns, func(owner int, row Row) error {
		sum := eventSum{row: row.Place, key: c.eventKey(&c.list[owner], row)}
		sum.at, _ = c.layout.Order(row.Place, row)
		buf = appendColumns(buf[:0], row, c.events.ownColumns(), nil)
		sum.whole = sha256.Sum256(buf)
		buf = appendColumns(buf[:0], row, c.layout.Said, c.layout.Content)
		sum.said = sha256.Sum256(buf)
		read[owner] = append(read[owner], sum)
		apart[owner] = apart[owner] || c.isApart(owner, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, n := range list {
		all := own[i][:]
		if c.layout.OtherTables != nil {
			others := sha256.Sum256(c.layout.OtherTables(c.list[n].keyValues()))
			all = append(all, others[:]...)
		}
		sum := sumOf(all, read[n], c.moving)
		if apart[n] {
			sum.Record = ""
		}
		result[c.list[n].name] = sum
	}
	return result, nil
}

// isApart reports whether an event names its session by values of another type, so that
// no statement finds it as one of the session's.
func (c *catalog) isApart(owner int, row Row) bool {
	for i, value := range c.list[owner].keyValues() {
		_, blob := row.Value(c.events.Key[i]).([]byte)
		if _, named := value.([]byte); blob != named {
			return true
		}
	}
	return false
}

// sumOf puts together what was read of a session. own are the digests of what is
// stored of it besides its events. Where rows move, the places of events tell only the order
// of those of one time, and an undo does not bring that back: Exact is without it.
func sumOf(own []byte, events []eventSum, moving bool) store.Sum {
	slices.SortFunc(events, func(a, b eventSum) int {
		if moving && a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.row, b.row)
	})
	record := sha256.Sum256(own)
	sum := store.Sum{Own: hex.EncodeToString(record[:]), Items: make(map[string]string, len(events))}
	exact := slices.Clone(own)
	for i := range events {
		sum.Items[events[i].key] = hex.EncodeToString(events[i].said[:])
		own = append(own, events[i].whole[:]...)
	}
	record = sha256.Sum256(own)
	sum.Record = hex.EncodeToString(record[:])
	sum.Exact = sum.Record // all columns are in it that a repair writes
	if moving {
		slices.SortFunc(events, func(a, b eventSum) int { return bytes.Compare(a.whole[:], b.whole[:]) })
		for i := range events {
			exact = append(exact, events[i].whole[:]...)
		}
		record = sha256.Sum256(exact)
		sum.Exact = hex.EncodeToString(record[:])
	}
	return sum
}

// appendColumns appends the columns of a row that it has, with their exact types,
// or what counts of them.
func appendColumns(buf []byte, row Row, names []string, content func(column string, value any) any) []byte {
	for _, name := range names {
		if !row.HasColumn(name) {
			continue
		}
		value := row.Value(name)
		if content != nil {
			value = content(name, value)
		}
		buf = table.AppendExactly(table.AppendExactly(buf, name), value)
	}
	return buf
}
