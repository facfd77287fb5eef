package dockeragent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/forest"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

const (
	tableSessions = "sessions"
	tableItems    = "session_items"
	tableColumn   = "sessions.messages" // items that only the legacy column holds
	tableNested   = "sub_session"       // items of a sub-session that no database holds
)

// agentStore is an opened database: sessions as records, items as packed
// outlines. Memory follows the number of items.
type agentStore struct {
	db       *sqlite.DB
	schema   schema
	facts    session.Store
	sessions []*session.Session // without items, in row order
	numbers  map[string]uint32  // a number for every session id that an item or a session has
	stored   []*session.Session // by number; nil for ids that only items have
	rowids   map[string]int64   // of the stored sessions; not of those nested in a column
	costs    map[string]float64 // recorded, by session id, in dollars
	parts    []*part            // what each decoder collected
	trees    []*session.Tree    // of sessions without items
	progress func(int64)
	only     subset         // the rows that are read
	wanted   map[string]int // the sessions that are read, by the place of their tree; nil for all
	lacks    func([]byte) uint64
	glimpses []store.Glimpse // by number, where lacks is set
}

// newStore is a store of which nothing but the schema is read.
func newStore(ctx context.Context, db *sqlite.DB, path string, bytes int64) (*agentStore, error) {
	sc, faults, err := readSchema(ctx, db)
	if err != nil {
		return nil, err
	}
	st := &agentStore{db: db, schema: sc, numbers: map[string]uint32{}, rowids: map[string]int64{}, costs: map[string]float64{}}
	st.facts = session.Store{
		Path: path, Kind: kindName, Title: kindTitle, Generation: sc.name(), Bytes: bytes, Writer: db.Writer.State,
		WriterName: db.Writer.Name, Runtime: sc.runtimeFacts(), Versions: sc.describeRuntime(), Advice: sc.upgradeAdvice(),
		Children: Children, Requests: session.Requests{Adapts: sc.collectAdaptations()},
		Condition: session.Condition{
			ReadOnly: sc.explainReadOnly(), Triggers: sc.triggers, Recovery: db.Recovery, Incomplete: db.Truncated(),
			Faults: append(db.Faults(), faults...),
		},
	}
	return st, nil
}

// openDatabase reads everything but texts: of the tree of one session, or of all.
func openDatabase(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	db := sqlite.FromReader(src.DB)
	read := ""
	if opts.Only != "" && !opts.Deep {
		st, err := newStore(ctx, db, src.Path, src.Bytes)
		if err == nil {
			err = st.readTreeByIndex(ctx, opts.Only)
		}
		if err == nil {
			return st, nil
		}
		read = err.Error()
	}
	st, err := newStore(ctx, db, src.Path, src.Bytes)
	if err != nil {
		return nil, err
	}
	st.progress, st.facts.Read, st.facts.Brief = opts.Progress, read, opts.Brief > 0
	var told []session.Fault
	if opts.Lacks != nil && !opts.Deep {
		if st.wanted, told, err = st.findCandidates(ctx, opts.Lacks); err != nil {
			return nil, err
		}
		st.facts.NewestFirst = st.wanted != nil
	}
	deep := func() ([]session.Fault, error) { return nil, nil }
	if opts.Deep {
		if deep, err = db.BeginDeep(ctx); err != nil {
			return nil, err
		}
	}
	readErr := st.readRows(ctx, nil, opts.Deep)
	found, err := deep()
	if err = cmp.Or(readErr, err); err != nil {
		return nil, err
	}
	st.facts.Faults = append(st.facts.Faults, st.dropExplained(ctx, found)...)
	if st.wanted != nil {
		st.facts.Faults = told
		slices.SortStableFunc(st.trees, func(a, b *session.Tree) int { return cmp.Compare(st.wanted[a.Root().ID], st.wanted[b.Root().ID]) })
	}
	rest, err := db.UnscannedFaults(ctx)
	if err != nil {
		return nil, err
	}
	st.facts.Faults = slices.Concat(st.facts.Faults, rest, st.findBackup(ctx), st.countStrayMedia(ctx))
	if len(st.schema.ties) > 0 {
		return tiedStore{st}, nil
	}
	return st, nil
}

func (st *agentStore) Facts() *session.Store { return &st.facts }
func (st *agentStore) Close() error          { return nil }

// readRows reads rows of both tables, and the old column of their sessions.
func (st *agentStore) readRows(ctx context.Context, only subset, deep bool) error {
	st.only = only
	err := st.readTables(ctx)
	if err == nil {
		err = st.readColumn(ctx, deep)
	}
	if err == nil {
		st.groupTrees()
	}
	return err
}

