// Package goose reads and repairs the database of goose (aaif-goose/goose, formerly
// block/goose), one for all projects. docs/stores/goose.md has the facts about the format.
package goose

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables. Others are never read: they hold names of providers and what requests cost.
const (
	tableSessions = "sessions"
	tableMessages = "messages"
	tableVersions = "schema_version"
)

// known are the columns of every version, and those that migrations added.
var known = []eventlog.Known{
	{Table: tableSessions, Needed: []string{"id", "working_dir", "created_at", "updated_at", "extension_data"}, Further: []string{
		"name", "description", "user_set_name", "session_type", "total_tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
		"accumulated_total_tokens", "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cache_read_tokens", "accumulated_cache_write_tokens",
		"accumulated_cost", "schedule_id", "recipe_json", "user_recipe_values_json", "provider_name", "model_config_json", "goose_mode", "thread_id",
		"archived_at", "project_id", "parent_session_id", "parent_delegation",
	}},
	{Table: tableMessages, Needed: []string{"id", "session_id", "role", "content_json", fieldTime},
		Further: []string{"message_id", "timestamp", "tokens", "metadata_json"}},
}

// fieldTime is the column that orders messages: in seconds.
const fieldTime = "created_timestamp"

// columns are those of sessions that are read. Others hold values of the environment,
// addresses and what recipes were given: they are in no view, export or receipt.
var columns = []string{"id", "name", "description", "session_type", "created_at", "updated_at", "parent_session_id", "parent_delegation"}

// newest is the newest schema whose meaning is known. goose 1.50.0 writes 16.
const newest = 17

const (
	kindName  = "goose"
	kindTitle = "goose"
	subAgent  = "sub_agent" // the type of a sub-session
)

// Kind is goose's row in the table of adapters.
var Kind = eventlog.Kind(store.Kind{Name: kindName, Title: kindTitle, Locations: listLocations}, detectTables, examineDatabase)

// listLocations lists where goose keeps its database: below the data folder of the user.
func listLocations(home string) []string {
	if data := os.Getenv("APPDATA"); data != "" { // Windows
		return []string{filepath.Join(data, "Block", "goose", "data", "sessions", "sessions.db")}
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" && home == "" {
		return nil
	}
	return []string{filepath.Join(cmp.Or(data, filepath.Join(home, ".local", "share")), "goose", "sessions", "sessions.db")}
}

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	switch {
	case !stored.HasColumns(tableSessions, "extension_data", "working_dir") || !stored.HasColumns(tableMessages, "content_json", fieldTime):
		return store.Detection{}
	case stored.HasColumns(tableVersions, "version"):
		return store.Detection{Sure: store.Certain, Why: "tables sessions, messages and " + tableVersions}
	}
	return store.Detection{Sure: store.Maybe, Why: "tables sessions and messages, but no " + tableVersions}
}

// reader is what is known of a database while its sessions are read.
type reader struct {
	table.Schema
	// waiting are the sub-sessions of messages, by their message_id, whose calls goose answers
	// itself at the next run: schema 17 keeps that with the sub-session.
	waiting map[string][]string
	twins   map[int64]session.Digest // the message_id of the rows that share one
}

// examineDatabase looks at a database, and says what is known of the store before its sessions
// are.
func examineDatabase(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	version, later := int64(0), store.Later{Read: "Sessions and messages"}
	_, err := table.Glance(ctx, db, tableVersions, []string{"version"}, func(row []table.Value) {
		n, _ := column.Int(row[0])
		version = max(version, n)
	})
	switch {
	case version > newest:
		later.Doubt(fmt.Sprint("its schema is version ", version, ", and sessctl knows those up to ", newest), fmt.Sprint("nobody knows here what version ", version, " changed"))
	case version == 0:
		later.Doubt("it has no version in "+tableVersions, "nothing tells which release of goose wrote it")
	}
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Generation: strconv.FormatInt(version, 10), Runtime: runtime,
		Requests: session.Requests{Adapts: adaptations, Loses: losses},
		Children: session.Children{WholeTurns: true},
		Keys:     session.Keys{Renumbers: true, CountsRows: true, Hides: true, Omits: true},
	}
	layout := (&reader{Schema: stored}).buildLayout()
	layout.Known, layout.Later = known, later
	return facts, layout, err
}

// runtime is what goose makes of every request, in crates/goose/src/conversation/mod.rs
// (source, and seen in what 1.50.0 sent): pairs are told by their ids alone, and what
// lacks its other half is not sent.
var runtime = session.Runtime{
	Name:          kindTitle,
	BlankMessages: "goose leaves messages without content out of the request",
	Sanitiser:     &session.Sanitiser{By: "Goose releases with this database", Pairs: "openai-responses", Always: true},
}

// adaptations is what goose does about what providers mind, by the same source.
var adaptations = map[string]string{
	"SC301": "joins messages of one role",
	"SC302": "leaves out what the assistant says before the first message of the user",
	"SC303": "leaves out what the assistant says behind the last message of the user",
	"SC401": "leaves empty messages out",
	"SC402": "leaves empty messages out",
	"SC403": "cuts white space at the end of what the assistant says",
	"SC406": "sends \"(empty result)\" for a result without text",
}

