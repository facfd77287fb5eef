// Package springai reads and repairs the databases of Spring AI Session
// (spring-ai-community/spring-ai-session), as SQLite files with the columns that
// its scripts for other databases have. The facts about the format are from the
// notes named spring-ai-session.md in the design: a letter or a number like G12 in
// a comment is a section or a case of them. Releases are those of that project.
package springai

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables, as the project's scripts name them but for the case: PostgreSQL
// stores names in lower case, H2 and MySQL in upper case.
const (
	tableSessions = "ai_session"
	tableEvents   = "ai_session_event"
)

// The columns of both tables (docs/stores/spring-ai-session.md#what-is-read). seq and archived came with 0.6.0.
var (
	sessionColumns = []string{"id", "user_id", "created_at", "expires_at", "metadata", "event_version"}
	eventColumns   = []string{
		"id", "session_id", "timestamp", "message_type", "message_content", "message_data", "synthetic", "branch", "metadata",
	}
	newerColumns = []string{"seq", "archived"}
)

// relation is a table with its columns by the names that the scripts give them.
type relation struct {
	name    string // as it is stored, like all columns
	columns []string
	stored  map[string]string // by the name in the scripts
}

// tableOf finds a table whatever the case of its name. The columns of one that
// does not exist are none.
func tableOf(schema table.Schema, name string) relation {
	for stored := range schema.Tables {
		if strings.EqualFold(stored, name) {
			columns := schema.Columns(stored)
			t := relation{name: stored, columns: columns, stored: make(map[string]string, len(columns))}
			for _, c := range columns {
				t.stored[strings.ToLower(c)] = c
			}
			return t
		}
	}
	return relation{}
}

func (t *relation) hasColumns(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return t.stored[c] == "" })
}

// missingColumns are those of the columns that the table does not have.
func (t *relation) missingColumns(columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return t.hasColumns(c) })
}

// pickColumns picks the stored names of those of the columns that the table has.
func (t *relation) pickColumns(columns ...string) []string {
	var names []string
	for _, c := range columns {
		if t.hasColumns(c) {
			names = append(names, t.stored[c])
		}
	}
	return names
}

// rowValue is a value of a row of the table, nil for a column that it lacks.
func (t *relation) rowValue(row docedit.Record, column string) any {
	return row.Value(t.stored[column])
}

// schema is what a database has.
type schema struct {
	sessions, events relation

	given  bool // the database itself gives out seq
	unique bool // no two rows may have one seq, although it has to be written
	folds  bool // the database overlooks case where it compares branches
	clock  any  // stands for the form of the stored times
}

// isSequenced reports whether events are ordered by seq, as since 0.6.0. Before,
// their times were the order.
func (sc *schema) isSequenced() bool { return sc.events.hasColumns("seq") }

func readSchema(ctx context.Context, db table.Reader, stored table.Schema) (sc *schema, err error) {
	sc = &schema{sessions: tableOf(stored, tableSessions), events: tableOf(stored, tableEvents)}
	sc.folds = stored.Tables[sc.events.name].Column(sc.events.stored["branch"]).FoldsCase
	if sc.isSequenced() {
		seq, events := sc.events.stored["seq"], stored.Tables[sc.events.name]
		sc.given = events.Column(seq).Given
		sc.unique = !sc.given && slices.ContainsFunc(events.Indexes, func(x table.Index) bool { return x.Unique && slices.Contains(x.Columns, seq) })
	}
	sc.clock, err = sc.readClock(ctx, db)
	return sc, err
}

// readClock looks at the form in which the first event's time is stored.
func (sc *schema) readClock(ctx context.Context, db table.Reader) (form any, _ error) {
	form = sqlTime
	if !sc.events.hasColumns("timestamp") {
		return form, nil
	}
	times := table.Selection{Table: sc.events.name, Columns: sc.events.pickColumns("timestamp"), Glance: true}
	_, err := db.Scan(ctx, times, func(_ table.Place, row []table.Value) error {
		if row[0] == nil {
			return nil
		}
		form = clockOf(row[0])
		return table.Enough
	})
	return form, err
}

// The generations of the schema, by the first release that has it.
const (
	sequenced = "0.6.0"
	byTime    = "0.1.0"
)

