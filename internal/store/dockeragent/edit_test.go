package dockeragent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const taskArgs = `{"agent":"worker","task":"count <it>","expected_output":"a number"}`

// writeFailed writes session P, whose worker failed: its message leaked into P,
// nothing else of it is kept, and one call of P has no result.
func writeFailed(db *agenttest.DB) {
	root := db.Root(agenttest.SessionRow{
		ID: "P", Title: "count", ToolsApproved: true, WorkingDir: "/src", Attributes: `{"team":"a"}`, Origin: "api",
		InstructionContext: `{"epoch_start":4,"updates":[{"position":6}]}`,
	})
	root.User("go")
	root.Assistant("root", agenttest.Message{Content: "well", ToolCalls: []agenttest.ToolCall{agenttest.CallTool("d1", "transfer_task", taskArgs)}})
	root.Assistant("worker", agenttest.Message{Content: "I <count>"})
	root.FailedResult("root", "d1", "Error calling tool: no model")
	root.Assistant("root", agenttest.Message{Content: "look", ToolCalls: []agenttest.ToolCall{agenttest.CallTool("s1", "shell", "{}")}})
	root.Summary(agenttest.Summary{Text: "so far", FirstKept: 4})
	root.User("thanks")
	branch := db.Root(agenttest.SessionRow{ID: "B", Title: "count (branched)", BranchParent: "P", BranchPosition: 4})
	branch.User("go")
}

// repaired is what a repair makes of P.
func repaired(before *session.Tree) *session.Tree {
	after := copied(before)
	p := after.Sessions[0]
	call := p.Items[1].Calls[0]
	title, prologue := dockeragent.Kind.Prologue(&call)
	for i := range prologue {
		prologue[i].Key, prologue[i].Time = fmt.Sprint("new-", i), p.Items[1].Time
	}
	child := &session.Session{ID: "C", Parent: "P", Title: title, Created: p.Items[1].Time, Task: call.Delegation.Task}
	child.Items = append(prologue, p.Items[2])
	reference := session.Item{Key: "new-7", Kind: session.SubSession, Shared: &session.Shared{Child: "C"}, Body: &session.Body{}}
	result := session.Item{
		Key: "new-8", Kind: session.Message, Role: session.Tool, Shared: &session.Shared{Agent: "root"}, Time: p.Items[4].Time, Flags: session.Synthetic,
		Results: []session.Result{{CallID: "s1", Text: session.SyntheticPrefix + "lost", IsError: true, Synthetic: true}}, Body: &session.Body{},
	}
	p.Items = slices.Replace(p.Items, 2, 3, reference)
	p.Items = slices.Insert(p.Items, 5, result)
	after.Sessions = append(after.Sessions, child)
	for _, s := range after.Sessions {
		expectNumber(s)
	}
	for i := range p.IndexRefs {
		p.IndexRefs[i].Index = session.RemapIndex(before.Sessions[0], p, p.IndexRefs[i].Index)
	}
	return after
}

// treeOf finds the tree of session P.
func treeOf(t *testing.T, path string) *session.Tree {
	t.Helper()
	for _, tree := range stored(t, path) {
		if tree.Root().ID == "P" {
			return tree
		}
	}
	t.Fatal("session P is missing")
	return nil
}

