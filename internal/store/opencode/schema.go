// Package opencode reads and repairs the databases of opencode (anomalyco/opencode) and of
// Kilo Code and MiMo Code, which have its tables. docs/stores/opencode.md has the facts
// about the format.
package opencode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables that are read. Others hold credentials (account, control_account, credential,
// session_share), events that nobody reads back, and what is no conversation.
const (
	tableSessions   = "session"
	tableMessages   = "message"
	tableParts      = "part"
	tableDraft      = "session_message" // the new core, which keeps a message in one row
	tableSecond     = "session_v2"      // opencode 2
	tableSettings   = "kv"
	tableMigrations = "migration"
	tableDrizzle    = "__drizzle_migrations" // in files of 1.2 and later that were upgraded
)

// sessionColumns are those of a session that are read. permission and share_url can hold
// secrets.
var sessionColumns = []string{
	"id", "parent_id", "title", "revert", "model", "time_created", "time_updated", "fork_session_id", "time_suspended",
}

// known are the columns of opencode 1.18.33, and those that came after 1.2.
var known = []eventlog.Known{
	{Table: tableSessions, Needed: []string{"id", "project_id", "parent_id", "slug", "directory", "title", "version", "revert", "time_created", "time_updated"}, Further: []string{
		"workspace_id", "path", "share_url", "summary_additions", "summary_deletions", "summary_files", "summary_diffs", "metadata", "cost",
		"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write", "permission", "agent", "model",
		"time_compacting", "time_archived",
	}},
	{Table: tableMessages, Needed: messageColumns},
	{Table: tableParts, Needed: partColumns},
}

// newest is the newest migration of opencode 1.18.33.
const newest = "20260622202450_simplify_session_input"

const kindName = "opencode"

// Kind is opencode's row in the table of adapters.
var Kind = eventlog.KindThrough(store.Kind{Name: kindName, Title: kindName, Locations: listLocations}, detectTables, examined,
	func(db table.Reader) table.Reader { return newJoined(db) },
	func(e table.Editor) table.Editor { return &editor{Editor: e, view: newJoined(e.Reader())} })

// programs are those that keep such a database, by the folder and the name of the file
// below the folder for data (Global.Path.data and Database.Path in each one's source).
var programs = []struct{ folder, title string }{{"opencode", kindName}, {"kilo", "Kilo Code"}, {"mimocode", "MiMo Code"}}

// listLocations lists the databases below the folder for data, which is the same on macOS.
func listLocations(home string) (list []string) {
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" && home != "" {
		data = filepath.Join(home, ".local", "share")
	}
	if other := os.Getenv("OPENCODE_DB"); filepath.IsAbs(other) {
		list = append(list, other)
	} else if other != "" && data != "" {
		list = append(list, filepath.Join(data, "opencode", other))
	}
	if data == "" {
		return list
	}
	for _, p := range programs {
		path := filepath.Join(data, p.folder, p.folder+".db")
		channels, _ := filepath.Glob(filepath.Join(data, p.folder, p.folder+"-*.db"))
		list = append(append(list, path), channels...)
	}
	return list
}

// titleOf is the program that a file belongs to by its name: the tables are the same.
func titleOf(path string) string {
	for _, p := range programs {
		if name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".db"), "-"); name == p.folder {
			return p.title
		}
	}
	return kindName
}

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	switch {
	case stored.HasColumns(tableParts, "message_id", "session_id", "data") && stored.HasColumns(tableMessages, "session_id", "data") && stored.HasColumns(tableSessions, "parent_id", "slug"):
		return store.Detection{Sure: store.Certain, Why: "tables session, message and part"}
	case stored.HasColumns(tableSecond, "parent_id") && stored.HasColumns(tableDraft, "session_id", "seq", "data"):
		return store.Detection{Sure: store.Certain, Why: "tables session_v2 and session_message"}
	}
	return store.Detection{}
}

// reader is what is known of a database while its sessions are read.
type reader struct {
	*joined
	reverts map[string]string // by session, the message from which on messages are annulled
	both    map[string]bool   // sessions with messages in both tables
	open    sync.Map          // by id, messages without an end: whether they are sent when they have one
	ran     sync.Map          // by message and number of a call, from when to when a call had a sub-session work
	apart   sync.Map          // by id, messages whose parts all name another session: which
	tails   sync.Map          // by id of a message that asked for a summary, the first message that it kept; "" by those of summaries
}

