package dockeragent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// writeReworded writes session P, whose records say what a repair changes. One of
// them is written as docker agent never does, with keys that it does not know.
func writeReworded(db *agenttest.DB) {
	root := db.Root(agenttest.SessionRow{ID: "P", Title: "reword"})
	root.User("go")
	root.Assistant("root", agenttest.Message{Content: " \n", ToolCalls: []agenttest.ToolCall{
		agenttest.CallTool("c<1>", "shell", `{"cmd":"a <b`), agenttest.CallTool("c<1>", "shell", "{}"),
	}})
	root.Result("root", "c<1>", "one")
	root.Result("root", "c<1>", "two")
	root.Assistant("root", agenttest.Message{Content: "done"})
	db.Sync()
	_, err := db.SQL.Exec(`update session_items set message_json =
		'{ "later" : [1.0, {"a":"\u0041"}], "tool_call_id":"c\u003C1>",' || substr(message_json, 2, instr(message_json, ',"tool_call_id"') - 2)
		|| substr(message_json, instr(message_json, ',"created_at"')) where message_json like '%"two"%'`)
	if err != nil {
		panic(err)
	}
}

// reworded is session P after every kind of edit of what its records say.
func reworded(before *session.Tree) *session.Tree {
	after := copied(before)
	items := after.Sessions[0].Items
	call := &items[1]
	body := *call.Body
	body.Text = ""
	call.Body, call.Text, call.Flags, call.Calls = &body, 0, call.Flags&^(session.BlankText|session.TrailingSpace), slices.Clone(call.Calls)
	call.Calls[0].Args, call.Calls[0].Form = `{"INVALID_JSON":"{\"cmd\":\"a <b"}`, session.ArgsObject
	call.Calls[1].ID = "c<1>_dup1 & co"
	result := &items[3]
	result.Results = slices.Clone(result.Results)
	result.Results[0].CallID = "c<1>_dup1 & co"
	return after
}

func TestRewordedRecords(t *testing.T) {
	for generation := 14; generation <= 29; generation++ {
		t.Run(fmt.Sprintf("generation %03d", generation), func(t *testing.T) {
			path := built(t, generation, writeReworded)
			was := storetest.Dump(t, path)
			rows := messagesOf(t, path)
			before := treeOf(t, path)
			after := reworded(before)
			e := begin(t, path)
			got := written(t, e, &store.Change{Before: before, After: after})
			for i := range after.Sessions[0].Items {
				want := after.Sessions[0].Items[i]
				if diff := cmp.Diff(asReworded(want, got.Sessions[0].Items[i]), got.Sessions[0].Items[i], alike); diff != "" {
					t.Errorf("item %d (-want +got):\n%s", i, diff)
				}
			}
			journal := finish(t, e)
			rows[1] = replaced(t, rows[1], `"content":" \n"`, `"content":""`)
			rows[1] = replaced(t, rows[1], `"{\"cmd\":\"a \u003cb"`, `"{\"INVALID_JSON\":\"{\\\"cmd\\\":\\\"a \u003cb\"}"`)
			rows[1] = replaced(t, rows[1], `{"id":"c\u003c1\u003e","type":"function","function":{"name":"shell","arguments":"{}"}}`,
				`{"id":"c\u003c1\u003e_dup1 \u0026 co","type":"function","function":{"name":"shell","arguments":"{}"}}`)
			rows[3] = replaced(t, rows[3], `"tool_call_id":"c\u003C1>"`, `"tool_call_id":"c\u003c1\u003e_dup1 \u0026 co"`)
			if diff := cmp.Diff(rows, messagesOf(t, path)); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if generation < 20 {
				holdColumn(t, path, got)
			}
			undo(t, path, journal)
			if diff := cmp.Diff(was, storetest.Dump(t, path)); diff != "" {
				t.Errorf("undo left (-before +after):\n%s", diff)
			}
		})
	}
}

// asReworded is an item as it should be read after its record was changed: bytes
// and digests are what they are.
func asReworded(want, got session.Item) session.Item {
	want.Meaning, want.Text, want.Size = got.Meaning, got.Text, got.Size
	body := *want.Body
	body.Raw = got.Body.Raw
	want.Body = &body
	return want
}

func messagesOf(t *testing.T, path string) []string {
	t.Helper()
	db := openSQL(t, path)
	defer func() { _ = db.Close() }()
	return lines(t, db, "select message_json from session_items order by id")
}

// replaced replaces a text that must be there exactly once.
func replaced(t *testing.T, text, old, by string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%s is not in %s exactly once", old, text)
	}
	return strings.Replace(text, old, by, 1)
}

// A record that is not what the plan was made for, or that the model of a docker
// agent store has no place for, is left alone.
func TestRewordingIsRefused(t *testing.T) {
	tests := []struct {
		name   string
		sql    string
		change func(it *session.Item)
		want   string
	}{
		{name: "another id meanwhile", sql: `update session_items set message_json = replace(message_json, '\u003c1\u003e"', '2"') where id = 2`, want: "row 2 of session_items changed after the repair was planned"},
		{name: "another text meanwhile", sql: `update session_items set message_json = replace(message_json, '" \n"', '"words"') where id = 2`, want: "row 2 of session_items changed after the repair was planned"},
		{name: "one call less meanwhile", sql: `update session_items set message_json = json_remove(message_json, '$.tool_calls[1]') where id = 2`, want: "row 2 of session_items changed after the repair was planned"},
		{name: "no JSON meanwhile", sql: `update session_items set message_json = '{' where id = 2`, want: "row 2 of session_items changed after the repair was planned"},
		{name: "another role", change: func(it *session.Item) { it.Role = session.User }, want: "session_items/2 cannot become a message of another form"},
		{name: "a call less", change: func(it *session.Item) { it.Calls = it.Calls[:1] }, want: "session_items/2 cannot become a message of another form"},
		{name: "a result more", change: func(it *session.Item) { it.Results = make([]session.Result, 1) }, want: "session_items/2 has results in the repaired tree that it did not have before"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := built(t, 29, writeReworded)
			before := treeOf(t, path)
			after := reworded(before)
			if tt.change != nil {
				tt.change(&after.Sessions[0].Items[1])
			}
			if tt.sql != "" {
				if _, err := openSQL(t, path).Exec(tt.sql); err != nil {
					t.Fatal(err)
				}
			}
			was := storetest.Dump(t, path)
			e := begin(t, path)
			err := e.Write(t.Context(), &store.Change{Before: before, After: after})
			var refused *problem.Error
			if !errors.As(err, &refused) || refused.Class != problem.RolledBack || !strings.Contains(refused.What, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err := e.Rollback(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(was, storetest.Dump(t, path)); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
}
