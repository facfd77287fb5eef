// Package adk reads the databases that Google's Agent Development Kit keeps its
// sessions in: those of adk-python's DatabaseSessionService and SqliteSessionService
// and of adk-go's database service. The facts about the formats are from the notes
// named adk.md in the design; a number like 1.4 in a comment is a section of them.
package adk

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// columns gives the value of a column of an event: nil for NULL and for a column
// that its table does not have. Older tables lack many (docs/stores/adk.md#what-is-read).
type columns func(column string) any

// faults are the defects of one record.
type faults []session.Fault

func (f *faults) addFault(kind session.FaultKind, field, detail string) {
	*f = append(*f, session.Fault{Kind: kind, Field: field, Detail: detail, Unloads: kind == session.RequiredNull})
}

// addUndecodable notes what does not decode; whole says that it is not damaged.
func (f *faults) addUndecodable(field, detail string, whole bool) {
	*f = append(*f, session.Fault{Kind: session.Undecodable, Field: field, Detail: detail, Whole: whole})
}

// stored is an event as it is stored.
type stored struct {
	event
	time    column.Stamp
	raw     []byte // the document, or the content; it dies with the row
	said    []byte // the same with what its reader does not take mended
	dialect string // what another writer does so: see document.go
	broken  bool   // it does not decode
	*memory
}

// memory serves one event after the other.
type memory struct {
	scratch []byte // for texts that are only looked at
	meaning session.Meaning
	blocks  []session.Block
	recent  jsonscan.Recent
}

// readEvent takes an event out of its row.
func (g generation) readEvent(row columns, s *stored) (list faults) {
	s.time = stampOf(columnTimes, row("timestamp"), g.unitOf(row("timestamp")))
	if row("timestamp") == nil {
		list.addFault(session.RequiredNull, "timestamp", "The event cannot be placed in its session.")
		list[len(list)-1].Unloads = g.isPython() // which asks the time for its number
	}
	if s.time.Wrong != "" {
		list.addFault(session.BadTime, "timestamp", s.time.Wrong)
	}
	s.dialect = g.dialectOf(row, s.time)
	if g.hasDocument() {
		g.readDocument(row, s, &list)
	} else {
		g.readColumns(row, s, &list)
	}
	switch {
	case s.Branch.wrong && g == j1:
		list.addFault(session.UnknownPart, "branch", wrongBranch+", and adk-js goes on without it")
	case s.Branch.wrong:
		list.addUndecodable("branch", wrongBranch, true)
	}
	return list
}

const wrongBranch = `the branch is neither a text nor {"tokens":[…]} nor {"active_forks":{…}}`

func (g generation) readDocument(row columns, s *stored, list *faults) {
	s.raw = column.Bytes(row("event_data"))
	if s.raw == nil {
		s.InvocationID, s.broken = column.Text(row("invocation_id")), true
		list.addFault(session.RequiredNull, "event_data", "The session cannot be loaded, and the text of the event is stored nowhere else.")
		return
	}
	said, err := g.decodeMembers(row, "event_data", "Event!", s.raw, &s.event, list)
	if s.said = said; err != nil {
		s.event, s.broken = event{InvocationID: column.Text(row("invocation_id"))}, true
		list.addUndecodable("event_data", explainError(err), jsonedit.IsWhole(s.raw))
		return
	}
	if g == j1 && string(s.IsCompacted) == "true" {
		s.Actions.Compaction = s.readCompaction()
	}
	g.compareCopies(row, s, list)
}

// jsonColumns are the columns of an event that hold JSON, with what is read of it.
var jsonColumns = []struct {
	name string
	into func(e *event) any
}{
	{"content", func(e *event) any { return &e.Content }},
	{"long_running_tool_ids_json", func(e *event) any { return &e.LongRunningToolIDs }},
	{"node_info_json", func(e *event) any { return &e.NodeInfo }},
	{"input_transcription", func(e *event) any { return &e.InputTranscription }},
	{"output_transcription", func(e *event) any { return &e.OutputTranscription }},
}

// metadataColumns are columns with JSON that says nothing about a conversation, and
// that the reader decodes nevertheless.
var metadataColumns = []string{
	"grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata", "routes_json", "output_json", "requested_input_json",
}

