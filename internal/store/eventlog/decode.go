package eventlog

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// group is some trees whose rows are read with one query.
type group struct {
	trees   []*session.Tree
	events  int
	bodies  bool           // texts are read
	pending sync.WaitGroup // the batches that are not decoded
	mu      sync.Mutex     // guards the faults of the sessions meanwhile
}

// slot is the place of an event in a session that is being read.
type slot struct {
	group *group
	s     *session.Session
	owner *owner
	item  int
	at    int64
	body  bool
}

// batch is a number of rows that one decoder takes at a time, with their values and texts.
type batch struct {
	group  *group
	slots  []*slot
	rows   []Row
	values []table.Value
	bytes  []byte
}

// batchBytes keeps a batch within the processor's cache.
const batchBytes = 128 << 10

// decoder decodes rows beside the goroutine that reads them, which decodes, too, when the
// others have enough to do.
type decoder struct {
	st         *logStore
	full, free chan *batch // there are two for each goroutine that decodes, and the next one
	next       *batch
	sharing    session.Sharing // of the rows that are not handed on
}

func newDecoder(st *logStore) *decoder {
	decoders := max(1, runtime.GOMAXPROCS(0)-1)
	d := &decoder{st: st, full: make(chan *batch, decoders), free: make(chan *batch, 2*decoders), next: &batch{}}
	for range decoders {
		d.free <- &batch{}
		d.free <- &batch{}
		go func() {
			var sharing session.Sharing
			for b := range d.full {
				for i, row := range b.rows {
					st.decodeItem(b.slots[i], row, &sharing)
				}
				b.group.pending.Done()
				*b = batch{slots: b.slots[:0], rows: b.rows[:0], values: b.values[:0], bytes: b.bytes[:0]}
				d.free <- b
			}
		}()
	}
	return d
}

func (d *decoder) closeQueue() { close(d.full) }

// addRow decodes a row, or copies it for somebody else to do so: its values die when the
// function that got it returns.
func (d *decoder) addRow(to *slot, row Row) {
	b := d.next
	if len(b.rows) == 0 && len(d.full) == cap(d.full) {
		d.st.decodeItem(to, row, &d.sharing)
		return
	}
	b.group, b.slots = to.group, append(b.slots, to)
	first := len(b.values)
	before := b.values[max(0, first-len(row.values)):] // of the row before, which has much in common
	for i, v := range row.values {
		if first > 0 && sameText(before[i], v) {
			b.values = append(b.values, before[i])
			continue
		}
		switch text := v.(type) {
		case string:
			from := len(b.bytes)
			b.bytes = append(b.bytes, text...)
			v = column.ViewBytes(b.bytes[from:])
		case []byte:
			v = table.CloneValue(text)
		}
		b.values = append(b.values, v)
	}
	row.values = b.values[first:]
	b.rows = append(b.rows, row)
	if len(b.bytes) >= batchBytes {
		d.flushBatch()
	}
}

func (d *decoder) flushBatch() {
	if len(d.next.rows) == 0 {
		return
	}
	d.next.group.pending.Add(1)
	d.full <- d.next
	d.next = <-d.free
}

