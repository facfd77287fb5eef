package eventlog

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

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
	known  *logStore // what the transaction that is open read last: where its events are
}

// Edit opens a database for repair or undo.
func Edit(ctx context.Context, src *store.Source, reread Reread) (store.Editor, error) {
	edit, err := src.Edit(ctx)
	if err != nil {
		return nil, err
	}
	facts, layout, err := reread(ctx, edit.Reader())
	if why := facts.ReadOnly; err == nil && why != "" {
		err = problem.New(problem.Unreadable, "Export it with `sessctl export` and repair the stream.", "%s cannot be repaired in place: %s", src.Path, why)
	}
	if err == nil {
		err = errors.Join(edit.Derived(ctx, layout.Sessions.Name, layout.Sessions.Derived...), edit.Derived(ctx, layout.Events.Name, layout.Events.Derived...))
	}
	if err != nil {
		return nil, errors.Join(edit.Reader().Explain(err), edit.Close())
	}
	return &editor{Editor: edit, facts: facts, layout: layout}, nil
}

func (e *editor) Read(ctx context.Context, sessions []string) (store.Store, error) {
	st, err := Open{DB: e.Reader(), Facts: e.facts, Layout: e.layout, Sessions: append([]string{}, sessions...)}.read(ctx)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	e.known = st
	return st, nil
}

func (e *editor) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	c, err := newCatalog(ctx, e.Reader(), e.layout)
	if err != nil {
		return nil, e.Reader().Explain(err)
	}
	sums, err := c.sums(ctx, sessions, c.eventsOf)
	return sums, e.Reader().Explain(err)
}

func (e *editor) Write(ctx context.Context, c *store.Change) error {
	all, sessions, err := differences(c, e.layout)
	if err != nil {
		return err
	}
	w := writer{edit: e.Editor, write: &e.layout.Write, changed: sessions, created: map[string]*owner{}}
	if st := e.known; st != nil && st.knows(c.Before) {
		w.catalog, w.stored = st.catalog, st.knownEvents
	} else {
		if w.catalog, err = newCatalog(ctx, e.Reader(), e.layout); err != nil {
			return e.Reader().Explain(err)
		}
		w.stored = w.eventsOf
	}
	return e.Reader().Explain(w.all(ctx, all))
}

func (e *editor) Revert(ctx context.Context, journal []byte) error {
	l := e.layout
	return e.Editor.Revert(ctx, journal, append([]string{l.Sessions.Name, l.Events.Name}, l.Write.OtherNames...)...)
}

type digest = [sha256.Size]byte

// eventSum are the digests of an event: of its whole row, and of what it says.
type eventSum struct {
	row         table.Place
	key         string
	whole, said digest
}

// sums reads the digests of sessions, those that do not exist included; events is how
// their events are found.
func (c *catalog) sums(ctx context.Context, sessions []string, events reading) (map[string]store.Sum, error) {
	result := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		result[id] = store.Sum{}
	}
	list := append([]int{}, c.find(sessions)...)
	places := make([]table.Place, len(list))
	for i, n := range list {
		places[i] = c.list[n].row
	}
	own := make([]digest, len(list))
	var buf []byte
	_, err := c.sessions.rows(ctx, c.sessions.Columns, places, func(n int, row Row) error {
		buf = appendColumns(buf[:0], row, c.sessions.own(), nil)
		own[n] = sha256.Sum256(buf)
		return nil
	})
	if err != nil {
		return nil, err
	}
	read, apart := map[int][]eventSum{}, map[int]bool{}
	_, err = events(ctx, list, c.events.Columns, func(owner int, row Row) error {
		sum := eventSum{row: row.Place, key: c.key(&c.list[owner], row)}
		buf = appendColumns(buf[:0], row, c.events.own(), nil)
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
			others := sha256.Sum256(c.layout.OtherTables(c.list[n].key))
			all = append(all, others[:]...)
		}
		sum := sumOf(all, read[n])
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
	for i, column := range c.events.Key {
		_, blob := row.Value(column).([]byte)
		if _, named := c.list[owner].key[i].([]byte); blob != named {
			return true
		}
	}
	return false
}

// sumOf puts together what was read of a session. own are the digests of what is
// stored of it besides its events.
func sumOf(own []byte, events []eventSum) store.Sum {
	slices.SortFunc(events, func(a, b eventSum) int { return cmp.Compare(a.row, b.row) })
	record := sha256.Sum256(own)
	sum := store.Sum{Own: hex.EncodeToString(record[:]), Items: make(map[string]string, len(events))}
	for i := range events {
		sum.Items[events[i].key] = hex.EncodeToString(events[i].said[:])
		own = append(own, events[i].whole[:]...)
	}
	record = sha256.Sum256(own)
	sum.Record = hex.EncodeToString(record[:])
	sum.Exact = sum.Record // all columns are in it that a repair writes
	return sum
}

// appendColumns appends the columns of a row that it has, with their exact types,
// or what counts of them.
func appendColumns(buf []byte, row Row, names []string, content func(column string, value any) any) []byte {
	for _, name := range names {
		if !row.Has(name) {
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
