package eventlog

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
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
	only     []int                // the sessions that are read
	heads    []*session.Session   // without items; nil for those that are not read, and where sessions are apart
	entries  [][]entry            // of each session, in order
	links    [][]int              // of each session, those that its events name
	unsaid   [][]string           // of each session, those of them that no item names
	trees    []*session.Tree      // of heads, none where sessions are apart
	orphaned map[table.Place]bool // rows of events without a session
	narrowed bool                 // only is what was asked for, and not what a repair reads again
	live     [2]time.Time         // between which a session was written to that somebody is writing to
	alone    bool                 // that is one session, for which nothing else is looked at
	progress func(int64)
	bodies   func(*session.Session) bool
	lacks    func([]byte) uint64 // nil where all sessions are read
	glimpses []store.Glimpse     // of each session, where lacks is set
}

// Store reads what is needed to yield trees. It is a store.Summer and a
// store.Copier, too. Every event without a session is in an OrphanRecord fault of
// the facts, one for each missing session, unless only some sessions are read.
func (o Open) Store(ctx context.Context) (store.Store, error) {
	st, err := o.readStore(ctx)
	if err != nil {
		return nil, o.DB.Explain(err)
	}
	return st, nil
}

func (o Open) readStore(ctx context.Context) (*logStore, error) {
	c, err := newCatalog(ctx, o.DB, o.Layout)
	if err != nil {
		return nil, err
	}
	return o.readOf(ctx, c)
}

func (o Open) readOf(ctx context.Context, c *catalog) (*logStore, error) {
	st := &logStore{catalog: c, db: o.DB, facts: o.Facts, orphaned: map[table.Place]bool{}, progress: o.Options.Progress, bodies: o.Options.Bodies}
	if o.Layout.Verbatim != nil && o.Sessions == nil && !o.Options.Deep {
		st.lacks = o.Options.Lacks
	}
	about := o.DB.About()
	st.facts.Path, st.facts.Bytes, st.facts.Identity = about.Name, about.Bytes, about.Identity
	st.facts.Writer, st.facts.WriterName = about.Writer, about.WriterName
	if within := o.Options.Live; within > 0 && !about.Now.IsZero() && about.Writer != session.WriterDead {
		st.live = [2]time.Time{about.Now.Add(-within), about.Now.Add(within)}
	}
	st.facts.Brief, st.facts.TiesMove, st.facts.TiesByKey = o.Options.Brief > 0, about.Moving && !about.ByKey, about.ByKey
	st.facts.TurnsTies = st.facts.TurnsTies && !about.ByKey // nobody knows the order of writing
	st.facts.Incomplete, st.facts.Recovery = cmp.Or(st.facts.Incomplete, about.Incomplete), about.Recovery
	st.facts.ReadOnly = cmp.Or(st.facts.ReadOnly, about.ReadOnly)
	for _, name := range append([]string{o.Layout.Sessions.Name, o.Layout.Events.Name}, o.Layout.Write.OtherNames...) {
		t := c.schema.Tables[name]
		st.facts.ReadOnly, st.facts.Incomplete = cmp.Or(st.facts.ReadOnly, t.ReadOnly), cmp.Or(st.facts.Incomplete, t.Incomplete)
	}
	st.facts.Faults = slices.Concat(about.Faults, o.Facts.Faults, c.faults)
	st.facts.Triggers = slices.DeleteFunc(slices.Clone(c.schema.Triggers), func(t session.Trigger) bool { return slices.Contains(o.Layout.Triggers, t.Name) })
	var only []int // nil for all
	if o.Sessions != nil {
		only = append([]int{}, c.findSessions(o.Sessions)...)
		st.only = only
	} else {
		for i := range st.list {
			st.only = append(st.only, i)
		}
	}
	if err := st.readHeads(ctx); err != nil {
		return nil, err
	}
	whole := o.Sessions == nil
	if whole {
		if err := st.narrowSessions(ctx, o.Options); err != nil {
			return nil, err
		}
		if st.narrowed {
			only = st.only
		}
	}
	if err := st.readEvents(ctx, only); err != nil {
		return nil, err
	}
	st.groupHeads()
	st.leaveLacking()
	if !whole || st.alone {
		return st, nil
	}
	rest, err := o.DB.Faults(ctx, o.Options.Deep)
	for _, f := range rest {
		if !st.isExplained(f) {
			st.facts.Faults = append(st.facts.Faults, f)
		}
	}
	return st, err
}

// isExplained reports whether a fault is the foreign key of an event without a
// session, which another fault tells of.
func (st *logStore) isExplained(f session.Fault) bool {
	row, err := strconv.ParseInt(f.Ref.Key, 10, 64)
	return err == nil && f.Kind == session.ForeignKey && f.Ref.Table == st.events.Name && st.orphaned[table.Place(row)]
}