// readTables reads both tables, at the same time where a second connection
// certainly sees the same: a big messages column makes even the short columns
// behind it slow to reach.
func (st *agentStore) readTables(ctx context.Context) error {
	var second *sqlite.DB
	var ok bool
	var err error
	if st.only == nil {
		if second, ok, err = st.db.OpenSecond(ctx); err != nil {
			return err
		}
	}
	var sessions []sessionRow
	var faults []session.Fault
	if ok {
		done := make(chan error, 1)
		go func() {
			var err error
			sessions, faults, err = readSessions(ctx, second, &st.schema, nil)
			done <- errors.Join(err, second.Close())
		}()
		err = errors.Join(st.readItems(ctx), <-done)
	} else if sessions, faults, err = readSessions(ctx, st.db, &st.schema, st.only); err == nil {
		err = st.readItems(ctx)
	}
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if !st.isWanted(s.ID) {
			continue
		}
		if st.addSession(s.Session, s.cost) {
			st.rowids[s.ID] = s.rowid
			continue
		}
		st.facts.Faults = append(st.facts.Faults, session.Fault{
			Kind: session.Undecodable, Item: -1, Ref: session.Ref{Table: tableSessions, Key: "row " + rowKey(s.rowid)}, Field: "id", Lost: true,
			Detail: fmt.Sprintf("row %d of sessions has the same id as an earlier row, which gets the messages: the rest of this row is not read", s.rowid),
		})
	}
	st.facts.Faults = append(st.facts.Faults, faults...)
	if st.only == nil && st.wanted == nil {
		st.facts.Faults = append(st.facts.Faults, st.reportOrphans(len(faults) > 0)...)
	}
	return nil
}

// assignNumber is the number of a session id, a new one when the id is new.
func (st *agentStore) assignNumber(id string) uint32 {
	n, ok := st.numbers[id]
	if !ok {
		n = uint32(len(st.numbers))
		st.numbers[strings.Clone(id)] = n
	}
	return n
}

// findSession finds the session with an id, nil when there is none.
func (st *agentStore) findSession(id string) *session.Session {
	if n, ok := st.numbers[id]; ok && int(n) < len(st.stored) {
		return st.stored[n]
	}
	return nil
}

// addSession takes a session in, unless its id is taken.
func (st *agentStore) addSession(s *session.Session, cost float64) bool {
	n := st.assignNumber(s.ID)
	for int(n) >= len(st.stored) {
		st.stored = append(st.stored, nil)
	}
	if st.stored[n] != nil {
		return false
	}
	st.stored[n] = s
	st.sessions, st.costs[s.ID] = append(st.sessions, s), cost
	return true
}

// groupTrees makes the trees once; Trees fills copies of them.
func (st *agentStore) groupTrees() {
	heads := lists.MapEach(st.sessions, func(s *session.Session) forest.Head {
		return forest.Head{Session: s, Refs: st.listReferences(st.numbers[s.ID])}
	})
	st.trees = forest.GroupHeads(heads)
}

// listReferences lists the sub-sessions that a session's items name, in item order.
func (st *agentStore) listReferences(number uint32) []string {
	var found []reference
	for _, p := range st.parts {
		found = append(found, p.references[number]...)
	}
	slices.SortStableFunc(found, func(a, b reference) int {
		return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id))
	})
	return lists.MapEach(found, func(r reference) string { return r.child })
}

// Trees yields copies with their items, so that a tree can be forgotten when
// its caller is done.
func (st *agentStore) Trees(ctx context.Context) iter.Seq2[*session.Tree, error] {
	return func(yield func(*session.Tree, error) bool) {
		for _, t := range st.trees {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(st.copyWithItems(t), nil) {
				return
			}
		}
	}
}

// copyWithItems is a copy of a tree with the items of its sessions.
func (st *agentStore) copyWithItems(bare *session.Tree) *session.Tree {
	tree := bare.Copy()
	for _, s := range tree.Sessions {
		st.addItems(s)
	}
	if !st.facts.Brief {
		st.compareCosts(tree)
	}
	return tree
}

// addItems gives a session its items in the order in which the reader loads
// them: by position, and by row where positions are equal.
func (st *agentStore) addItems(s *session.Session) {
	number := st.numbers[s.ID]
	s.Faults = slices.Clone(s.Faults)
	s.Items = make([]session.Item, 0, st.countItems(number))
	var first int64 // the position of the message with the task
	for _, p := range st.parts {
		for it := range p.log.Items(number) {
			s.Items = append(s.Items, it)
		}
		if t, ok := p.tasks[number]; ok && (s.Task == 0 || t.position < first) {
			s.Task, first = t.task, t.position
		}
	}
	slices.Reverse(s.Items) // newest first, and mostly in order
	slices.SortFunc(s.Items, func(a, b session.Item) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	forest.MarkDangling(s, func(id string) bool { return st.findSession(id) != nil })
	for _, p := range st.parts {
		for _, f := range p.faults[number] {
			f.Item = slices.IndexFunc(s.Items, func(it session.Item) bool { return it.Key == f.Ref.Key })
			s.Faults = append(s.Faults, f)
		}
	}
	st.deriveCreated(s)
}

// deriveCreated gives a missing or unusable creation time the value that a
// repair may set: that of the session's first item.
func (st *agentStore) deriveCreated(s *session.Session) {
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.Field != "created_at" || f.Item >= 0 || f.Default != nil {
			continue
		}
		for n := range s.Items {
			if t := s.Items[n].Time; !t.IsZero() {
				value := t.Format(time.RFC3339)
				f.Default = &value
				break
			}
		}
	}
}

// rowKey is the key of a row of the item table.
func rowKey(id int64) string { return strconv.FormatInt(id, 10) }