// examined looks at a database, and says what is known of the store before its sessions
// are. Which generation a session is in its rows decide: opencode 1.18.33 has the tables of
// the new core, and leaves them empty.
func examined(ctx context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	j := db.(*joined)
	j.From, j.tables = []eventlog.Source{{Table: tableSessions}}, []string{tableMessages}
	layout := (&reader{joined: j}).buildLayout()
	facts := session.Store{
		Kind: kindName, Title: titleOf(db.About().Name),
		Children: session.Children{ReusesChildren: true}, Requests: session.Requests{Adapts: adapts},
		Keys: session.Keys{Renumbers: true, Closes: true, Omits: true},
	}
	c, err := j.countRows(ctx)
	bare := !stored.HasColumns(tableSessions, "slug")
	if c.drafts > 0 {
		j.tables = append(j.tables, tableDraft)
	}
	if c.second > 0 || c.moved || bare {
		j.From, j.tables = append(j.From, eventlog.Source{Table: tableSecond}), []string{tableMessages, tableDraft}
		facts.Generation, facts.ReadOnly = "2", "it is a database of opencode 2, and nobody knows what opencode 2 makes of a row that another program changed"
	}
	if c.moved || bare {
		j.From, j.tables = j.From[1:], []string{tableDraft}
		facts.Faults = c.reportHidden()
	}
	facts.Runtime = runtimeOf(facts.Title, c.messages > 0 && slices.Contains(j.tables, tableMessages))
	if facts.ReadOnly == "" && err == nil {
		layout.Known = known
		layout.Later, facts.Generation, err = readMigrations(ctx, j.Reader, stored)
	}
	return facts, layout, err
}

// counted is how many rows a database has.
type counted struct {
	messages, drafts, second int  // of these tables
	moved                    bool // the setting migration.v1-v2 says that opencode 2 took over what opencode 1 had
	old, behind              int  // then: sessions of opencode 1, and those that opencode 2 has not
}

// countRows looks which rows there are.
func (j *joined) countRows(ctx context.Context) (c counted, err error) {
	each := func(name, column string, fn func(value table.Value)) {
		if err == nil {
			_, err = table.Glance(ctx, j.Reader, name, []string{column}, func(row []table.Value) { fn(row[0]) })
		}
	}
	taken := map[string]bool{}
	each(tableMessages, "id", func(table.Value) { c.messages++ })
	each(tableDraft, "id", func(table.Value) { c.drafts++ })
	each(tableSecond, "id", func(id table.Value) { c.second, taken[column.Text(id)] = c.second+1, true })
	each(tableSettings, "key", func(key table.Value) { c.moved = c.moved || column.View(key) == "migration.v1-v2" })
	if c.moved {
		each(tableSessions, "id", func(id table.Value) {
			if c.old++; !taken[column.View(id)] {
				c.behind++
			}
		})
	}
	return c, err
}

// reportHidden tells of the sessions that opencode 2 reads no more.
func (c *counted) reportHidden() []session.Fault {
	if c.old == 0 {
		return nil
	}
	f := session.Fault{Kind: session.Housekeeping, Item: -1, Ref: session.Ref{Table: tableSessions, Key: "*"}, Count: c.old,
		Detail: fmt.Sprintf("%d sessions of opencode 1 are still stored. opencode 2 has all of them, and reads its own copies", c.old)}
	if c.behind > 0 {
		f.Count, f.Lost = c.behind, true
		f.Detail = fmt.Sprintf("%d of %d sessions of opencode 1 were not taken over by opencode 2, which does not show them. sessctl reads what opencode 2 reads", c.behind, c.old)
	}
	return []session.Fault{f}
}

// readMigrations says what of a database of opencode 1 is not known.
func readMigrations(ctx context.Context, db table.Reader, stored table.Schema) (later store.Later, generation string, err error) {
	_, err = table.Glance(ctx, db, tableMigrations, []string{"id"}, func(row []table.Value) {
		id := column.Text(row[0])
		if id > newest {
			later.Doubt("it has migrations that sessctl does not know", fmt.Sprintf("nobody knows here what migration %.80q changed", id))
		}
		generation = max(generation, id)
	})
	if !stored.HasColumns(tableMigrations, "id") && !stored.HasColumns(tableDrizzle, "hash") {
		later.Doubt("it has no table "+tableMigrations, "nothing tells which release of opencode wrote it")
	}
	later.Read = "Sessions and messages"
	generation, _, _ = strings.Cut(generation, "_")
	return later, generation, err
}

// adapts is what opencode makes of requests for single providers (provider/transform.ts).
var adapts = map[string]string{
	"SC101":           "sends an error result in its place",
	"SC203 anthropic": "replaces the characters that Claude does not take", "SC203 bedrock": "replaces the characters that Claude does not take",
	"SC203 mistral":   "makes ids of nine letters and digits",
	"SC305":           "puts an answer between them for Mistral's models",
	"SC401 anthropic": "leaves empty texts out", "SC401 bedrock": "leaves empty texts out",
	"SC402 anthropic": "leaves empty texts out", "SC402 bedrock": "leaves empty texts out",
	"SC509 deepseek": "adds empty reasoning",
}