// losses is what it leaves out: the model does not learn of that.
var losses = map[string]string{
	"SC101": "leaves the call out of requests",
	"SC103": "leaves the result out of requests",
	"SC106": "leaves the second result out of requests",
	"SC108": "leaves it out of requests, and what belongs to it",
	"SC725": "leaves the visible half out of requests",
}

// buildLayout builds how such a database is read and written.
func (r *reader) buildLayout() *eventlog.Layout {
	parent := ""
	if r.HasColumns(tableSessions, "parent_session_id") {
		parent = "parent_session_id"
	}
	var read []string
	for _, name := range columns {
		if r.HasColumns(tableSessions, name) {
			read = append(read, name)
		}
	}
	return &eventlog.Layout{
		Sessions: eventlog.Table{Name: tableSessions, Columns: read, Key: []string{"id"}, Parent: parent},
		Events:   eventlog.Table{Name: tableMessages, Columns: r.Columns(tableMessages), Key: []string{"session_id"}, ID: "id"},
		Place:    []string{fieldTime},
		Order: func(at table.Place, place eventlog.Row) (position, tie int64) {
			return eventlog.BySecond(at, place.Value(fieldTime))
		},
		Session: func(row eventlog.Row) *session.Session { return sessionOf(row) },
		Item:    r.decodeItem, Finish: r.finishSession,
		Relate: func(s *session.Session) {
			for i := range s.Items {
				if it := &s.Items[i]; it.Flags.Has(session.Archived) {
					it.Flags &^= session.SummaryTurn // see metadata.visibilityFlags
				}
			}
			relateItems(s)
			tellHidden(s)
			r.findStrays(s)
			eventlog.DropTimeFaults(s, fieldTime)
		},
		Said: []string{"role", "content_json"}, Verbatim: eventlog.AtMost(2, `"text"`, `"thinking"`), //nolint:mnd // a type and a member
		Links: listLinks, LinkColumns: []string{"content_json"}, OneID: true,
		Prepare: r.prepareTables,
		Write: eventlog.Write{
			Insert: insert, Part: partRow, Update: updateMessage,
			Renumber: []string{"id"},
			Tied:     eventlog.SameSecond, SameNumber: eventlog.SameRow,
		},
	}
}

// toSeconds is what the time of a message means. Older builds stored milliseconds, which put
// messages behind all others.
func toSeconds(stored any) any {
	if n, ok := column.Int(stored); ok && n > eventlog.TooLate {
		return n / 1000
	}
	return stored
}

// prepareTables reads which calls wait for sub-sessions, and, where there are these, what has copies.
func (r *reader) prepareTables(ctx context.Context, db table.Reader, _ [][]table.Value) error {
	r.waiting, r.twins = map[string][]string{}, map[int64]session.Digest{}
	subs := false
	_, err := table.Glance(ctx, db, tableSessions, []string{"session_type", "id", "parent_delegation"}, func(row []table.Value) {
		id := column.Text(row[1])
		subs = subs || column.View(row[0]) == subAgent
		var d struct {
			Message   string `json:"parent_delegate_message_id"`
			Delivered bool   `json:"result_delivered_to_parent"`
		}
		if jsonscan.Exact.Unmarshal(column.Bytes(row[2]), &d) == nil && d.Message != "" && !d.Delivered {
			r.waiting[d.Message] = append(r.waiting[d.Message], id)
		}
	})
	if err != nil || !subs || !r.HasColumns(tableMessages, "message_id") {
		return err
	}
	return r.findTwins(ctx, db)
}

// findTwins finds the rows that have the message_id of another one.
func (r *reader) findTwins(ctx context.Context, db table.Reader) error {
	first := map[session.Digest]int64{}
	rows := table.Selection{Table: tableMessages, Columns: []string{"message_id"}, Glance: true}
	_, err := db.Scan(ctx, rows, func(at table.Place, row []table.Value) error {
		id := session.DigestOf(column.View(row[0]))
		if other, known := first[id]; known && id != 0 {
			r.twins[other], r.twins[int64(at)] = id, id
		} else {
			first[id] = int64(at)
		}
		return nil
	})
	return err
}

// times are those of sessions: UTC, without a zone.
var times = column.Times{
	Forms: []column.Form{{Layout: "2006-01-02 15:04:05"}}, T: true, UTC: true, Years: [2]int{2000, 2200},
	Formless: "it is not in the form 2026-02-03 09:56:40", Outside: "its year is %d",
}

// sessionOf is the session of a row, without items.
func sessionOf(row eventlog.Row) *session.Session {
	title := cmp.Or(column.Text(row.Value("name")), column.Text(row.Value("description")))
	s := &session.Session{ID: column.Text(row.Value("id")), Title: title, Tick: time.Second, TickBits: eventlog.SecondBits}
	s.Delegated = column.View(row.Value("session_type")) == subAgent
	s.Created, s.Updated = times.Read(row.Value("created_at")).Time, times.Read(row.Value("updated_at")).Time
	s.Faults = append(eventlog.BadTimes(row.Value, &times, "created_at", "updated_at"), eventlog.BadUnicode(row, "name", "description")...)
	return s
}
