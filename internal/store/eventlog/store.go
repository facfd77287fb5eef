package eventlog

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// logStore is an opened store: the sessions without their events, and where these
// are.
type logStore struct {
	*catalog
	db       table.Reader
	facts    session.Store
	only     []int                // the sessions that are read, nil for all
	heads    []*session.Session   // without items; nil for those that are not read
	entries  [][]entry            // of each session, in order
	links    [][]int              // of each session, those that its events name
	unsaid   [][]string           // of each session, those of them that no item names
	trees    []*session.Tree      // of heads
	orphaned map[table.Place]bool // rows of events without a session
	progress func(int64)
}

// Store reads what is needed to yield trees. It is a store.Summer and a
// store.Copier, too. Every event without a session is in an OrphanRecord fault of
// the facts, one for each missing session, unless only some sessions are read.
func (o Open) Store(ctx context.Context) (store.Store, error) {
	st, err := o.read(ctx)
	if err != nil {
		return nil, o.DB.Explain(err)
	}
	return st, nil
}

func (o Open) read(ctx context.Context) (*logStore, error) {
	c, err := newCatalog(ctx, o.DB, o.Layout)
	if err != nil {
		return nil, err
	}
	st := &logStore{catalog: c, db: o.DB, facts: o.Facts, orphaned: map[table.Place]bool{}, progress: o.Progress}
	about := o.DB.About()
	st.facts.Path, st.facts.Bytes = about.Name, about.Bytes
	st.facts.Writer, st.facts.WriterName = about.Writer, about.WriterName
	st.facts.Incomplete, st.facts.Recovery = about.Incomplete, about.Recovery
	st.facts.ReadOnly = cmp.Or(st.facts.ReadOnly, about.ReadOnly)
	st.facts.Faults = slices.Concat(about.Faults, o.Facts.Faults, c.faults)
	st.facts.Triggers = slices.DeleteFunc(slices.Clone(c.schema.Triggers), func(t session.Trigger) bool { return slices.Contains(o.Layout.Triggers, t.Name) })
	if o.Sessions != nil {
		st.only = append([]int{}, c.find(o.Sessions)...)
	}
	if err := st.readHeads(ctx); err != nil {
		return nil, err
	}
	if err := st.readEvents(ctx); err != nil {
		return nil, err
	}
	st.group()
	if o.Sessions != nil {
		return st, nil
	}
	rest, err := o.DB.Faults(ctx, o.Deep)
	for _, f := range rest {
		if !st.explained(f) {
			st.facts.Faults = append(st.facts.Faults, f)
		}
	}
	return st, err
}

// explained reports whether a fault is the foreign key of an event without a
// session, which another fault tells of.
func (st *logStore) explained(f session.Fault) bool {
	row, err := strconv.ParseInt(f.Ref.Key, 10, 64)
	return err == nil && f.Kind == session.ForeignKey && f.Ref.Table == st.events.Name && st.orphaned[table.Place(row)]
}

// readHeads reads the sessions' own rows.
func (st *logStore) readHeads(ctx context.Context) error {
	st.heads = make([]*session.Session, len(st.list))
	places := st.only
	if places == nil {
		for i := range st.list {
			places = append(places, i)
		}
	}
	rows := make([]table.Place, len(places))
	for n, i := range places {
		rows[n] = st.list[i].row
	}
	unread, err := st.sessions.rows(ctx, st.sessions.Columns, rows, func(n int, row Row) error {
		s := st.layout.Session(row)
		owner := &st.list[places[n]]
		s.ID = owner.name
		if id := column.View(row.Value(st.sessions.Parent)); id != "" {
			s.Parent = st.nameOf(owner, strings.Clone(id))
		}
		for i := range s.Faults {
			s.Faults[i] = located(s.Faults[i], -1, s.Ref())
		}
		st.heads[places[n]] = s
		return nil
	})
	for _, n := range unread {
		s := &session.Session{ID: st.list[places[n]].name}
		s.Faults = []session.Fault{{
			Kind: session.StoreDamaged, Item: -1, Ref: s.Ref(),
			Detail: "only the id of the session can be read: the rest of its row is on a damaged page of the file",
		}}
		st.heads[places[n]] = s
	}
	return err
}

