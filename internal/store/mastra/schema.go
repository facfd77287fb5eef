// Package mastra reads and repairs the databases of Mastra (mastra-ai/mastra): the files of
// @mastra/libsql. docs/stores/mastra.md has the facts about the format.
package mastra

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// The tables. Others belong to workflows, traces, scorers and the like.
const (
	tableThreads   = "mastra_threads"
	tableMessages  = "mastra_messages"
	tableSnapshots = "mastra_workflow_snapshot"    // runs that wait
	tableObserved  = "mastra_observational_memory" // what is not sent any more
)

// known are the columns of every release, and those that came later.
var known = []eventlog.Known{
	{Table: tableThreads, Needed: []string{"id", "resourceid", "title", "createdat", "updatedat"}, Further: []string{"metadata", "createdatz", "updatedatz"}},
	{Table: tableMessages, Needed: []string{"id", "thread_id", "content", "role", "type", "createdat"}, Further: []string{"resourceid", "createdatz"}},
}

const (
	kindName      = "mastra"
	kindTitle     = "Mastra"
	fieldResource = "resourceId"
	fieldTime     = "createdAt"
	fieldUpdated  = "updatedAt"
)

// Kind is Mastra's row in the table of adapters.
var Kind = eventlog.KindThrough(store.Kind{Name: kindName, Title: kindTitle, Locations: listLocations}, detectTables, examineDatabase,
	func(db table.Reader) table.Reader { return newJoined(db) },
	func(e table.Editor) table.Editor {
		j := newJoined(e.Reader())
		return &editor{eventlog.Through{Editor: e, View: j}, j}
	})

// listLocations lists the files that Mastra's documentation names. Programs run in .mastra/output, so
// that older projects have them there or above. A memory.db elsewhere may be any program's.
func listLocations(string) []string {
	build := filepath.Join(".mastra", "output")
	return []string{"mastra.db", filepath.Join(".mastra", "mastra.db"), filepath.Join(build, "mastra.db"), filepath.Join(build, "memory.db")}
}

func detectTables(_ context.Context, _ table.Reader, stored table.Schema) store.Detection {
	if !stored.HasColumns(tableThreads, "id", fieldResource) || !stored.HasColumns(tableMessages, "thread_id", "content", "role", "type", fieldTime) {
		return store.Detection{}
	}
	return store.Detection{Sure: store.Certain, Why: "tables " + tableThreads + " and " + tableMessages}
}

// reader is what is known of a database while its threads are read.
type reader struct {
	*joined
	waiting  map[string]bool // runs that can go on
	observed map[string]bool // messages that an observation stands for
	away     sync.Map        // by id, rows of another resource than their thread's
	proofs   sync.Map        // what calls of agents got
	open     sync.Map        // calls without a result that no run waits for
}

// callKey tells a call by its item and its place there: calls may share an id, and a repair renames them.
type callKey struct {
	item string
	nth  int
}

// examineDatabase looks at a database, and says what is known of the store before its threads are.
func examineDatabase(_ context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
	j := db.(*joined)
	j.columns = stored.Columns(tableMessages)
	facts := session.Store{
		Kind: kindName, Title: kindTitle, Runtime: runtime, Generation: "2",
		Requests: session.Requests{Loses: losses},
		Children: session.Children{WholeTurns: true},
		Keys:     session.Keys{Renumbers: true},
	}
	if !stored.HasColumns(tableMessages, fieldResource) {
		facts.Generation = "1" // up to 0.9
	}
	return facts, (&reader{joined: j}).buildLayout(), nil
}

// runtime is what Mastra makes of every request: pairs are told by their ids alone, and a call
// without a result is not sent (seen in requests of 1.21.0 and 1.71.0).
var runtime = session.Runtime{
	Name:          kindTitle,
	BlankMessages: "Mastra leaves empty texts beside other parts out of the request, and sends other ones",
	Sanitiser:     &session.Sanitiser{By: "Mastra releases since 1.8", Pairs: "openai-responses", Always: true},
}

// losses is what it leaves out: the model does not learn of that.
var losses = map[string]string{
	"SC101": "leaves the call out of requests",
	"SC103": "sends a call that nobody made before it",
}

