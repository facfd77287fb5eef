package adk_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
)

// The answer to the interrupted call is an event of its own: of the agent, in the
// role of the user, directly behind the call and before what the user says next, in
// the forms of the row beside it.
func TestAnswerToAnInterruptedCall(t *testing.T) {
	const (
		said     = "[sessctl] No result was recorded for this call. It may or may not have run; check the state before repeating it."
		python   = `{"parts":[{"function_response":{"id":"adk-slow","name":"slow","response":{"error":"` + said + `"}}}],"role":"user"}`
		golang   = `{"parts":[{"functionResponse":{"id":"adk-slow","name":"slow","response":{"error":"` + said + `"}}}],"role":"user"}`
		document = `{"content":` + python + `,"invocation_id":"e-00000000-0000-4000-8000-000000000001","author":"root",` +
			`"actions":{"state_delta":{},"artifact_delta":{},"requested_auth_configs":{},"requested_tool_confirmations":{}},"id":"ID","timestamp":1795210800.059339}`
		columns = "author, invocation_id, branch, content"
		flags   = "partial, turn_complete, interrupted"
		pascal  = `{"StateDelta":{},"ArtifactDelta":{},"RequestedToolConfirmations":null,"SkipSummarization":false,"TransferToAgent":"","Escalate":false}`
	)
	row := func(content string) []string {
		return []string{"root", "e-00000000-0000-4000-8000-000000000001", "<nil>", content}
	}
	tests := []struct {
		generation adktest.Generation
		columns    string
		want       []string
	}{
		{adktest.P0First, "cast(timestamp as text), " + columns, append([]string{"2026-11-20 21:40:00.059339"}, row(python)...)},
		{adktest.P0, "cast(timestamp as text), " + columns, append([]string{"2026-11-20 21:40:00.059339"}, row(python)...)},
		{adktest.P0, flags, []string{"<nil>", "<nil>", "<nil>"}},
		{adktest.P1, "cast(timestamp as text), event_data", []string{"2026-11-20 21:40:00.059339", document}},
		{adktest.PS, "timestamp = 1795210800.059339, event_data", []string{"1", document}},
		{adktest.G1, "cast(timestamp as text), " + columns, append([]string{"2026-11-20 21:40:00.059339+00:00"}, row(golang)...)},
		{adktest.G1, "cast(actions as text), " + flags, []string{pascal, "0", "0", "0"}},
		{adktest.G2, "cast(timestamp as text), " + columns, append([]string{"2026-11-20 21:40:00.059339+00:00"}, row(golang)...)},
		{adktest.G2, "cast(actions as text), typeof(actions), " + flags, []string{`{"stateDelta":{},"artifactDelta":{}}`, "blob", "0", "0", "0"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.generation)+" "+tt.columns, func(t *testing.T) {
			path := created(t, tt.generation, adktest.Script("interrupted"))
			stored := column(t, path, "select id from events order by rowid")
			before := dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil || receipt == nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			order := column(t, path, "select id from events order by timestamp")
			if len(order) != 5 || !slices.Equal(slices.Delete(slices.Clone(order), 2, 3), stored) {
				t.Fatalf("the events are %v, and were %v", order, stored)
			}
			got := query(t, path, "select "+tt.columns+" from events where id = '"+order[2]+"'")[0]
			for i := range got {
				got[i] = strings.Replace(got[i], order[2], "ID", 1)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			l := receipt.Ledger
			if l.Before != 4 || l.After != 5 || l.Synthetic != 1 || l.Quarantined+l.Removed+l.Edited != 0 {
				t.Errorf("the ledger says %+v", l)
			}
			stable(t, path, before, receipt)
		})
	}
}

// The pickled actions of a new event are those of its neighbour, with nothing set:
// what its own version of adk-python wrote.
func TestPickledActionsOfANewEvent(t *testing.T) {
	script := adktest.Script("interrupted")
	script.Events[1].Actions = adktest.Actions{StateDelta: `{"n":1}`, Confirmations: []string{"adk-slow"}, SkipSummary: true}
	path := created(t, adktest.P0, script)
	if plan, receipt, err := repairtest.Repair(path); err != nil || receipt == nil {
		t.Fatalf("%v\n%s", err, told(plan))
	}
	got := column(t, path, "select cast(actions as blob) from events order by timestamp")[2]
	for _, name := range []string{"EventActions", "state_delta", "requested_tool_confirmations", "skip_summarization"} {
		if !strings.Contains(got, name) {
			t.Errorf("the actions have no %s: %q", name, got)
		}
	}
	for _, value := range []string{"adk-slow", "hint", "\x88"} {
		if strings.Contains(got, value) {
			t.Errorf("the actions hold %q: %q", value, got)
		}
	}
}

// Agents that run side by side: the answer is on the branch of the call, in its
// scope and at its node.
func TestAnswerOnABranch(t *testing.T) {
	for _, g := range []adktest.Generation{adktest.P1, adktest.PS, adktest.G2} {
		t.Run(string(g), func(t *testing.T) {
			script := adktest.Script("interrupted")
			e := &script.Events[1]
			e.Branch, e.Scope, e.Node = "par.root", "adk-task", "w/root@1"
			path := created(t, g, script)
			if plan, receipt, err := repairtest.Repair(path); err != nil || receipt == nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			columns := "branch || isolation_scope || node_info_json"
			want := `par.rootadk-task{"path":"w/root@1"}`
			if g != adktest.G2 {
				columns = "substr(event_data, instr(event_data, '\"branch\"'), 79)"
				want = `"branch":"par.root","node_info":{"path":"w/root@1"},"isolation_scope":"adk-task"`[:79]
			}
			if got := column(t, path, "select "+columns+" from events order by timestamp")[2]; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestRecordedDatabasesAreRepaired repairs what adk-go itself wrote.
func TestRecordedDatabasesAreRepaired(t *testing.T) {
	tests := []struct {
		name, session string
		want          []string // authors with the beginning of what they say, of that session
	}{
		{"adk-go-v2.2.0-observed-interrupted.sqlite.sql", "s-int", []string{
			`user {"parts":[{"text":"first"`, `root {"parts":[{"functionCall"`, `root {"parts":[{"functionResponse"`, `user {"parts":[{"text":"second"`, `root {"parts":[{"text":"second turn`,
		}},
		{"adk-go-v2.2.0-observed.sqlite.sql", "", nil},
		{"adk-go-v1.5.0-observed.sqlite.sql", "", nil},
		{"random-trees.db", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := recorded(t, tt.name)
			before := dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil {
				t.Fatalf("%v\n%s", err, told(plan))
			}
			if tt.want == nil {
				if receipt != nil {
					t.Errorf("there is something to repair: %s", told(plan))
				}
				return
			}
			got := column(t, path, "select author || ' ' || content from events where session_id = '"+tt.session+"' order by timestamp")
			if len(got) != len(tt.want) {
				t.Fatalf("%d events: %q", len(got), got)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("event %d is %s", i, got[i])
				}
			}
			stable(t, path, before, receipt)
		})
	}
}

// recorded is a copy of a recorded database, made of its dump where it is one.
func recorded(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../../shared/corpus/adk", name))
	if os.IsNotExist(err) {
		t.Skip("the recorded databases are not beside the module")
	}
	path := filepath.Join(t.TempDir(), "adk.db")
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".db") {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(string(content))
	if closing := db.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	return path
}

// column are the values of the only column of a query.
func column(t tester, path, statement string) []string {
	t.Helper()
	var list []string
	for _, row := range query(t, path, statement) {
		list = append(list, row[0])
	}
	return list
}