// eventsAtOnce are read with one query, where trees are small.
const eventsAtOnce = 1000

// Facts implements store.Store.
func (st *logStore) Facts() *session.Store { return &st.facts }

// Close implements store.Store.
func (st *logStore) Close() error { return nil }

// Trees yields the sessions that links connect together, in the order of the rows of
// their roots.
func (st *logStore) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for from := 0; from < len(st.trees); {
			to, events := from, 0
			for to < len(st.trees) && events < eventsAtOnce { // small trees are read together
				for _, s := range st.trees[to].Sessions {
					events += len(st.entries[st.byName[s.ID]])
				}
				to++
			}
			trees, err := st.decode(ctx, st.trees[from:to])
			if err != nil {
				yield(nil, st.db.Explain(err))
				return
			}
			for _, tree := range trees {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if !yield(tree, nil) {
					return
				}
			}
			from = to
		}
	}
}

// Relate implements store.Relater.
func (st *logStore) Relate(tree *session.Tree) {
	if st.layout.Relate != nil {
		for _, s := range tree.Sessions {
			st.layout.Relate(s)
		}
	}
	if st.layout.Links != nil {
		st.regroup(tree)
	}
}

// knownEvents is a reading by the rows that the first pass found. Few of these stores
// have an index by session: without one every other reading goes through the whole
// table, for one session as for all.
func (st *logStore) knownEvents(ctx context.Context, list []int, names []string, fn func(owner int, row Row) error) ([]session.Fault, error) {
	var rows []table.Place
	var owners []int
	for _, i := range list {
		for _, e := range st.entries[i] {
			rows, owners = append(rows, e.row), append(owners, i)
		}
	}
	unread, err := st.events.rows(ctx, names, rows, func(n int, row Row) error { return fn(owners[n], row) })
	if err == nil && len(unread) > 0 {
		err = stale(st.events.Name, "row "+strconv.FormatInt(int64(rows[unread[0]]), 10))
	}
	return nil, err
}

// knows reports whether all sessions of a tree were read.
func (st *logStore) knows(tree *session.Tree) bool {
	return !slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool {
		i, ok := st.byName[s.ID]
		return !ok || st.heads[i] == nil
	})
}

// Sums implements store.Summer.
func (st *logStore) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	found, err := st.sums(ctx, sessions, st.knownEvents)
	return found, st.db.Explain(err)
}

// Copy implements store.Copier.
func (st *logStore) Copy(ctx context.Context, path string, progress func(done int64)) (*store.Source, error) {
	from, ok := st.db.(table.Copier)
	if !ok {
		return nil, problem.New(problem.Usage, "Export it with `sessctl export` and repair the stream.", "%s is not a file that can be copied", st.facts.Path)
	}
	edit, err := from.Copy(ctx, path, progress)
	return &store.Source{Path: path, Edit: edit}, err
}

// slot is the place of an event in a session that is being read.
type slot struct {
	s     *session.Session
	owner *owner
	item  int
	at    int64
}