// buildLayout builds how such a database is read and written.
func (r *reader) buildLayout() *eventlog.Layout {
	return &eventlog.Layout{
		Known: known, Later: store.Later{Read: "Threads and messages"},
		Sessions: eventlog.Table{Name: tableThreads, Columns: []string{"id", fieldResource, "title", "metadata", fieldTime, fieldUpdated}, Key: []string{"id"}},
		Events:   eventlog.Table{Name: tableMessages, Columns: slices.Concat(r.columns, []string{eventlog.ColumnPosition, eventlog.ColumnEvent, columnPatch}), Key: []string{"thread_id"}, ID: "id"},
		Place:    []string{eventlog.ColumnPosition}, Order: eventlog.OrderByPosition,
		Session: r.sessionOf, Item: r.decodeRow, Gather: r.findStrays, Regathers: true, Finish: r.finishSession, Relate: r.finishSession,
		Said: []string{eventlog.ColumnEvent}, Content: saidBy,
		LinkColumns: []string{eventlog.ColumnEvent}, Links: readLinks, OneID: true,
		Prepare: r.prepareTables,
		Write: eventlog.Write{
			Insert: r.insertResult, Part: refusePart, Update: updateEvent, Create: r.createThread, OtherTables: checkRowsStayWhole, Tied: packing.OneTime,
		},
	}
}

// times are texts in UTC.
var times = column.Times{
	Forms: []column.Form{{Layout: "2006-01-02 15:04:05Z07:00", Fraction: ".000"}, {Layout: "2006-01-02 15:04:05"}}, T: true, UTC: true, Years: [2]int{2000, 2100},
	Formless: "it is not in the form 2026-02-03T09:56:40.000Z", Outside: "its year is %d",
}

// sessionOf is the session of a row, without items. Its metadata is JSON, or SQLite's own form of
// that, which has names as they are.
func (r *reader) sessionOf(row eventlog.Row) *session.Session {
	s := &session.Session{
		ID: column.Text(row.Value("id")), Title: column.Text(row.Value("title")), Tick: time.Millisecond, TickBits: packing.PositionBits(), CallOrder: true,
		Forked: bytes.Contains(column.Bytes(row.Value("metadata")), []byte("sourceThreadId")),
	}
	resource := column.Text(row.Value(fieldResource))
	if s.Parent = r.parentOf(s.ID); s.Parent == "" {
		s.User = resource
	} else {
		s.Agent = strings.TrimPrefix(resource, r.threads[s.Parent]+"-")
	}
	s.Delegated = s.Parent != ""
	s.Created, s.Updated = times.Read(row.Value(fieldTime)).Time, times.Read(row.Value(fieldUpdated)).Time
	s.Faults = append(eventlog.BadTimes(row.Value, &times, fieldTime, fieldUpdated), eventlog.BadUnicode(row, "title")...)
	if from, _ := r.SourceOf(row.Place); from.Table == "" {
		f := session.Fault{Kind: session.OrphanRecord, Field: fieldResource, Detail: fmt.Sprintf("%s has rows of thread %.60q, which has no row of its own. Mastra sends them, and shows the thread in no list", tableMessages, s.ID)}
		if resource != "" {
			f.Default = &resource
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

// readLinks reads the threads that a message's calls started.
func readLinks(row eventlog.Row) []string {
	e, _ := row.Value(eventlog.ColumnEvent).(event)
	if e.message == nil || e.nth > 0 {
		return nil
	}
	return e.childThreads()
}

// finishSession says what only other messages tell: which calls wait for a client or a person, and what
// a sub-thread is for. A call of the last answer that nothing says more of is a client's.
func (r *reader) finishSession(s *session.Session) {
	r.tellForeign(s)
	last := len(s.Items) - 1
	for ; last >= 0 && s.Items[last].Role == session.Tool; last-- { // results of its other calls
	}
	children := map[string]string{} // by call without a result so far
	for i := range s.Items {
		it := &s.Items[i]
		it.Calls = slices.Clone(it.Calls)
		for n := range it.Calls {
			c := &it.Calls[n]
			if delete(children, c.ID); c.Delegation != nil {
				children[c.ID] = c.Delegation.Child
			}
			_, open := r.open.Load(callKey{it.Key, n})
			c.Waits = open && i == last
		}
		if it.Table() == "" && len(it.Results) == 1 && !it.Results[0].IsError { // a repair takes it from the thread, and names that
			it.Results = slices.Clone(it.Results)
			it.Results[0].Child = children[it.Results[0].CallID]
		}
	}
	if s.Delegated && len(s.Items) > 0 && s.Items[0].Role == session.User {
		s.Task = s.Items[0].Text
	}
}

// rowOf is the id of the row that an item is of.
func rowOf(key string) string {
	id, _, _ := strings.Cut(key, partMark)
	return id
}