// readColumns reads each column on its own, so that what is wrong with one leaves
// the others.
func (g generation) readColumns(row columns, s *stored, list *faults) {
	s.InvocationID, s.Author = s.recent.KeepText(column.Bytes(row("invocation_id"))), s.recent.KeepText(column.Bytes(row("author")))
	s.Branch, s.IsolationScope = columnLabel(column.Text(row("branch"))), column.Text(row("isolation_scope"))
	partial, _ := row("partial").(int64)
	s.Partial, s.raw = partial != 0, column.Bytes(row("content"))
	for _, c := range jsonColumns {
		data := column.Bytes(row(c.name))
		if len(data) == 0 {
			continue
		}
		said, err := g.decodeMembers(row, c.name, columnTypes[g == p0][c.name], data, c.into(&s.event), list)
		if err != nil {
			s.broken = true
			list.addUndecodable(c.name, explainError(err), jsonedit.IsWhole(data))
		}
		if c.name == "content" {
			s.said = said
		}
	}
	for _, name := range metadataColumns {
		if data := column.Bytes(row(name)); (len(data) > 0 || g == p0 && data != nil) && !jsonscan.IsUsualJSON(data) && !g.isJSON(data) {
			null := "null" // which both readers take for nothing
			*list = append(*list, session.Fault{
				Kind: session.BadMetadata, Field: name, Detail: "it is not JSON, so the session fails to load", Default: &null, Unloads: true,
			})
		} else if kind := columnTypes[g == p0][name]; len(data) > 0 && kind != "" {
			_, _ = g.decodeMembers(row, name, kind, data, nil, list) // which decodes nothing here
		}
	}
	g.readActions(row, s, list)
}

// columnLabel is the branch in a column of its own. How a store of #3889 fills the
// column of P0 is not known (docs/stores/adk.md#what-is-read): its text is taken for the form that it has.
func columnLabel(text string) label {
	if l := labelOf(jsontext.Value(text)); !l.wrong {
		return l
	}
	return label{text: text}
}

const (
	kindName  = "adk"
	kindTitle = "Google ADK"
)

// Kind is ADK's row in the table of adapters. ADK has no default place: every
// application names its own database.
var Kind = eventlog.Kind(store.Kind{Name: kindName, Title: kindTitle}, detectTables, newLayout)

func detectTables(ctx context.Context, db table.Reader, s table.Schema) store.Detection {
	gen := generationOf(ctx, db, s)
	if gen == "" {
		return store.Detection{}
	}
	why := fmt.Sprintf("tables %s and %s in the form of %s", gen.table(tableSessions), gen.table(tableEvents), traitsOf[gen].writer)
	return store.Detection{Sure: store.Certain, Generation: string(gen), Why: why}
}

// newLayout makes the layout of a database, and what is known of the store before
// its rows are.
func newLayout(ctx context.Context, db table.Reader, s table.Schema) (session.Store, *eventlog.Layout, error) {
	gen := generationOf(ctx, db, s)
	shared, err := gen.readBrokenStates(ctx, db)
	if err != nil {
		return session.Store{}, nil, err
	}
	notes := &notes{}
	bySegments := gen.comparesSegments(s)
	sessions, events := gen.table(tableSessions), gen.table(tableEvents)
	layout := &eventlog.Layout{
		Sessions: eventlog.Table{Name: sessions, Columns: s.Columns(sessions), Key: gen.columns("app_name", "user_id", "id")},
		Events:   eventlog.Table{Name: events, Columns: s.Columns(events), Key: gen.columns("app_name", "user_id", "session_id"), ID: "id"},
		Known:    gen.knownTables(),
		Place:    []string{"timestamp", "id"},
		Order:    gen.eventOrder,
		Timed:    !gen.inMilliseconds(),
		Session: func(row eventlog.Row) *session.Session {
			s := gen.makeSession(gen.rowOf(row))
			s.Faults = append(s.Faults, shared.faultsOf(s)...)
			return s
		},
		Item: func(row eventlog.Row, it *session.Item, body bool) []session.Fault {
			stored := gen.rowOf(row)
			faults := gen.decodeItem(stored, it, body, notes)
			if it.Branch() != "" && bySegments(stored, it.Time) {
				it.Flags |= session.BySegments
			}
			return faults
		},
		Finish:  notes.finishSession,
		Relate:  notes.relateItems,
		Said:    slices.DeleteFunc(s.Columns(events), saysNothing),
		Content: withoutTime,
		// ADK joins the texts of parts as they are.
		Verbatim: eventlog.AtMost(1, `"text"`),
		Write:    writes,
	}
	facts := gen.storeFacts(s)
	if wrong := gen.unknownVersion(ctx, db, s); wrong != "" {
		if layout.Odd = (session.Ref{Table: tableMetadata, Key: "schema_version"}); gen == k1 {
			layout.Odd = session.Ref{Table: tableRoom}
		}
		layout.Later.Doubt(wrong, "sessctl does not know what else that version changed")
	}
	for _, state := range sharedStates {
		facts.Incomplete = cmp.Or(facts.Incomplete, s.Tables[gen.table(state.table)].Incomplete)
	}
	return facts, layout, nil
}