// storeFacts is what is known of a database with this schema.
func (sc *schema) storeFacts() session.Store {
	f := session.Store{
		Kind: kindName, Title: kindTitle,
		Reader: session.Reader{BranchModel: "path", RootSummaries: true, LikeFilter: true, FoldsBranches: sc.folds},
		Keys:   session.Keys{Renumbers: sc.given},
		Requests: session.Requests{
			// SessionMemoryAdvisor.java, since 0.1.0.
			Adapts: map[string]string{"SC304": "moves system messages to the start of the request"},
		},
		Generation: sequenced, Versions: "written by Spring AI Session 0.6.0 or later",
	}
	if _, form := times.Parse(column.View(sc.clock)); form != nil && !strings.Contains(form.Layout, "07") {
		f.Zoneless = "JVMs" // JdbcSessionRepository stores LocalDateTime of its own zone
	}
	if !sc.isSequenced() {
		f.Generation, f.Versions = byTime, "written by Spring AI Session before 0.6.0"
		f.Advice = []string{"Spring AI Session before 0.6.0 sorts events by time, so a summary comes after messages that it should precede, " +
			"and its compaction deletes what it summarizes: upgrade it, and add the two columns of its migration guide."}
	}
	if sc.unique {
		f.ReadOnly = "each seq must be unique, but nothing gives out new ones: make seq the table's INTEGER PRIMARY KEY, as a generated column is elsewhere"
	}
	return f
}

// knownTables are the columns of the tables.
func (sc *schema) knownTables() []eventlog.Known {
	needed := slices.Concat(eventColumns, newerColumns)
	if len(sc.events.missingColumns(newerColumns)) == len(newerColumns) { // before 0.6.0
		needed = eventColumns
	}
	return []eventlog.Known{{Table: sc.sessions.name, Needed: sessionColumns}, {Table: sc.events.name, Needed: needed}}
}

// timesStay is why no event of the tables before 0.6.0 gets another place.
const timesStay = "its time is its place, and would no longer say when it was said: " +
	"add the columns seq and archived, as the migration guide of Spring AI Session 0.6.0 says, and repair it then"

const (
	kindName  = "spring-ai-session"
	kindTitle = "Spring AI Session"
)

// Kind is Spring AI Session's row in the table of adapters. It is a library
// within other programs, so there is no place to look for its database.
var Kind = eventlog.Kind(store.Kind{Name: kindName, Title: kindTitle, Open: openDatabase}, detectTables, buildEditLayout)

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	events, sessions := tableOf(stored, tableEvents), tableOf(stored, tableSessions)
	switch {
	case !events.hasColumns("id", "session_id", "message_type", "message_content") || !sessions.hasColumns("id"):
		return store.Detection{}
	case events.hasColumns("message_data", "synthetic") && sessions.hasColumns("user_id", "event_version"):
		return store.Detection{Sure: store.Certain, Why: "tables " + sessions.name + " and " + events.name}
	}
	return store.Detection{Sure: store.Maybe, Why: "table " + events.name + " with some of the columns"}
}

// openDatabase reads everything but texts.
func openDatabase(ctx context.Context, src *store.Source, opts store.Options) (store.Store, error) {
	return eventlog.OpenBy(ctx, src, opts, func(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
		sc, err := readSchema(ctx, db, stored)
		facts := sc.storeFacts()
		if err == nil && opts.Deep {
			facts.Faults, err = sc.reportLowVersions(ctx, db)
		}
		return facts, sc.buildLayout(), err
	})
}

// saidColumns are the columns of an event that say something. The others say
// where and when it stands, and whether it is still sent.
var saidColumns = []string{"message_type", "message_content", "message_data", "synthetic", "branch", "metadata"}

// buildLayout builds how a database of this schema is read and written.
func (sc *schema) buildLayout() *eventlog.Layout {
	l := &eventlog.Layout{
		Sessions: eventlog.Table{Name: sc.sessions.name, Columns: sc.sessions.columns, Key: sc.sessions.pickColumns("id")},
		Events: eventlog.Table{
			Name: sc.events.name, Columns: sc.events.columns, Key: sc.events.pickColumns("session_id"), ID: sc.events.stored["id"],
		},
		Known: sc.knownTables(),
		Place: sc.events.pickColumns("timestamp"), Order: sc.orderByTime,
		Session: sc.makeSession, Item: sc.decodeItem, Finish: sc.finishSession,
		Said: sc.events.pickColumns(saidColumns...), Content: sc.comparedContent, Verbatim: eventlog.AtMost(0),
		Write: eventlog.Write{Insert: sc.insertResult, Part: sc.insertPart, Update: sc.updateEvent, Session: sc.updateSession, Typed: sc.parseColumnValue},
	}
	if sc.isSequenced() {
		l.Place, l.Order = sc.events.pickColumns("seq"), sc.orderBySequence
	}
	if sc.given {
		l.Write.Renumber = l.Place
	}
	return l
}