// hasUnlinkedSessions reports whether sessions know nothing of each other: then each is a tree of its
// own, and its row is read when its turn comes.
func (st *logStore) hasUnlinkedSessions() bool {
	return st.layout.Links == nil && st.sessions.Parent == ""
}

// readHeads reads the sessions' own rows where trees are made of them.
func (st *logStore) readHeads(ctx context.Context) error {
	if st.hasUnlinkedSessions() {
		return nil
	}
	heads, err := st.headsOf(ctx, st.only)
	if err != nil {
		return err
	}
	st.heads = make([]*session.Session, len(st.list))
	for n, i := range st.only {
		st.heads[i] = heads[n]
	}
	return nil
}

// headsOf are some sessions as their own rows have them.
func (st *logStore) headsOf(ctx context.Context, list []int) ([]*session.Session, error) {
	heads, rows := make([]*session.Session, len(list)), make([]table.Place, len(list))
	for n, i := range list {
		rows[n] = st.list[i].row
	}
	unread, err := st.sessions.readRows(ctx, st.sessions.Columns, rows, func(n int, row Row) error {
		s := st.layout.Session(row)
		owner := &st.list[list[n]]
		s.ID = owner.name
		if id := column.View(row.Value(st.sessions.Parent)); id != "" {
			s.Parent = st.nameOf(owner, strings.Clone(id))
		}
		for i := range s.Faults {
			s.Faults[i] = locatedFault(s.Faults[i], -1, s.Ref())
		}
		heads[n] = s
		return nil
	})
	for _, n := range unread {
		s := &session.Session{ID: st.list[list[n]].name}
		s.Faults = []session.Fault{{
			Kind: session.StoreDamaged, Item: -1, Ref: s.Ref(),
			Detail: "only the id of the session can be read: the rest of its row is on a damaged page of the file",
		}}
		heads[n] = s
	}
	return heads, err
}

// eventsAtOnce are read with one query, where trees are small.
const eventsAtOnce = 500

// Facts implements store.Store.
func (st *logStore) Facts() *session.Store { return &st.facts }

// Close implements store.Store.
func (st *logStore) Close() error { return nil }

// Trees yields the sessions that links connect together, in the order of the rows of
// their roots.
func (st *logStore) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return st.Pick(ctx, func(*session.Tree, time.Time) bool { return true })
}

// Pick implements store.Picker.
func (st *logStore) Pick(ctx context.Context, keep func(heads *session.Tree, newest time.Time) bool) iter.Seq2[*session.Tree, error] {
	return st.treesOf(ctx, func(yield func([]*session.Tree, error) bool) {
		var batch []*session.Tree
		events := 0
		for heads, err := range st.allHeads(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !keep(heads, st.newestTime(heads)) {
				continue
			}
			batch, events = append(batch, heads), events+st.countEvents(heads)
			if events >= eventsAtOnce { // small trees are read together
				if !yield(batch, nil) {
					return
				}
				batch, events = nil, 0
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	})
}

// allHeads are the trees without items, in their order.
func (st *logStore) allHeads(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for _, heads := range st.trees {
			if !yield(heads, nil) {
				return
			}
		}
		if !st.hasUnlinkedSessions() {
			return
		}
		for some := range slices.Chunk(st.only, eventsAtOnce) {
			heads, err := st.headsOf(ctx, some)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, s := range heads {
				if !yield(&session.Tree{Sessions: []*session.Session{s}}, nil) {
					return
				}
			}
		}
	}
}

// entriesOf are the events of a session.
func (st *logStore) entriesOf(s *session.Session) []entry {
	n, _ := st.numberByName(s.ID)
	return st.entries[n]
}

// newestTime is the newest time of the events of a tree, zero where one of them is not known.
func (st *logStore) newestTime(heads *session.Tree) time.Time {
	last := int64(math.MinInt64)
	for _, s := range heads.Sessions {
		for _, e := range st.entriesOf(s) {
			if !st.layout.Timed || e.at <= 0 || e.at == math.MaxInt64 {
				return time.Time{}
			}
			last = max(last, e.at)
		}
	}
	return time.UnixMicro(last)
}

// treesOf yields the trees of heads, which come in batches.
func (st *logStore) treesOf(ctx context.Context, batches iter.Seq2[[]*session.Tree, error]) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		rows := newDecoder(st)
		defer rows.closeQueue()
		emit := func(g *group) bool {
			for _, tree := range st.finishGroup(g) {
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return false
				}
				if !yield(tree, nil) {
					return false
				}
			}
			return true
		}
		var before *group // whose rows are decoded while the next ones are read
		for heads, err := range batches {
			var next *group
			if err == nil {
				next, err = st.readTrees(ctx, heads, rows)
			}
			if err != nil {
				yield(nil, st.db.Explain(err))
				return
			}
			if !emit(before) {
				return
			}
			if before = next; next.bodies || next.events > 10*eventsAtOnce { // not two large ones, or their texts, at a time
				if !emit(next) {
					return
				}
				before = nil
			}
		}
		emit(before)
	}
}

