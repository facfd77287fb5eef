package dockeragent

import (
	"context"
	"database/sql/driver"
	"runtime"
	"strings"
	"sync"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// itemColumns are read from every row of session_items, as far as they exist.
var itemColumns = []string{
	"session_id", "position", "item_type", "agent_name", "message_json", "implicit", "subsession_id",
	"summary_text", "first_kept_entry", "usage_json", "cost",
}

// row is one row of session_items between reading and decoding. Its JSON
// stands in the batch.
type row struct {
	id, position int64
	session      uint32
	kind         string // one of the known item types, or a copy of the stored one
	agent        string
	child        string
	summary      session.Digest
	keptFrom     int64
	from, to     int // the JSON in batch.json
	implicit     bool
	badUsage     string  // what is wrong with usage_json
	cost         float64 // of a summary, in dollars
	unfit        []unfit
}

// unfit is a column whose value the reader cannot scan.
type unfit struct {
	column   string
	expected string // "" for NULL
}

// test notes a value that is NULL or does not fit.
func (w *row) test(column string, v driver.Value, fits func(driver.Value) string) {
	expected := ""
	if v != nil {
		if expected = fits(v); expected == "" {
			return
		}
	}
	w.unfit = append(w.unfit, unfit{column, expected})
}

// batch is a number of rows that one decoder takes at a time.
type batch struct {
	rows []row
	json []byte
}

// batchBytes keeps a batch within the processor's cache.
const batchBytes = 256 << 10

// readItems reads the item table once, in row order, whatever the indexes say:
// that is fastest, and a damaged index cannot hide rows. The reading goroutine
// copies rows into batches; as many others as there are processors decode
// them, and it decodes itself when they are behind.
func (st *agentStore) readItems(ctx context.Context) error {
	if !st.schema.hasItems() {
		return nil
	}
	full, free := make(chan *batch, 2), make(chan *batch, 4)
	var decoders sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		p := newPart(tableItems)
		st.parts = append(st.parts, p)
		decoders.Go(func() {
			for b := range full {
				p.decodeAll(b)
				select {
				case free <- b:
				default:
				}
			}
		})
	}
	own := newPart(tableItems)
	st.parts = append(st.parts, own)
	r := &rowReader{st: st, columns: st.schema.pick(tableItems, itemColumns...), names: map[string]string{}}
	r.batch = &batch{}
	r.flush = func() {
		select {
		case full <- r.batch:
			select {
			case r.batch = <-free:
			default:
				r.batch = &batch{}
			}
		default:
			own.decodeAll(r.batch)
		}
		r.batch.rows, r.batch.json = r.batch.rows[:0], r.batch.json[:0]
	}
	lost, err := st.only.scan(ctx, st.db, &st.schema, tableItems, r.columns, r.read)
	r.flush()
	close(full)
	decoders.Wait()
	if err != nil {
		return err
	}
	lost, err = sqlite.Salvage(lost, func(rowid int64) (bool, error) { return st.salvageItem(ctx, own, rowid) })
	for _, l := range lost {
		st.facts.Faults = append(st.facts.Faults, l.Fault(tableItems))
	}
	return err
}

// rowReader turns column values, which die when its read returns, into rows.
type rowReader struct {
	st      *agentStore
	columns []string
	batch   *batch
	flush   func()
	names   map[string]string // item types and agent names seen, so that each is copied once
	bytes   int64

	lastID  string // the session of the last row
	last    uint32 // its number
	started bool
}

func (r *rowReader) read(rowid int64, values []driver.Value) error {
	w := row{id: rowid}
	var id, summary, usage string
	w.from = len(r.batch.json)
	for i, column := range r.columns {
		v := values[i]
		switch column {
		case "session_id":
			id = viewOf(v)
		case "position":
			w.position = sortKey(v)
			w.test(column, v, wholeNumber)
		case "item_type":
			w.kind = r.name(viewOf(v))
			w.test(column, v, anything)
		case "agent_name":
			w.agent = r.name(viewOf(v))
		case "message_json":
			r.batch.json = append(r.batch.json, viewOf(v)...)
		case "implicit":
			w.implicit, _ = isTrue(v)
			w.test(column, v, truth)
		case "subsession_id":
			w.child = strings.Clone(viewOf(v))
		case "summary_text":
			summary = viewOf(v)
		case "first_kept_entry":
			if v != nil { // upstream reads NULL as 0
				w.keptFrom, _ = v.(int64)
				w.test(column, v, wholeNumber)
			}
		case "cost":
			w.cost, _ = v.(float64)
		case "usage_json":
			usage = viewOf(v)
		}
	}
	w.to = len(r.batch.json)
	if !r.started || id != r.lastID { // rows of one session mostly come together
		r.started, r.lastID = true, strings.Clone(id)
		r.last = r.st.number(r.lastID)
	}
	w.session = r.last
	if w.kind == "summary" {
		w.summary, w.badUsage = summaryOf(summary, usage)
	}
	r.batch.rows = append(r.batch.rows, w)
	if len(r.batch.json) >= batchBytes || len(r.batch.rows) >= 4096 {
		r.bytes += int64(len(r.batch.json))
		if r.st.progress != nil {
			r.st.progress(r.bytes)
		}
		r.flush()
	}
	return nil
}

// name is a copy of a short string that repeats.
func (r *rowReader) name(s string) string {
	if known, ok := r.names[s]; ok {
		return known
	}
	s = strings.Clone(s)
	r.names[s] = s
	return s
}

// viewOf is a value as text without a copy, valid as long as the value.
func viewOf(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return view(v)
	case nil:
		return ""
	}
	return textOf(v)
}