// The places of events without a usable one: before all others and behind them,
// with room for those that a repair puts beside them.
const (
	beforeAll = math.MinInt64
	behindAll = math.MaxInt64 / 2
)

func (sc *schema) orderBySequence(_ table.Place, place eventlog.Row) (at, tie int64) {
	stored := sc.events.rowValue(place, "seq")
	if stored == nil {
		return beforeAll, 0
	}
	if seq, ok := column.Int(stored); ok {
		return seq, 0
	}
	return behindAll, 0
}

// orderByTime goes by the numbers where times are stored as numbers of
// milliseconds, and else by microseconds. SQLite orders numbers before texts, and
// so does this.
func (sc *schema) orderByTime(_ table.Place, place eventlog.Row) (at, tie int64) {
	stored := sc.events.rowValue(place, "timestamp")
	if stored == nil {
		return beforeAll, 0
	}
	if ms, ok := column.Int(stored); ok {
		return ms, 0
	}
	t := times.Read(stored)
	if t.Wrong != "" {
		return behindAll, 0
	}
	return t.UnixMicro(), 0
}

// placeTick is what the places of events count where they are times.
func (sc *schema) placeTick() time.Duration {
	if _, number := column.Int(sc.clock); sc.isSequenced() {
		return 0
	} else if number {
		return time.Millisecond
	}
	return time.Microsecond
}

// buildEditLayout builds the layout of a database that is open for writing.
func buildEditLayout(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	sc, err := readSchema(ctx, db, stored)
	return sc.storeFacts(), sc.buildLayout(), err
}

// reportLowVersions reports the sessions that have more messages than were ever counted.
// Each append counts event_version on, and no strategy of the library deletes a
// message that it did not write itself, so rows were written past the library or
// the number was set back (docs/stores/spring-ai-session.md#what-is-read). It is a fault of the store and not of a session: a
// repair counts on, too, and may take messages out.
func (sc *schema) reportLowVersions(ctx context.Context, db table.Reader) ([]session.Fault, error) {
	if !sc.events.hasColumns("session_id", "synthetic") || !sc.sessions.hasColumns("event_version") {
		return nil, nil
	}
	s, e := &sc.sessions, &sc.events
	messages := map[string]*int64{}
	_, err := table.Glance(ctx, db, e.name, e.pickColumns("session_id", "synthetic"), func(row []table.Value) {
		id := column.View(row[0])
		if is, ok := column.Bool(row[1]); ok && !is {
			if messages[id] == nil {
				messages[strings.Clone(id)] = new(int64)
			}
			*messages[id]++
		}
	})
	if err != nil {
		return nil, err
	}
	sessions, first := 0, ""
	_, err = table.Glance(ctx, db, s.name, s.pickColumns("id", "event_version"), func(row []table.Value) {
		id := column.View(row[0])
		if version, _ := column.Int(row[1]); row[0] == nil || row[1] == nil || messages[id] == nil || version >= *messages[id] {
			return
		}
		if sessions++; sessions == 1 || id < first {
			first = strings.Clone(id)
		}
	})
	if err != nil || sessions == 0 {
		return nil, err
	}
	return []session.Fault{{
		Kind: session.Housekeeping, Item: -1, Ref: session.Ref{Table: s.name, Key: first}, Field: "event_version", Count: sessions,
		Detail: fmt.Sprintf("event_version is lower than the number of messages in %d of the sessions: messages were written past the library, "+
			"or the number was set back, and a compaction that reads it may overwrite what it has not seen", sessions),
	}}, nil
}

// The documented defaults (docs/stores/spring-ai-session.md#what-is-read): the owner where the advisor has none, and what a
// new session begins with.
var (
	defaultUser     = "default-user"
	defaultVersion  = "0"
	defaultMetadata = "{}"
	defaultFlag     = "false"
)

