package openaiagents_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/builder"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// stored is a file with one session of these items.
func stored(t *testing.T, items ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agents.db")
	err := builder.Create(path, schemaOf(plain), func(db *builder.DB) {
		db.Exec("insert into agent_sessions values ('s', '2026-11-22 09:00:00', '2026-11-22 09:00:00')")
		for _, item := range items {
			db.Exec("insert into agent_messages (session_id, message_data, created_at) values ('s', ?, '2026-11-22 09:00:00')", item)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestForms: what items of each type are.
func TestForms(t *testing.T) {
	user, said := `{"role":"user","content":"hi"}`, `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"yes"}]}`
	for name, tt := range map[string]struct {
		items []string
		found []string
	}{
		"a program, and what it gave": {items: []string{user, `{"type":"program","id":"p","call_id":"pc","code":"x"}`, `{"type":"program_output","id":"po","call_id":"pc","result":"1"}`, said}},
		"what a program gave, alone":  {items: []string{user, `{"type":"program_output","id":"po","call_id":"pc","result":"1"}`, said}},
		"a compaction":                {items: []string{`{"type":"compaction","id":"cmp_1","encrypted_content":"gAAA"}`, user, said}},
		"a search for tools":          {items: []string{user, `{"type":"tool_search_call","call_id":null,"arguments":{}}`, `{"type":"tool_search_output","call_id":null,"tools":[]}`, said}},
		"a tool of the provider":      {items: []string{user, `{"type":"web_search_call","id":"ws_1","action":{"query":"x"},"status":"completed"}`, `{"type":"mcp_call","id":"mcp_1","name":"n","arguments":"{}","output":"1"}`, said}},
		"a type that is not known":    {items: []string{user, `{"type":"dream_output","call_id":"d"}`, said}, found: []string{"warning SC308 "}},
		"an image in a result":        {items: []string{user, `{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"https://example.com/a.png"}]}`, said}},
		"a screenshot":                {items: []string{user, `{"type":"computer_call","call_id":"c","action":{"type":"click"}}`, `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"https://example.com/a.png"}}`, said}},
		"a call that was never run":   {items: []string{user, `{"type":"computer_call","call_id":"c","action":{"type":"click"}}`, said}, found: []string{"warning SC101 c"}},
		"an empty text":               {items: []string{`{"role":"user","content":""}`, said}, found: []string{"info SC401 "}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.found, storetest.Findings(t, stored(t, tt.items...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMadeUp: the results of calls of each type are made up, though others of the turn came later.
func TestMadeUp(t *testing.T) {
	for _, call := range []string{
		`"type":"function_call","name":"n","arguments":"{}"`, `"type":"custom_tool_call","name":"n","input":"x"`, `"type":"shell_call","action":{"commands":["ls"]}`,
		`"type":"local_shell_call","action":{"command":["ls"]}`, `"type":"apply_patch_call","operation":{"type":"delete_file","path":"a"}`,
	} {
		path := stored(t, `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"a","name":"n","arguments":"{}"}`, `{"call_id":"b",`+call+`}`,
			`{"type":"function_call_output","call_id":"a","output":"1"}`, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}`)
		storetest.Change(t, path, "update agent_messages set created_at = '2026-11-22 09:00:0' || id")
		if _, got := repairtest.Twice(t, path, storetest.Dump, "select group_concat(json_extract(message_data, '$.call_id'), ' ') from (select * from agent_messages order by id)"); !cmp.Equal([]string{"a b a b"}, got) {
			t.Errorf("%s: %q", call, got)
		}
	}
}

// TestForgottenIDs: a copy of the tables may not remember the highest id that was given out.
func TestForgottenIDs(t *testing.T) {
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"n","arguments":"{}"}`
	}
	path := stored(t, `{"role":"user","content":"hi"}`, call("a"), call("b"), `{"type":"function_call_output","call_id":"b","output":"1"}`, `{"role":"user","content":"go on"}`)
	storetest.Change(t, path, "delete from sqlite_sequence")
	_, got := repairtest.Twice(t, path, storetest.Dump, "select group_concat(json_extract(message_data, '$.call_id'), ' ') from (select * from agent_messages order by id)")
	if diff := cmp.Diff([]string{"a a b b"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestNegativeIDs: ids below zero are ids like others, and come before them.
func TestNegativeIDs(t *testing.T) {
	path := stored(t, `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`, `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"yes"}]}`)
	storetest.Change(t, path, "update agent_messages set id = id - 4")
	if diff := cmp.Diff([]string{"warning SC101 c"}, storetest.Findings(t, path)); diff != "" {
		t.Error(diff)
	}
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || receipt == nil {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
	repairtest.Idle(t, path, repairtest.Told(plan))
}

// TestLargeIDs: ids are places in a session without branches, whatever bits they have; where they end, nothing can be added.
func TestLargeIDs(t *testing.T) {
	for first, want := range map[int64]string{1: "", 1 << 62: "", 1<<62 | 1<<16: "", math.MaxInt64 - 3: "too few numbers left for the rows"} {
		path := stored(t, `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`, `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"yes"}]}`)
		storetest.Change(t, path, fmt.Sprintf("update agent_messages set id = id + %d", first-1))
		if diff := cmp.Diff([]string{"warning SC101 c"}, storetest.Findings(t, path)); diff != "" {
			t.Errorf("%d: %s", first, diff)
		}
		if plan, _, err := repairtest.Repair(path); want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" && err != nil {
			t.Errorf("%d: %v%s", first, err, repairtest.Told(plan))
		} else if err == nil {
			repairtest.Idle(t, path, repairtest.Told(plan))
		}
	}
}

// TestTwins: of two rows that say the same, one is changed, and both get other numbers.
func TestTwins(t *testing.T) {
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"n","arguments":"{}"}`
	}
	path := stored(t, `{"role":"user","content":"hi"}`, call("a"), call("b"), `{"type":"function_call_output","call_id":"b","output":"1"}`, `{"role":"user","content":"go on"}`,
		`{"role":"user","content":"1"}`, `{"role":"user","content":"2"}`, `{"role":"user","content":"3"}`, `{"role":"user","content":"4"}`, call("b"))
	_, got := repairtest.Twice(t, path, storetest.Dump, "select group_concat(json_extract(message_data, '$.call_id'), ' ') from (select * from agent_messages order by id)")
	if diff := cmp.Diff([]string{"a a b b b_dup1 b_dup1"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestNamesInAnotherCase: SQLite finds a table whatever the case of its name is.
func TestNamesInAnotherCase(t *testing.T) {
	path := stored(t, `{"role":"user","content":"hi"}`)
	storetest.Change(t, path, `create table Chats (session_id text primary key, created_at timestamp, updated_at timestamp)`,
		`create table "my ""rows""" (id integer primary key autoincrement, session_id text not null, message_data text not null, created_at timestamp, foreign key (session_id) references chats (session_id))`,
		`insert into Chats values ('c', null, null)`, `insert into "my ""rows""" (session_id, message_data) values ('c', '{"type":"function_call","call_id":"a","name":"n","arguments":"{}"}')`)
	if diff := cmp.Diff([]string{"warning SC101 a"}, storetest.Findings(t, path)); diff != "" {
		t.Error(diff)
	}
	repairtest.Twice(t, path, storetest.Dump)
}

// TestMovesByTime: what SQLAlchemySession sends in the order of times is not moved by numbers.
func TestMovesByTime(t *testing.T) {
	path := stored(t, `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"a","name":"n","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"1"}`)
	storetest.Change(t, path, "drop index idx_agent_messages", "create index i on agent_messages (session_id, created_at)", "update agent_messages set created_at = null where id = 3")
	plan, _, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	if told := repairtest.Told(plan); !strings.Contains(told, "in the order of created_at") {
		t.Errorf("the plan says %s", told)
	}
}

// TestUnnamedStay: what no branch names is not sent, so nothing of it is repaired or taken out.
func TestUnnamedStay(t *testing.T) {
	for _, item := range []string{
		"broken{", "[]", `{"role":"nobody"}`, `{"role":"user","content":"\u0000"}`, `{"type":"function_call_output","call_id":"zz","output":"1"}`,
		`{"type":"function_call","call_id":"yy","name":"n","arguments":"{{"}`, `{"type":"reasoning","id":"rs_1","summary":[]}`,
	} {
		path := corpus.Copy(t, "advanced")
		storetest.Change(t, path, "insert into agent_messages (session_id, message_data) values ('upgraded-from-plain', '"+item+"')")
		const rows = "select id || message_data from agent_messages where session_id = 'upgraded-from-plain' order by id"
		before := storetest.Query(t, path, rows)
		_, after := repairtest.Twice(t, path, storetest.Dump, rows)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: %s", item, diff)
		}
	}
}

// TestCrossedBranches: where branches have the same messages in different orders, one is removed if
// those that stay keep theirs.
func TestCrossedBranches(t *testing.T) {
	for orphan, want := range map[int]string{28: "refused SC103 branches of the session have the same messages in different orders", 90: "remove the result"} {
		path := corpus.Copy(t, "advanced")
		storetest.Change(t, path, "insert into agent_messages (id, session_id, message_data) select 90, session_id, message_data from agent_messages where id = 28",
			fmt.Sprintf(`update agent_messages set message_data = '{"type":"function_call_output","call_id":"zz","output":"1"}' where id = %d`, orphan),
			`insert into message_structure (session_id, message_id, branch_id, message_type, sequence_number) values ('deleted-branch', 31, 'other', 'x', 5),
				('deleted-branch', 28, 'other', 'x', 6), ('deleted-branch', 29, 'other', 'x', 7), ('deleted-branch', 30, 'other', 'x', 8), ('deleted-branch', 90, 'main', 'x', 9)`)
		plan, _, err := repairtest.Repair(path)
		told := repairtest.Told(plan)
		if err != nil || !strings.Contains(told, want) {
			t.Errorf("%d: %v%s", orphan, err, told)
		}
		repairtest.Idle(t, path, told)
	}
}

// TestBranchOfOne: a branch goes with its only message.
func TestBranchOfOne(t *testing.T) {
	path := corpus.Copy(t, "advanced")
	storetest.Change(t, path, `insert into agent_messages (id, session_id, message_data) values (90, 'deleted-branch', '{"type":"function_call_output","call_id":"zz","output":"1"}')`,
		"insert into message_structure (session_id, message_id, branch_id, message_type, sequence_number) values ('deleted-branch', 90, 'other', 'function_call_output', 90)")
	_, after := repairtest.Twice(t, path, storetest.Dump, "select count(*) from message_structure where branch_id = 'other'")
	if diff := cmp.Diff([]string{"0"}, after); diff != "" {
		t.Error(diff)
	}
}