func (st *logStore) countEvents(heads *session.Tree) (events int) {
	for _, s := range heads.Sessions {
		events += len(st.entriesOf(s))
	}
	return events
}

// Relate implements store.Relater.
func (st *logStore) Relate(tree *session.Tree) {
	if st.layout.Regathers {
		st.layout.Gather(tree)
	}
	if st.layout.Relate != nil {
		for _, s := range tree.Sessions {
			st.layout.Relate(s)
		}
	}
	if st.layout.Links != nil {
		st.regroupTree(tree)
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
	unread, err := st.events.readRows(ctx, names, rows, func(n int, row Row) error { return fn(owners[n], row) })
	if err == nil && len(unread) > 0 {
		err = staleError(st.events.Name, "row "+strconv.FormatInt(int64(rows[unread[0]]), 10))
	}
	return nil, err
}

// hasTree reports whether all sessions of a tree were read.
func (st *logStore) hasTree(tree *session.Tree) bool {
	ids := lists.MapEach(tree.Sessions, func(s *session.Session) string { return s.ID })
	return st.hasSessions(ids)
}

// hasSessions reports whether these sessions were read.
func (st *logStore) hasSessions(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		i, ok := st.numberByName(id)
		if ok {
			_, ok = slices.BinarySearch(st.only, i)
		}
		return !ok
	})
}

// Sums implements store.Summer.
func (st *logStore) Sums(ctx context.Context, sessions []string) (map[string]store.Sum, error) {
	found, err := st.readSums(ctx, sessions, st.knownEvents)
	return found, st.db.Explain(err)
}

// Copy implements store.Copier.
func (st *logStore) Copy(ctx context.Context, path string, progress func(done int64)) (*store.Source, error) {
	from, ok := storedBy(st.db).(table.Copier)
	if !ok {
		return nil, problem.New(problem.Usage, "Export it with `sessctl export` and repair the stream.", "%s is not a file that can be copied", st.facts.Path)
	}
	edit, err := from.Copy(ctx, path, progress)
	return &store.Source{Path: path, Edit: edit}, err
}

// locatedFault is a fault with the place that it is at. What it points at within the
// record stays.
func locatedFault(f session.Fault, item int, at session.Ref) session.Fault {
	at.Pointer = f.Ref.Pointer
	f.Item, f.Ref = item, at
	return f
}

// Fill loads the bodies of a tree's items. A tree may have some of the items of a
// session only.
func (st *logStore) Fill(ctx context.Context, tree *session.Tree) error {
	for _, s := range tree.Sessions {
		if !slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Body == nil }) {
			continue
		}
		if err := st.fillSession(ctx, s); err != nil {
			return st.db.Explain(err)
		}
	}
	return nil
}

// FillParts implements store.PartFiller.
func (st *logStore) FillParts(ctx context.Context, _ *session.Tree) (*store.Parts, error) {
	return &store.Parts{Fill: func(part *session.Tree) error { return st.Fill(ctx, part) }}, nil
}

func (st *logStore) fillSession(ctx context.Context, s *session.Session) error {
	wanted, at := make(map[string]*session.Item, len(s.Items)), make(map[int64]bool, len(s.Items))
	for i := range s.Items {
		wanted[s.Items[i].Key], at[s.Items[i].Position] = &s.Items[i], true
	}
	n, ok := st.numberByName(s.ID)
	if !ok {
		return errors.New("session " + s.ID + " is not in the store")
	}
	var places []table.Place
	for _, e := range st.entries[n] {
		if at[e.at] {
			places = append(places, e.row)
		}
	}
	_, err := st.events.readRows(ctx, st.events.Columns, places, func(_ int, row Row) error {
		key := st.eventKey(&st.list[n], row)
		if it := wanted[key]; it != nil {
			delete(wanted, key)
			st.fillBody(row, it)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for key, it := range wanted {
		if it.Kind != session.Other { // else a fault tells of it
			return problem.New(problem.Unreadable, "`sessctl check` says what is damaged",
				"%s is damaged: %s/%s cannot be read again", st.facts.Path, it.Table(), key)
		}
		it.Body = &session.Body{}
	}
	return nil
}

// fillBody sets what an event says, and nothing else.
func (st *logStore) fillBody(row Row, it *session.Item) {
	full := session.Item{Shared: &session.Shared{Table: it.Table()}, Key: it.Key, Position: it.Position}
	st.layout.Item(row, &full, true)
	it.TakeTexts(&full)
}