// runtimeOf is what opencode makes of the pairs of a request: each release does it. The new
// core writes such results into its rows, when the next request begins.
func runtimeOf(title string, first bool) session.Runtime {
	result := "[Tool execution was interrupted]"
	if !first {
		result = `{"error":{"type":"unknown","message":"Tool execution interrupted"},"content":[],"structured":{}}`
	}
	return session.Runtime{
		Name:          title,
		BlankMessages: "opencode leaves messages without parts out of the request, and sends an empty text to most providers",
		Sanitiser:     &session.Sanitiser{By: "All versions of " + title, Pairs: "openai-chat", Always: true, Result: result},
	}
}

// buildLayout builds how such a database is read and written.
func (r *reader) buildLayout() *eventlog.Layout {
	return &eventlog.Layout{
		Sessions: eventlog.Table{Name: tableSessions, Columns: sessionColumns, Key: []string{"id"}, Parent: "parent_id"},
		Events:   eventlog.Table{Name: tableMessages, Columns: eventColumns, Key: []string{"session_id"}, ID: "id"},
		Place:    []string{eventlog.ColumnPosition}, Order: eventlog.OrderByPosition,
		Session: sessionOf, Item: r.decodeItem, Gather: r.findStrays, Finish: r.finishSession, Relate: r.relateItems,
		Said: []string{"data", eventlog.ColumnEvent}, Content: comparedContent,
		LinkColumns: []string{eventlog.ColumnEvent}, Links: listLinks, OneID: true,
		Prepare: r.prepareTables,
		Write:   eventlog.Write{Insert: insertResult, Update: updateEvent, OtherTables: refuseSeparation, Tied: packing.OneTime},
	}
}

// listLinks lists the sessions that a message's calls started.
func listLinks(row eventlog.Row) (ids []string) {
	e, _ := row.Value(eventlog.ColumnEvent).(event)
	if e.stored == nil || e.nth > 0 {
		return nil
	}
	for i := range e.parts {
		if id := e.parts[i].State.Metadata.Child; id != "" && e.parts[i].Tool == "task" {
			ids = append(ids, id)
		}
	}
	return ids
}

// prepareTables reads what sessions say of messages.
func (r *reader) prepareTables(ctx context.Context, db table.Reader, _ [][]table.Value) error {
	r.reverts, r.both = map[string]string{}, map[string]bool{}
	if len(r.tables) > 1 {
		first := map[string]bool{}
		for _, from := range r.tables {
			_, err := table.Glance(ctx, r.Reader, from, []string{"session_id"}, func(row []table.Value) {
				if id := column.View(row[0]); from == tableMessages {
					first[strings.Clone(id)] = true
				} else if first[id] {
					r.both[strings.Clone(id)] = true
				}
			})
			if err != nil {
				return err
			}
		}
	}
	_, err := table.Glance(ctx, db, tableSessions, []string{"id", "revert"}, func(row []table.Value) {
		var revert struct {
			Message string `json:"messageID"`
			Part    string `json:"partID"`
		}
		if row[1] != nil && jsonscan.Exact.Unmarshal(column.Bytes(row[1]), &revert) == nil && revert.Message != "" {
			r.reverts[column.Text(row[0])] = revert.Message
			if revert.Part != "" { // the beginning of the message stays
				r.reverts[column.Text(row[0])] += "\x00"
			}
		}
	})
	return err
}

// times are milliseconds.
var times = column.Times{
	Number: column.Milliseconds, Whole: true, Years: [2]int{2000, 2039},
	Formless: "it is not a number of milliseconds", Outside: "read as milliseconds, its year is %d",
}

// sessionOf is the session of a row, without items.
func sessionOf(row eventlog.Row) *session.Session {
	s := &session.Session{
		ID: column.Text(row.Value("id")), Title: column.Text(row.Value("title")), Tick: time.Millisecond, TickBits: packing.PositionBits(),
		Forked: row.Value("fork_session_id") != nil, CallOrder: true,
	}
	var model struct {
		ID string `json:"id"`
	}
	_ = jsonscan.Exact.Unmarshal(column.Bytes(row.Value("model")), &model) // what cannot be read tells nothing
	s.Model = model.ID
	if row.Value("time_suspended") != nil {
		s.Writer = session.WriterLive // opencode 2 goes on with it when it starts
	}
	s.Delegated = row.Value("parent_id") != nil || strings.HasSuffix(s.Title, " subagent)")
	s.Faults = eventlog.BadTimes(row.Value, &times, "time_created", "time_updated")
	s.Created, s.Updated = times.Read(row.Value("time_created")).Time, times.Read(row.Value("time_updated")).Time
	return s
}