// makeSession makes the session of a row, without items.
func (sc *schema) makeSession(row eventlog.Row) *session.Session {
	text := func(name string) string { return column.Text(sc.sessions.rowValue(row, name)) }
	s := &session.Session{ID: text("id"), User: text("user_id"), Tick: sc.placeTick()}
	fault := func(kind session.FaultKind, field, detail string, fallback *string) {
		unloads := kind == session.BadMetadata || kind == session.RequiredNull && field == "created_at"
		s.Faults = append(s.Faults, session.Fault{Kind: kind, Ref: s.Ref(), Item: -1, Field: field, Detail: detail, Default: fallback, Unloads: unloads})
	}
	null := func(name string) bool { return sc.sessions.hasColumns(name) && sc.sessions.rowValue(row, name) == nil }
	if null("user_id") {
		fault(session.RequiredNull, "user_id", "The session is not found among any user's sessions.", &defaultUser)
	}
	if null("event_version") {
		fault(session.RequiredNull, "event_version", "It never increases, so no compaction is stored.", &defaultVersion)
	}
	if writes, ok := column.Int(sc.sessions.rowValue(row, "event_version")); ok && writes > 0 && !sc.isSequenced() {
		detail := fmt.Sprintf("event_version counts %d writes, which is more than is left: Spring AI Session before 0.6.0 deletes what a compaction covers", writes)
		s.Faults = append(s.Faults, session.Fault{
			Kind: session.HistoryDeleted, Ref: s.Ref(), Item: -1, Field: "event_version", Detail: detail, Count: int(min(writes, math.MaxInt32)),
		})
	}
	switch {
	case null("created_at"):
		fault(session.RequiredNull, "created_at", "The session cannot be loaded.", nil)
	case sc.sessions.hasColumns("created_at"):
		t := times.Read(sc.sessions.rowValue(row, "created_at"))
		if s.Created = t.Time; t.Wrong != "" {
			fault(session.BadTime, "created_at", t.Wrong, nil)
		}
	}
	expires := sc.sessions.rowValue(row, "expires_at")
	if column.View(expires) != "" { // NULL is an empty text in a CSV file
		if wrong := times.Read(expires).Wrong; wrong != "" {
			fault(session.BadTime, "expires_at", wrong, nil)
		}
	}
	if _, wrong := readMetadata(sc.sessions.rowValue(row, "metadata")); wrong != "" {
		fault(session.BadMetadata, "metadata", wrong, &defaultMetadata)
	}
	return s
}

// finishSession derives the times that a repair may set where one is missing or
// unusable: that of the event before, else of the next one that has one; of a
// session that of its first event.
func (sc *schema) finishSession(s *session.Session) {
	s.Faults = slices.Clone(s.Faults) // the session may be yielded again
	for i := range s.Faults {
		f := &s.Faults[i]
		switch {
		case f.Default != nil:
		case f.Field == "created_at":
			f.Default = sc.timeNear(s, 0)
		case f.Field == "timestamp":
			if f.Default = sc.timeNear(s, f.Item); f.Default != nil {
				f.Time = times.Read(*f.Default).Time
			}
		}
	}
	s.Faults = slices.DeleteFunc(s.Faults, func(f session.Fault) bool { return f.Kind == session.HistoryDeleted && !lacksHistory(s, f.Count) })
}

// lacksHistory reports whether a session has fewer messages than were written, and a compaction
// took them: one that wrote a summary, or so many that no repair did (it counts on, too).
func lacksHistory(s *session.Session, writes int) bool {
	messages, summary := 0, false
	for i := range s.Items {
		if s.Items[i].Flags.Has(session.SummaryTurn) {
			summary = true
		} else {
			messages++
		}
	}
	return summary && writes > messages || writes > 2*messages+10
}

// timeNear is the time of the event that is nearest to an item, an earlier one before a later one; nil
// when none has a time. A summary is newer than what it keeps, and what is archived has an
// order of its own.
func (sc *schema) timeNear(s *session.Session, item int) *string {
	near := func(it session.Item) bool { return !it.Time.IsZero() }
	alike := func(it session.Item) bool {
		return !it.Time.IsZero() && (it.Flags^s.Items[item].Flags)&session.Archived == 0 && !it.Flags.Has(session.SummaryTurn)
	}
	if slices.ContainsFunc(s.Items, alike) {
		near = alike
	}
	at := slices.IndexFunc(s.Items, near)
	for i := min(item, len(s.Items)-1); i > at; i-- {
		if near(s.Items[i]) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	text := column.Text(sc.formatTime(s.Items[at].Time))
	return &text
}