// eventOrder is where an event stands. Of events of one time adk-python's
// SqliteSessionService reads the one that was written first before the others, since
// its order goes by the rowid, too; the other readers ask for the newest first, get
// ties in the order of writing, and turn the list around (docs/stores/adk.md#order). But
// adk-kotlin asks for the ids in their order, which are random (SessionsDao.listEvents).
func (g generation) eventOrder(written table.Place, row eventlog.Row) (at, tie int64) {
	switch tie = int64(written); g {
	case ps:
	case k1:
		tie = firstBytes(column.View(row.Value("id")))
	default:
		tie = -tie
	}
	return placeOf(row.Value("timestamp")), tie
}

// firstBytes is a number that orders texts by their first eight bytes.
func firstBytes(text string) int64 {
	var first [8]byte
	copy(first[:], text)
	return int64(binary.BigEndian.Uint64(first[:]) >> 1) //nolint:gosec // half of the numbers
}

// saysNothing tells the columns that say where and when an event stands.
func saysNothing(column string) bool {
	return slices.ContainsFunc([]string{"id", "app_name", "user_id", "session_id", "timestamp"}, func(name string) bool { return sameName(name, column) })
}

// withoutTime is a value of a column without the copy of the event's time that its
// document has.
func withoutTime(name string, value any) any {
	if !sameName(name, "event_data") {
		return value
	}
	data := column.Bytes(value)
	if rest := WithoutTime(data); len(rest) != len(data) {
		return string(rest)
	}
	return value
}

// makeSession makes a session of its row.
func (g generation) makeSession(row columns) *session.Session {
	s := &session.Session{App: column.Text(row("app_name")), User: column.Text(row("user_id")), ID: column.Text(row("id")), Title: column.Text(row("title")), Tick: traitsOf[g].tick, OneAnswer: true}
	var list faults
	timeIn := func(name string) time.Time {
		t := stampOf(columnTimes, row(name), g.unitOf(row(name)))
		if t.Wrong != "" {
			list.addFault(session.BadTime, name, t.Wrong)
		}
		return t.Time
	}
	s.Created = timeIn("create_time")
	s.Updated = timeIn("update_time")
	g.checkState(row("state"), &list)
	s.Faults = list
	return s
}

// checkState reports a state that is no JSON object, which the reader cannot merge
// with those of the application and of the user. adk-go reads NULL as an empty one.
func (g generation) checkState(state any, list *faults) {
	empty := "{}"
	f := session.Fault{Field: "state", Default: &empty, Unloads: true}
	data := column.Bytes(state)
	switch {
	case state == nil && g.isPython():
		f.Kind, f.Detail = session.RequiredNull, "The session cannot be loaded."
	case state == nil || g.isGo() && (len(data) == 0 || string(data) == "null") || g.isObject(data):
		return
	default:
		f.Kind, f.Detail = session.BadMetadata, "it is not a JSON object, so the session fails to load"
	}
	*list = append(*list, f)
}

// sharedStates are the tables of the states of applications and users, with their keys.
// Each state is merged with that of every session of its application or user (docs/stores/adk.md#what-is-read), so
// that none of them loads if it is no JSON object.
var sharedStates = []struct {
	table string
	key   []string
	of    string
}{
	{"app_states", []string{"app_name"}, "application"},
	{"user_states", []string{"app_name", "user_id"}, "user"},
}

// brokenStates are the shared states that are no JSON objects: faults by application and
// user, where the user of an application's is "".
type brokenStates map[[2]string]session.Fault

// faultsOf are the faults faultsOf the states that a session shares.
func (b brokenStates) faultsOf(s *session.Session) (list []session.Fault) {
	for _, key := range [][2]string{{s.App, ""}, {s.App, s.User}} {
		if f, broken := b[key]; broken {
			list = append(list, f)
		}
	}
	return list
}

// readBrokenStates finds such states. A table that is missing or has other columns is none
// of ADK's. A damaged page ends one, which is told in any case. Where no session shares a
// state, nothing fails.
func (g generation) readBrokenStates(ctx context.Context, db table.Reader) (brokenStates, error) {
	broken := brokenStates{}
	for _, shared := range sharedStates {
		stored := g.table(shared.table)
		_, err := table.Glance(ctx, db, stored, g.columns(append([]string{"state"}, shared.key...)...), func(row []table.Value) {
			if row[0] == nil || g.takesState(column.Bytes(row[0])) || slices.Contains(row[1:], nil) {
				return
			}
			key := [2]string{column.Text(row[1])}
			if len(row) > 2 {
				key[1] = column.Text(row[2])
			}
			broken[key] = session.Fault{
				Kind: session.BadMetadata, Item: -1, Field: stored + ".state", Unloads: true,
				Detail: "it is not a JSON object, so no session of that " + shared.of + " loads",
				Remedy: "copy the store, then write a JSON object, such as {}, into the column state of its row in " + stored,
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return broken, nil
}

// takesState reports whether a reader takes a shared state for an object, or for none.
func (g generation) takesState(state []byte) bool {
	return g.isObject(state) || g.isJSON(state) && jsontext.Value(state).Kind() == jsontext.KindNull
}
