package kagent_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// dialects are the forms in which single values of events are changed.
var dialects = map[string]kagenttest.Form{
	"python": kagenttest.Forms["python"], "go 1": kagenttest.Forms["go 1"], "go 1, quoted": kagenttest.Forms["go 1, quoted"],
	"go 2": kagenttest.Forms["go 2"], "go 2, quoted": kagenttest.Forms["go 2, quoted"],
	"openai": {Generation: kagenttest.Current, Dialect: kagenttest.OpenAI, Times: kagenttest.GORM},
}

// names are the pointers of what changes in each dialect, and the row of the answer: the
// OpenAI Agents SDK stores it with the call.
var names = map[kagenttest.Dialect]struct{ call, row, answer, id, args, time string }{
	kagenttest.Python: {"/content/parts/0/function_call", "2", "/content/parts/0/function_response", "/id", "/args", "/timestamp"},
	kagenttest.Go1:    {"/Content/parts/0/functionCall", "2", "/Content/parts/0/functionResponse", "/id", "/args", "/Timestamp"},
	kagenttest.Go2:    {"/content/parts/0/functionCall", "2", "/content/parts/0/functionResponse", "/id", "/args", "/timestamp"},
	kagenttest.OpenAI: {"/items/0", "1", "/items/1", "/call_id", "/arguments", "/timestamp"},
}

// TestChangesOfEvents lists every value of the database that a change of the model
// changes.
func TestChangesOfEvents(t *testing.T) {
	for name, form := range dialects {
		n := names[form.Dialect]
		for _, tt := range []struct {
			name   string
			change func(calling, answering *session.Item)
			want   []string // column and pointer, in the events of the call and of the answer
		}{
			{"ids", func(calling, answering *session.Item) {
				calling.Calls[0].ID, answering.Results[0].CallID = "new", "new"
			}, []string{"1 data " + n.call + n.id, n.row + " data " + n.answer + n.id}},
			{"arguments", func(calling, _ *session.Item) { calling.Calls[0].Args = `{"INVALID_JSON":"x"}` },
				[]string{"1 data " + n.call + n.args}},
			{"a place", func(_, answering *session.Item) { answering.Position += 7 },
				[]string{n.row + " created_at", n.row + " data " + n.time}},
		} {
			t.Run(name+", "+tt.name, func(t *testing.T) {
				path, _ := build(t, called(), form)
				before, rows := storetest.Dump(t, path), events(t, path)
				journal, err := changedIn(t, path, func(c *store.Change) {
					s := c.After.Root()
					with := func(has func(it session.Item) bool) *session.Item { return &s.Items[slices.IndexFunc(s.Items, has)] }
					calling := with(func(it session.Item) bool { return len(it.Calls) > 0 })
					answering := with(func(it session.Item) bool { return len(it.Results) > 0 })
					calling.Calls, answering.Results = slices.Clone(calling.Calls), slices.Clone(answering.Results)
					tt.change(calling, answering)
				})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, differences(rows, events(t, path))); diff != "" {
					t.Error(diff)
				}
				takenBack(t, path, journal)
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestRefusals are changes for which the store has no place, or whose records cannot be
// read: nothing is written.
func TestRefusals(t *testing.T) {
	a2a := `UPDATE event SET data = '{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"id":"c","name":"t","args":{}},` +
		`"metadata":{"kagent_type":"function_call"}}]}' WHERE instr(data, 'call_é') AND instr(data, '"args"')`
	renamed := func(c *store.Change) {
		for i := range c.After.Root().Items {
			if it := &c.After.Root().Items[i]; len(it.Calls) > 0 {
				it.Calls = slices.Clone(it.Calls)
				it.Calls[0].ID = "new"
			}
		}
	}
	for _, tt := range []struct {
		name, damage string
		change       func(c *store.Change)
		want         string
	}{
		{"another agent", "", func(c *store.Change) {
			c.After.Root().Items[1].Own().Agent = "other"
		}, "cannot change agent_name"},
		{"a message of A2A", a2a, renamed, "an A2A message"},
		{"a message of a repair", "", func(c *store.Change) {
			s := c.After.Root()
			s.Items = append(s.Items, session.Item{Role: session.User, Key: "new-0", Position: 1 << 60})
		}, "can add only results"},
		{"a place beside one without a time", "UPDATE event SET created_at = 7", func(c *store.Change) { c.After.Root().Items[1].Position++ }, "whose time is not stored as text"},
		{"a task that goes to a session that was there", "", func(c *store.Change) {
			s := c.After.Root()
			s.Runs = append(slices.Clone(s.Runs), session.Run{ID: "task of nobody"})
		}, "it can only move to a session that is split from its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, _ := build(t, called(), kagenttest.Forms["go 1"])
			if tt.damage != "" {
				run(t, path, tt.damage)
			}
			before := storetest.Dump(t, path)
			_, err := changedIn(t, path, tt.change)
			if p, ok := errors.AsType[*problem.Error](err); !ok || p.Class != problem.RolledBack || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// called is a conversation with one call of a tool: a request, the call, its result and
// the answer.
func called() kagenttest.Program {
	return kagenttest.Program{Name: "called", Conversations: []kagenttest.Conversation{{Turns: []kagenttest.Turn{{
		Ask: "pods?", Answer: "three", Work: [][]kagenttest.Call{{{ID: "call_é", Tool: "k8s_get_resources", Answer: "<three> & \"more\""}}},
	}}}}}
}

// events are the rows of a store's events without markers, each with its values by
// column, and by pointer within data.
func events(t *testing.T, path string) []map[string]string {
	t.Helper()
	var rows []map[string]string
	for _, line := range query(t, path, "select session_id, created_at, updated_at, data from event where instr(data, 'header_update') = 0 order by created_at") {
		row := map[string]string{"session_id": line[0], "created_at": line[1], "updated_at": line[2]}
		flatten("data ", decoded(t, line[3]), row)
		rows = append(rows, row)
	}
	return rows
}

func flatten(at jsontext.Pointer, value any, into map[string]string) {
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			flatten(at+jsontext.Pointer(fmt.Sprint("/", i)), element, into)
		}
	case map[string]any:
		for name, member := range v {
			flatten(at.AppendToken(name), member, into)
		}
	default:
		into[string(at)] = fmt.Sprint(v)
	}
}

// differences are the values that differ between rows, with the index of the row; of
// arguments no more than that they do.
func differences(before, after []map[string]string) []string {
	var list []string
	for i := range max(len(before), len(after)) {
		if i >= len(before) || i >= len(after) {
			list = append(list, fmt.Sprint(i, " is there once"))
			continue
		}
		for _, pair := range [][2]map[string]string{{before[i], after[i]}, {after[i], before[i]}} {
			for name, value := range pair[0] {
				if other, there := pair[1][name]; !there || other != value {
					if holder, _, within := strings.Cut(name, "/args"); within {
						name = holder + "/args"
					}
					list = append(list, fmt.Sprint(i, " ", name))
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// query are the rows of a query as texts, times as they are stored.
func query(t *testing.T, path, statement string) [][]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_texttotime=0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatal(err)
	}
	columns, _ := rows.Columns()
	var list [][]string
	for rows.Next() {
		row, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return list
}