// readTrees reads the trees of some heads, without bodies. They are complete when they are
// finished.
func (st *logStore) readTrees(ctx context.Context, heads []*session.Tree, to *decoder) (*group, error) {
	g := &group{trees: make([]*session.Tree, len(heads))}
	for _, tree := range heads {
		g.events += st.countEvents(tree)
	}
	slots, places := make([]slot, 0, g.events), make([]table.Place, 0, g.events)
	for i := range heads {
		g.trees[i] = heads[i].Copy()
		body := st.bodies != nil && slices.ContainsFunc(g.trees[i].Sessions, st.bodies)
		g.bodies = g.bodies || body
		for _, s := range g.trees[i].Sessions {
			n, _ := st.numberByName(s.ID)
			s.Items = make([]session.Item, len(st.entries[n]))
			for k, e := range st.entries[n] {
				slots, places = append(slots, slot{g, s, &st.list[n], k, e.at, body}), append(places, e.row)
			}
		}
	}
	if st.facts.Brief {
		return g, nil
	}
	unread, err := st.events.readRows(ctx, st.events.Columns, places, func(n int, row Row) error {
		to.addRow(&slots[n], row)
		return nil
	})
	to.flushBatch()
	if err != nil {
		return nil, err
	}
	for _, n := range unread {
		if err := st.keepUnreadable(ctx, &slots[n], places[n]); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// finishGroup completes the trees of a group.
func (st *logStore) finishGroup(g *group) []*session.Tree {
	if g == nil {
		return nil
	}
	if st.facts.Brief {
		return g.trees
	}
	g.pending.Wait()
	for _, tree := range g.trees {
		if st.layout.Gather != nil {
			st.layout.Gather(tree)
		}
		for _, s := range tree.Sessions {
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
		st.markLive(tree)
	}
	return g.trees
}

// markLive notes that somebody is writing to the sessions of a tree, where an event of one
// of them is that new.
func (st *logStore) markLive(tree *session.Tree) {
	isNew := func(it session.Item) bool { return it.Time.After(st.live[0]) && it.Time.Before(st.live[1]) }
	if st.live[0].IsZero() || !slices.ContainsFunc(tree.Sessions, func(s *session.Session) bool { return slices.ContainsFunc(s.Items, isNew) }) {
		return
	}
	for _, s := range tree.Sessions {
		s.Writer = session.WriterLive
	}
}

// decodeItem decodes an event into its place.
func (st *logStore) decodeItem(to *slot, row Row, sharing *session.Sharing) {
	it := &to.s.Items[to.item]
	sharing.Begin(it, st.events.Name)
	it.Key, it.Position = st.eventKey(to.owner, row), to.at
	to.addFaults(st.layout.Item(row, it, to.body))
	if !to.body {
		it.DropTexts()
	}
	st.nameChildren(to.owner, it)
	sharing.Share(it)
}

// addFaults adds those of the event.
func (to *slot) addFaults(list []session.Fault) {
	if len(list) == 0 {
		return
	}
	to.group.mu.Lock()
	defer to.group.mu.Unlock()
	for _, f := range list {
		to.s.Faults = append(to.s.Faults, locatedFault(f, to.item, to.s.ItemRef(to.item)))
	}
}

// keepUnreadable keeps the place of an event whose row cannot be read.
func (st *logStore) keepUnreadable(ctx context.Context, to *slot, at table.Place) error {
	row := Row{Place: at}
	_, err := st.events.readRows(ctx, []string{st.events.ID}, []table.Place{at}, func(_ int, read Row) error {
		row = read.cloneValues()
		return nil
	})
	if err != nil {
		return err
	}
	it := &to.s.Items[to.item]
	it.Own().Table, it.Key, it.Position, it.Kind = st.events.Name, st.eventKey(to.owner, row), to.at, session.Other
	to.addFaults([]session.Fault{{
		Kind: session.StoreDamaged, Detail: "the event cannot be read: it is on a damaged page of the file",
	}})
	return nil
}

// NulFaults are those of an item of which a text, the arguments of a call, or a result has
// U+0000: text is the one of the item, column what holds it.
func NulFaults(it *session.Item, text, column string) []session.Fault {
	in := func(r session.Result) bool { return strings.Contains(r.Text, "\x00") }
	escaped := func(c session.Call) bool {
		return strings.Contains(c.Args, `\u0000`) && string(jsonedit.ShowNUL([]byte(c.Args))) != c.Args
	}
	if strings.Contains(text, "\x00") || slices.ContainsFunc(it.Results, in) || slices.ContainsFunc(it.Calls, escaped) {
		return []session.Fault{{Kind: session.NulCharacter, Field: column}}
	}
	return nil
}

// BadUnicode are the faults of columns with texts that are not UTF-8.
func BadUnicode(row Row, columns ...string) (faults []session.Fault) {
	for _, name := range columns {
		if !utf8.Valid(column.Bytes(row.Value(name))) {
			faults = append(faults, session.Fault{Kind: session.BadUnicode, Field: name, Detail: "it has bytes that are not UTF-8"})
		}
	}
	return faults
}
