package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// itemColumns are read from every row of session_items, as far as they exist.
var itemColumns = []string{
	"session_id", "position", "item_type", "agent_name", "message_json", "implicit", "subsession_id",
	"summary_text", "first_kept_entry", "usage_json", "cost",
}

// pickItemColumns picks those of session_items that are read.
func (st *agentStore) pickItemColumns() []string {
	if st.facts.Brief {
		columns := []string{"session_id", "position", "item_type", "agent_name", "subsession_id"}
		if st.lacks != nil {
			columns = append(columns, "message_json", "summary_text")
		}
		return st.schema.pickColumns(tableItems, columns...)
	}
	return st.schema.pickColumns(tableItems, itemColumns...)
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

// noteUnfit notes a value that is NULL or does not fit.
func (w *row) noteUnfit(column string, v driver.Value, fits func(driver.Value) string) {
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
// copies rows into batches; as many others as there are processors, and one in any case,
// decode them, and it decodes itself when they are behind.
func (st *agentStore) readItems(ctx context.Context) error {
	if !st.schema.hasItems() {
		return nil
	}
	full, free := make(chan *batch, 2), make(chan *batch, 4)
	var decoders sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)-1) {
		p := newPart(tableItems)
		p.brief = st.facts.Brief
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
	own.brief = st.facts.Brief
	r := &rowReader{st: st, columns: st.pickItemColumns(), names: own}
	r.batch = &batch{}
	r.flush = func() {
		if st.progress != nil {
			st.progress(r.bytes)
		}
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
	lost, err := st.only.scanTable(ctx, st.db, &st.schema, tableItems, r.columns, r.readRow)
	r.flush()
	close(full)
	decoders.Wait()
	if err != nil {
		return err
	}
	lost, err = sqlite.SalvageRows(lost, func(rowid int64) (bool, error) { return st.salvageItem(ctx, own, rowid) })
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
	names   *part // has item types and agent names seen, so that each is copied once
	bytes   int64

	lastID  string // the session of the last row
	last    uint32 // its number
	started bool
}

func (r *rowReader) readRow(rowid int64, values []driver.Value) error {
	w := row{id: rowid, from: len(r.batch.json)}
	var id, summary, usage string
	var document []byte
	for i, name := range r.columns {
		v := values[i]
		switch name {
		case "session_id":
			id = column.View(v)
		case "position":
			w.position = sortKey(v)
			w.noteUnfit(name, v, expectWholeNumber)
		case "item_type":
			w.kind = r.names.internName(column.Bytes(v))
			w.noteUnfit(name, v, acceptAny)
		case "agent_name":
			w.agent = r.names.internName(column.Bytes(v))
		case "message_json":
			document = column.Bytes(v)
		case "implicit":
			w.implicit, _ = parseBool(v)
			w.noteUnfit(name, v, expectBool)
		case "subsession_id":
			w.child = strings.Clone(column.View(v))
		case "summary_text":
			summary = column.View(v)
		case "first_kept_entry":
			if v != nil { // upstream reads NULL as 0
				w.keptFrom, _ = v.(int64)
				w.noteUnfit(name, v, expectWholeNumber)
			}
		case "cost":
			w.cost, _ = v.(float64)
		case "usage_json":
			usage = column.View(v)
		}
	}
	if !r.started || id != r.lastID { // rows of one session mostly come together
		r.started, r.lastID = true, strings.Clone(id)
		r.last = r.st.assignNumber(r.lastID)
	}
	w.session, r.bytes = r.last, r.bytes+int64(len(document))
	if !r.st.isWanted(id) {
		return nil
	}
	if r.st.lacks != nil {
		r.st.lookInto(w.session, rowid, document, column.Bytes(summary))
		document = nil
	}
	r.batch.json = append(r.batch.json, document...)
	w.to = len(r.batch.json)
	if w.kind == "summary" {
		w.summary, w.badUsage = summaryOf(summary, usage)
	}
	r.batch.rows = append(r.batch.rows, w)
	if len(r.batch.json) >= batchBytes || len(r.batch.rows) >= 4096 {
		r.flush()
	}
	return nil
}

// sessionColumns are read from every row of sessions, as far as they exist. The
// messages column is not among them: it can be many megabytes.
var sessionColumns = []string{
	"id", "parent_id", "title", "created_at", "tools_approved", "input_tokens", "output_tokens", "cost",
	"send_user_message", "max_iterations", "starred", "permissions", "agent_model_overrides", "custom_models_used",
	"thinking", "instruction_context", "attributes",
}

// required are the columns that upstream scans into plain values: one NULL
// there, or a value that the type cannot hold, makes every list of sessions
// fail. The fallback is the schema's default.
var required = map[string]struct {
	fallback string
	fits     func(driver.Value) string // says what the reader expects, "" for what fits
}{
	"id": {"", acceptAny}, "title": {"", acceptAny}, "created_at": {"", acceptAny},
	"agent_model_overrides": {"{}", acceptAny}, "custom_models_used": {"[]", acceptAny},
	"input_tokens": {"0", expectWholeNumber}, "output_tokens": {"0", expectWholeNumber}, "max_iterations": {"0", expectWholeNumber},
	"cost": {"0", expectNumber}, "tools_approved": {"0", expectBool}, "send_user_message": {"1", expectBool},
	"starred": {"0", expectBool}, "thinking": {"1", expectBool},
}

// metadata are the columns that hold JSON: what upstream decodes them into, and
// their default.
var metadata = map[string]struct {
	into     func() any
	fallback string
}{
	"permissions": {func() any {
		return &struct {
			Allow []string `json:"allow"`
			Ask   []string `json:"ask"`
			Deny  []string `json:"deny"`
		}{}
	}, ""},
	"agent_model_overrides": {func() any { return &map[string]string{} }, "{}"},
	"custom_models_used":    {func() any { return &[]string{} }, "[]"},
	"attributes":            {func() any { return &map[string]string{} }, "{}"},
	"instruction_context":   {func() any { return &instructionContext{} }, ""},
}

// instructionContext is what the column of migration 022 holds, as far as
// indexes go: both count in the list of items that the reader loads.
type instructionContext struct {
	EpochStart *int64 `json:"epoch_start"`
	Updates    []struct {
		Position *int64 `json:"position"`
	} `json:"updates"`
}

// sessionRow is a row of the sessions table.
type sessionRow struct {
	*session.Session
	rowid int64
	cost  float64 // recorded, in dollars
}

// readSessions reads the sessions table in row order, or some rows of it.
func readSessions(ctx context.Context, db *sqlite.DB, sc *schema, only subset) (list []sessionRow, faults []session.Fault, err error) {
	columns := sc.pickColumns(tableSessions, sessionColumns...)
	lost, err := only.scanTable(ctx, db, sc, tableSessions, columns, func(rowid int64, values []driver.Value) error {
		r := sessionRow{Session: &session.Session{}, rowid: rowid}
		for i, column := range columns {
			readSessionColumn(r.Session, column, values[i])
			if column == "cost" {
				r.cost, _ = values[i].(float64)
			}
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	lost, err = sqlite.SalvageRows(lost, func(rowid int64) (bool, error) {
		s, err := salvageSession(ctx, db, sc, rowid)
		if s != nil {
			list = append(list, sessionRow{Session: s, rowid: rowid})
		}
		return s != nil, err
	})
	slices.SortFunc(list, func(a, b sessionRow) int { return cmp.Compare(a.rowid, b.rowid) })
	for _, l := range lost {
		faults = append(faults, l.Fault(tableSessions))
	}
	return list, faults, err
}

func readSessionColumn(s *session.Session, name string, value driver.Value) {
	fault := func(kind session.FaultKind, detail string, fallback *string) {
		ref := session.Ref{Session: s.ID, Table: session.TableSessions, Key: s.ID}
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Item: -1, Ref: ref, Field: name, Detail: detail, Default: fallback, Unloads: kind != session.BadTime})
	}
	need, needed := required[name]
	if value == nil && needed {
		standard := &need.fallback
		if name == "created_at" || name == "id" {
			standard = nil // a time is found when the items are known, an id cannot be
		}
		fault(session.RequiredNull, "No session of the file can be listed until it has a value.", standard)
		return
	}
	text := column.Text(value)
	switch name {
	case "id":
		s.ID = text
	case "parent_id":
		s.Parent = text
	case "title":
		s.Title = text
	case "created_at":
		created, detail := parseTime(text)
		s.Created = created
		if detail != "" {
			fault(session.BadTime, detail, nil)
		}
	default:
		if m, ok := metadata[name]; ok {
			readMetadata(s, name, text, m.into(), func(detail string) { fault(session.BadMetadata, detail, &m.fallback) })
		} else if needed && need.fits(value) != "" {
			fault(session.BadMetadata, need.fits(value), &need.fallback)
		}
	}
}

// isReadable reports whether a column of a session can hold a value without a fault.
func isReadable(column string, value driver.Value) bool {
	var s session.Session
	readSessionColumn(&s, column, value)
	return len(s.Faults) == 0
}

func readMetadata(s *session.Session, column, text string, into any, bad func(detail string)) {
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		bad(err.Error())
		return
	}
	ic, ok := into.(*instructionContext)
	if !ok {
		return
	}
	add := func(pointer, name string, index *int64) {
		if index != nil {
			ref := s.Ref()
			ref.Pointer = "/" + column + pointer
			s.IndexRefs = append(s.IndexRefs, session.IndexRef{Ref: ref, Field: column + " " + name, Index: *index, Pointer: pointer})
		}
	}
	add("/epoch_start", "epoch_start", ic.EpochStart)
	for i, u := range ic.Updates {
		add(fmt.Sprintf("/updates/%d/position", i), fmt.Sprintf("updates[%d].position", i), u.Position)
	}
}

// Any column of SQLite can hold a value of any type. These functions say what
// upstream, which scans columns into plain Go values, does not accept, in words
// for people, "" for what it accepts.

func acceptAny(driver.Value) string { return "" }

func expectWholeNumber(v driver.Value) string {
	if _, ok := v.(int64); !ok {
		if _, err := strconv.ParseInt(column.View(v), 10, 64); err != nil {
			return "the reader expects a whole number"
		}
	}
	return ""
}

func expectNumber(v driver.Value) string {
	switch v.(type) {
	case int64, float64:
		return ""
	}
	if _, err := strconv.ParseFloat(column.View(v), 64); err != nil {
		return "the reader expects a number"
	}
	return ""
}

func expectBool(v driver.Value) string {
	if _, ok := parseBool(v); !ok {
		return "the reader expects true or false"
	}
	return ""
}

// parseBool parses a value of a BOOLEAN column. ok is false for what is none.
func parseBool(v driver.Value) (value, ok bool) {
	switch v := v.(type) {
	case int64:
		return v != 0, true
	case string, []byte:
		value, err := strconv.ParseBool(column.View(v))
		return value, err == nil
	}
	return false, false
}

// sortKey is where `order by` puts a value of a column of whole numbers: NULL
// first, then numbers, then texts.
func sortKey(v driver.Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case nil:
		return math.MinInt64
	case float64:
		if f := math.Ceil(v); f < math.MaxInt64 { // between two positions: before the higher one
			return int64(max(f, math.MinInt64))
		}
	}
	return math.MaxInt64
}

// parseTime reads a stored time and says what is wrong with it, if anything.
func parseTime(text string) (time.Time, string) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil && text == "":
		return time.Time{}, "it is empty"
	case err != nil:
		return time.Time{}, notRFC3339
	}
	if bad := explainImplausible(t); bad != "" {
		return time.Time{}, bad
	}
	return t, ""
}

const notRFC3339 = "it is not in the form 2026-02-03T09:56:40Z"

// explainImplausible says why a readable time cannot be one of a session, "" when it
// can: agents did not run before 2000, and milliseconds that are read as seconds
// end up far in the future.
func explainImplausible(t time.Time) string {
	switch {
	case t.Year() <= 1:
		return "it is the zero time"
	case t.Year() < 2000 || t.Year() > 2200:
		return fmt.Sprintf("its year is %d", t.Year())
	}
	return ""
}