// finishSession says what is sent no more: what was reverted and what a summary covers.
func (r *reader) finishSession(s *session.Session) {
	reverted, kept := strings.CutSuffix(r.reverts[s.ID], "\x00")
	behind := false // opencode compares ids, also with that of a message that is gone (cleanup in session/revert.ts)
	for i := range s.Items {
		it := &s.Items[i]
		if packing.NumberOf(it.Position) == 0 { // a message: what it holds goes with it
			behind = reverted != "" && (it.Key > reverted || it.Key == reverted && !kept)
		}
		if behind {
			it.Flags |= session.Rewound
		}
	}
	r.markCompacted(s)
	reportUnanswered(s)
	findStalled(s)
	if s.Parent != "" && len(s.Items) > 0 && s.Items[0].Role == session.User {
		s.Task = s.Items[0].Text
	}
}

// markCompacted leaves out what the last summary covers: all before the message that asked for
// it, but for a tail that it kept. A request without a summary covers nothing.
func (r *reader) markCompacted(s *session.Session) {
	asked, last := map[string]int{}, -1
	for i := range s.Items {
		it := &s.Items[i]
		it.Flags &^= session.Compacted
		if _, sums := r.tails.Load(it.Key); sums {
			it.Flags |= session.SummaryTurn
		}
		if it.Role == session.User && it.Flags.Has(session.SummaryTurn) && !it.Flags.Has(session.Rewound) {
			asked[it.Key] = i
		}
	}
	for i := range s.Items {
		it := &s.Items[i]
		if at, ok := asked[it.Invocation()]; ok && it.Role == session.Assistant && it.Flags.Has(session.SummaryTurn) && !it.Flags.Has(session.Rewound) {
			last = at
		}
	}
	for i := range s.Items {
		if it := &s.Items[i]; last < 0 || it.Key != s.Items[last].Key && it.Invocation() != s.Items[last].Key {
			it.Flags &^= session.SummaryTurn
		}
	}
	if last < 0 {
		return
	}
	tail, _ := r.tails.Load(s.Items[last].Key)
	for i := range s.Items[:last] {
		if tail != "" && tail != nil && s.Items[i].Key == tail {
			break
		}
		s.Items[i].Flags |= session.Compacted
	}
}

// reportUnanswered tells of answers to messages that the session does not have, once of each.
func reportUnanswered(s *session.Session) {
	has := map[string]bool{"": true}
	for i := range s.Items {
		has[s.Items[i].Key] = true
	}
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f session.Fault) bool { return f.Kind == session.BrokenChain })
	for i := range s.Items {
		if it := &s.Items[i]; it.Role == session.Assistant && !has[it.Invocation()] {
			has[it.Invocation()] = true
			s.Faults = append(s.Faults, session.Fault{Kind: session.BrokenChain, Ref: s.ItemRef(i), Item: i, Field: "parentID",
				Detail: fmt.Sprintf("the answer is one to message %.60s, which the session does not have. opencode sends it all the same", it.Invocation())})
		}
	}
}

// findStalled finds prompts that versions before 1.18.18 take for answered: they compared ids, and the
// 36 bits of the clock in these begin anew every 795 days, last on 14 August 2026
// (anomalyco/opencode#30809, #42955).
func findStalled(s *session.Session) {
	var prompt, answer string // the greatest id of each
	s.Stalled.Why, s.Stalled.Way = "", ""
	for i := range s.Items {
		switch it := &s.Items[i]; {
		case it.Table() != tableMessages || !it.OnWire():
		case it.Role == session.Assistant && !it.Flags.Has(session.Unfinished):
			prompt, answer = "", max(answer, it.Key)
		case it.Role == session.User:
			prompt = max(prompt, it.Key)
		}
	}
	if prompt != "" && prompt < answer {
		s.Stalled.Why = fmt.Sprintf("opencode before 1.18.18 takes them for answered and asks no model: their ids come before that of an answer (%.30s), because the time in ids began anew", answer)
		s.Stalled.Way = "update opencode to 1.18.18 or later, which answers the next prompt"
	}
}

// relateItems marks messages that a repair ended: those that say nothing but thoughts are left
// out of requests from then on. A new result is where the message with its call is. What a
// summary covered that is gone is sent again.
func (r *reader) relateItems(s *session.Session) {
	for i := range s.Items {
		it := &s.Items[i]
		if it.Table() == "" && i > 0 && packing.OneRecord(it.Position, s.Items[i-1].Position) {
			it.Own().Home = s.Items[i-1].Home()
		}
		sent, open := r.open.Load(it.Key)
		if !open || it.Flags.Has(session.Unfinished) {
			continue
		}
		it.Blocks = slices.DeleteFunc(slices.Clone(it.Blocks), func(b session.Block) bool { return b.Kind == session.TextBlock && b.Blank })
		if sent == false {
			it.Flags |= session.Skipped
		}
	}
	r.markCompacted(s)
	reportUnanswered(s)
	findStalled(s)
}