// decode reads the trees of some heads, without bodies.
func (st *logStore) decode(ctx context.Context, heads []*session.Tree) ([]*session.Tree, error) {
	trees := make([]*session.Tree, len(heads))
	var sessions []*session.Session
	var slots []slot
	var places []table.Place
	for i := range heads {
		trees[i] = copied(heads[i])
		sessions = append(sessions, trees[i].Sessions...)
	}
	for _, s := range sessions {
		i := st.byName[s.ID]
		s.Items = make([]session.Item, len(st.entries[i]))
		for n, e := range st.entries[i] {
			slots, places = append(slots, slot{s, &st.list[i], n, e.at}), append(places, e.row)
		}
	}
	unread, err := st.events.rows(ctx, st.events.Columns, places, func(n int, row Row) error {
		st.item(&slots[n], row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, n := range unread {
		if err := st.unreadable(ctx, &slots[n], places[n]); err != nil {
			return nil, err
		}
	}
	for _, s := range sessions {
		if len(s.Items) == 0 {
			s.Items = nil
		}
		slices.SortStableFunc(s.Faults, func(a, b session.Fault) int { return cmp.Compare(a.Item, b.Item) })
		if st.layout.Finish != nil {
			st.layout.Finish(s)
		}
		if st.layout.Links != nil {
			st.keepUnsaid(s)
		}
	}
	return trees, nil
}

// item decodes an event into its place.
func (st *logStore) item(to *slot, row Row) {
	it := &to.s.Items[to.item]
	it.Table, it.Key, it.Position = st.events.Name, st.key(to.owner, row), to.at
	for _, f := range st.layout.Item(row, it, false) {
		to.s.Faults = append(to.s.Faults, located(f, to.item, to.s.ItemRef(to.item)))
	}
	st.nameChildren(to.owner, it)
}

// located is a fault with the place that it is at. What it points at within the
// record stays.
func located(f session.Fault, item int, at session.Ref) session.Fault {
	at.Pointer = f.Ref.Pointer
	f.Item, f.Ref = item, at
	return f
}

// unreadable keeps the place of an event whose row cannot be read.
func (st *logStore) unreadable(ctx context.Context, to *slot, at table.Place) error {
	row := Row{Place: at}
	_, err := st.events.rows(ctx, []string{st.events.ID}, []table.Place{at}, func(_ int, read Row) error {
		row = read.kept()
		return nil
	})
	if err != nil {
		return err
	}
	it := &to.s.Items[to.item]
	it.Table, it.Key, it.Position, it.Kind = st.events.Name, st.key(to.owner, row), to.at, session.Other
	to.s.Faults = append(to.s.Faults, session.Fault{
		Kind: session.StoreDamaged, Item: to.item, Ref: to.s.ItemRef(to.item),
		Detail: "the event cannot be read: it is on a damaged page of the file",
	})
	return nil
}

// Fill loads the bodies of a tree's items. A tree may have some of the items of a
// session only.
func (st *logStore) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		if err := st.fill(ctx, s); err != nil {
			return st.db.Explain(err)
		}
	}
	return nil
}

func (st *logStore) fill(ctx context.Context, s *session.Session) error {
	wanted := make(map[string]*session.Item, len(s.Items))
	for i := range s.Items {
		wanted[s.Items[i].Key] = &s.Items[i]
	}
	n, ok := st.byName[s.ID]
	if !ok {
		return errors.New("session " + s.ID + " is not in the store")
	}
	places := make([]table.Place, len(st.entries[n]))
	for i, e := range st.entries[n] {
		places[i] = e.row
	}
	_, err := st.events.rows(ctx, st.events.Columns, places, func(_ int, row Row) error {
		key := st.key(&st.list[n], row)
		if it := wanted[key]; it != nil {
			delete(wanted, key)
			st.body(row, it)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, it := range wanted {
		if it.Kind != session.Other { // else a fault tells of it
			return problem.New(problem.Unreadable, "`sessctl check` says what is damaged",
				"%s is damaged: %s/%s cannot be read again", st.facts.Path, it.Table, key)
		}
		it.Body = &session.Body{}
	}
	return nil
}

// body sets what an event says, and nothing else.
func (st *logStore) body(row Row, it *session.Item) {
	full := session.Item{Table: it.Table, Key: it.Key, Position: it.Position}
	st.layout.Item(row, &full, true)
	it.Body = full.Body
	for i := range min(len(it.Calls), len(full.Calls)) {
		it.Calls[i].Args = full.Calls[i].Args
	}
	for i := range min(len(it.Results), len(full.Results)) {
		it.Results[i].Text = full.Results[i].Text
	}
}