func TestRepairOfAFailedChild(t *testing.T) {
	for generation := 14; generation <= 29; generation++ {
		t.Run(fmt.Sprintf("generation %03d", generation), func(t *testing.T) {
			path := built(t, generation, writeFailed)
			was := storetest.Dump(t, path)
			before := treeOf(t, path)
			after := repaired(before)
			e := begin(t, path)
			got := written(t, e, &store.Change{Before: before, After: after})
			holdAgainst(t, after, got)
			if child := got.Session("C"); child.Task != after.Session("C").Task || !child.LooksDelegated() {
				t.Errorf("the child %+v does not look like one that got the task", child)
			}
			for i, r := range got.Session("P").IndexRefs {
				if want := after.Sessions[0].IndexRefs[i].Index; r.Index != want {
					t.Errorf("%s is %d, want %d", r.Field, r.Index, want)
				}
			}
			journal := finish(t, e)
			if diff := cmp.Diff(elsewhere(was), elsewhere(storetest.Dump(t, path))); diff != "" {
				t.Errorf("more than sessions and items changed (-before +after):\n%s", diff)
			}
			holdRow(t, path, generation)
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

// elsewhere is what a dump holds besides the rows that a repair is about.
func elsewhere(dump []string) []string {
	return slices.DeleteFunc(slices.Clone(dump), func(line string) bool {
		return strings.HasPrefix(line, "sessions ") || strings.HasPrefix(line, "session_items ") || strings.HasPrefix(line, "sqlite_sequence ")
	})
}

// holdRow compares the rows that were created with what docker agent writes.
func holdRow(t *testing.T, path string, generation int) {
	t.Helper()
	db := openSQL(t, path)
	defer func() { _ = db.Close() }()
	want := []string{
		`0 |''|{"role":"system","content":"You are a member of a team of agents. Your goal is to complete the following task:\n\n\u003ctask\u003e\ncount \u003cit\u003e\n\u003c/task\u003e\n\n\u003cexpected_output\u003e\na number\n\u003c/expected_output\u003e","created_at":"2026-02-14T08:00:01Z","sessctl":{"synthetic":true}}|0`,
		`1 |''|{"role":"user","content":"Please proceed.","created_at":"2026-02-14T08:00:01Z","sessctl":{"synthetic":true}}|1`,
		`2 |NULL||0`,
		`5 |'root'|{"role":"tool","content":"[sessctl] lost","tool_call_id":"s1","is_error":true,"created_at":"2026-02-14T08:00:04Z","sessctl":{"synthetic":true}}|0`,
	}
	got := lines(t, db, `select position || ' |' || quote(agent_name) || '|' || coalesce(message_json, '') || '|' || implicit
		from session_items where message_json like '%sessctl":{%' or subsession_id = 'C' order by position`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("new rows (-want +got):\n%s", diff)
	}
	columns := lines(t, db, `select name from pragma_table_info('sessions') where name not in ('id', 'messages', 'title', 'created_at', 'input_tokens', 'output_tokens', 'cost')`)
	values := map[string]string{
		"parent_id": "'P'", "tools_approved": "1", "send_user_message": "0", "max_iterations": "0", "working_dir": "'/src'", "starred": "0",
		"permissions": "''", "agent_model_overrides": "'{}'", "custom_models_used": "'[]'", "thinking": "0", "instruction_context": "''",
		"safety_policy": "''", "attributes": `'{"team":"a"}'`, "origin": "'api'",
		"branch_parent_session_id": "NULL", "branch_parent_position": "NULL", "branch_created_at": "NULL", "split_diff_view": "NULL",
	}
	for _, c := range columns {
		if got := lines(t, db, "select quote("+c+") from sessions where id = 'C'")[0]; got != values[c] {
			t.Errorf("column %s of the child is %s, want %s", c, got, values[c])
		}
	}
	if generation >= 16 && generation <= 18 {
		if got := lines(t, db, "select branch_parent_position from sessions where id = 'B'")[0]; got != "4" {
			t.Errorf("the branch starts at %s, want 4", got) // the removed row's place is taken by the reference
		}
	}
	if generation >= 22 {
		if got := lines(t, db, "select instruction_context from sessions where id = 'P'")[0]; got != `{"epoch_start":4,"updates":[{"position":7}]}` {
			t.Errorf("instruction_context is %s", got)
		}
	}
}

// holdColumn reads the legacy column alone, as if there were no rows, and finds
// the same conversation.
func holdColumn(t *testing.T, path string, want *session.Tree) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "column.db")
	if err := os.WriteFile(other, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, other)
	if got := lines(t, db, "select id from sessions where messages is null and id in ('P', 'C')"); len(got) > 0 {
		t.Errorf("sessions %v have no column", got)
	}
	if _, err := db.Exec("delete from session_items; delete from sessions where parent_id is not null"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	got := treeOf(t, other)
	for _, w := range want.Sessions {
		g := got.Session(w.ID)
		if g == nil || len(g.Items) != len(w.Items) {
			t.Fatalf("the column has session %+v, want %d items", g, len(w.Items))
		}
		for i := range w.Items {
			if g.Items[i].Meaning != w.Items[i].Meaning || g.Items[i].Flags != w.Items[i].Flags || g.Items[i].Child() != w.Items[i].Child() {
				t.Errorf("the column has item %+v, want %+v", g.Items[i], w.Items[i])
			}
		}
	}
}

// Columns that get values of their own.
func TestSets(t *testing.T) {
	path := built(t, 29, writeFailed)
	before := treeOf(t, path)
	after := copied(before)
	text := func(s string) *string { return &s }
	set := func(table, key, field string, value *string) session.Edit {
		return session.Edit{Op: session.Set, Ref: session.Ref{Session: "P", Table: table, Key: key}, Field: field, Value: value}
	}
	after.Sessions[0].Items[5].Own().KeptFrom = 2
	e := begin(t, path)
	err := e.Write(t.Context(), &store.Change{Before: before, After: after, Sets: []session.Edit{
		set("sessions", "P", "title", text("new title")), set("sessions", "P", "starred", text("1")), set("sessions", "P", "cost", text("0.5")),
		set("sessions", "P", "working_dir", nil), set("session_items", "1", "implicit", text("1")), set("session_items", "6", "usage_json", text("")),
		set("session_items", "6", "first_kept_entry", text("0")), // the tree says better
	}})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, e)
	db := openSQL(t, path)
	got := lines(t, db, `select quote(title) || quote(starred) || quote(cost) || quote(working_dir) from sessions where id = 'P'
		union all select quote(implicit) from session_items where id = 1 union all select quote(first_kept_entry) from session_items where id = 6`)
	if want := []string{"'new title'10.5NULL", "1", "2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Undo of many created sessions leaves no trace of them.
func TestRevertOfManySessions(t *testing.T) {
	path := built(t, 29, func(db *agenttest.DB) {
		if _, err := agenttest.WriteLeaky(db, agenttest.Random(1, 20)); err != nil {
			t.Fatal(err)
		}
	})
	was := storetest.Dump(t, path)
	before := stored(t, path)[0]
	after := copied(before)
	for i := range 20 {
		id := fmt.Sprint("child-", i)
		after.Sessions = append(after.Sessions, &session.Session{ID: id, Parent: before.Root().ID, Title: "Transferred task", Created: time.Unix(1.77e9, 0).UTC()})
		after.Root().Items = append(after.Root().Items, session.Item{Key: fmt.Sprint("new-", i), Kind: session.SubSession, Shared: &session.Shared{Child: id}})
	}
	expectNumber(after.Root())
	e := begin(t, path)
	if err := e.Write(t.Context(), &store.Change{Before: before, After: after}); err != nil {
		t.Fatal(err)
	}
	undo(t, path, finish(t, e))
	if diff := cmp.Diff(was, storetest.Dump(t, path)); diff != "" {
		t.Errorf("undo left (-before +after):\n%s", diff)
	}
}

// The column of a session without rows is the only copy of what it says: the
// repair of a child leaves it alone.
func TestColumnWithoutRowsIsKept(t *testing.T) {
	for _, column := range []string{"messages", "'[broken'"} {
		path := built(t, 18, func(db *agenttest.DB) {
			writeDelegation(db)
			db.Sync()
			if _, err := db.SQL.Exec("delete from session_items where session_id = 'P'; update sessions set messages = " + column + " where id = 'P'"); err != nil {
				t.Fatal(err)
			}
		})
		was := lines(t, openSQL(t, path), "select messages from sessions where id = 'P'")
		before := treeOf(t, path)
		after := copied(before)
		child := after.Session("C")
		child.Items = child.Items[:2]
		e := begin(t, path)
		if err := e.Write(t.Context(), &store.Change{Before: before, After: after}); err != nil {
			t.Fatal(err)
		}
		finish(t, e)
		db := openSQL(t, path)
		if got := lines(t, db, "select messages from sessions where id = 'P'"); !slices.Equal(got, was) {
			t.Errorf("the column became %.80s", got)
		}
		if got := lines(t, db, "select messages from sessions where id = 'C'"); strings.Count(got[0], `{"message":{"agentName"`) != 2 {
			t.Errorf("the column of the child is %s", got)
		}
	}
}
