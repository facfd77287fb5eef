package kagent_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/kagent"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

const said = `{"invocation_id":"i","author":"user","timestamp":1785747600,"content":{"role":"user","parts":[{"text":"x"}]}}`

// taskOf is a statement that stores a task of session s.
func taskOf(id, columns, values, data string) string {
	return fmt.Sprintf("insert into task(id, created_at, data%s) values('%s', '2026-08-03 09:00:00+00:00', '%s'%s)", columns, id, data, values)
}

func TestFaults(t *testing.T) {
	const completed = `{"status":{"state":"completed"}}`
	const answered = `{"invocation_id":"i","author":"a","content":{"role":"model","parts":[{"text":"done"}]}}`
	mine := ", session_id, user_id"
	for _, c := range []struct {
		name       string
		statements []string
		want       []session.FaultKind // of the store, then of the sessions
	}{
		{"nothing", []string{ofSession, storing("e", said), taskOf("t", mine, ", 's', 'u'", completed)}, nil},
		{"an event of no session", []string{storing("e", said)}, []session.FaultKind{session.OrphanRecord}},
		{"a task of a session that is not there", []string{taskOf("t", mine, ", 'x', 'u'", completed)}, []session.FaultKind{session.OrphanRecord}},
		{"a task of no session", []string{taskOf("t", ", user_id", ", 'u'", completed)}, []session.FaultKind{session.OrphanRecord}},
		{"a task of a user who has no session with its id", []string{ofSession, taskOf("t", mine, ", 's', 'somebody'", completed)}, []session.FaultKind{session.OrphanRecord}},
		{"a task of nobody", []string{ofSession, taskOf("t", ", session_id", ", 's'", completed)}, []session.FaultKind{session.OrphanRecord}},
		{
			"tasks in both shapes",
			[]string{ofSession, taskOf("t", mine, ", 's', 'u'", completed), taskOf("t1", mine+", protocol_version", ", 's', 'u', '1.0'", completed)},
			[]session.FaultKind{session.MixedDialects},
		},
		{"a task that does not decode", []string{ofSession, taskOf("t", mine, ", 's', 'u'", "{")}, []session.FaultKind{session.Undecodable}},
		{
			"a task at work for ever",
			[]string{ofSession, storing("e", said), storing("ee", answered), taskOf("t", mine, ", 's', 'u'", `{"status":{"state":"TASK_STATE_WORKING"},"metadata":{"adk_invocation_id":"i"}}`)},
			[]session.FaultKind{session.CopiesDiffer},
		},
		{
			"a task at work",
			[]string{ofSession, storing("e", said), taskOf("t", mine, ", 's', 'u'", `{"status":{"state":"working"},"metadata":{"adk_invocation_id":"i"}}`)},
			nil,
		},
		{
			"a task that waits for somebody",
			[]string{ofSession, storing("e", said), storing("ee", answered), taskOf("t", mine, ", 's', 'u'", `{"status":{"state":"input-required"},"metadata":{"adk_invocation_id":"i"}}`)},
			nil,
		},
		{"a deleted session with events", []string{ofSession, storing("e", said), "update session set deleted_at = created_at"}, []session.FaultKind{session.OrphanRecord}},
		{"a deleted session", []string{ofSession, "update session set deleted_at = created_at"}, nil},
		{
			"two users with one id",
			[]string{ofSession, "insert into session(id, user_id, created_at) values('s', 'v', '2026-08-03 09:00:00+00:00')"},
			[]session.FaultKind{session.SharedID, session.SharedID},
		},
		{
			"two dialects",
			[]string{ofSession, storing("e", said), storing("ee", `{"InvocationID":"j","Author":"user","Content":{"role":"user","parts":[{"text":"x"}]}}`)},
			[]session.FaultKind{session.MixedDialects},
		},
		{
			"times that are none",
			[]string{ofSession, storing("e", said), "update event set created_at = 'yesterday'", "update session set updated_at = 'today'"},
			[]session.FaultKind{session.BadTime, session.BadTime},
		},
		{"a time that is missing", []string{ofSession, storing("e", said), "update event set created_at = null"}, []session.FaultKind{session.BadTime}},
		{
			"a column that nobody knows", []string{ofSession, storing("e", said), "alter table event add column sequence integer", "update event set sequence = 7"},
			[]session.FaultKind{session.SchemaUnknown},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			facts, trees := read(t, changed(t, c.statements...))
			var got []session.FaultKind
			for _, f := range facts.Faults {
				got = append(got, f.Kind)
			}
			for _, tree := range trees {
				for _, s := range tree.Sessions {
					for _, f := range s.Faults {
						got = append(got, f.Kind)
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if newer := facts.ReadOnly != ""; newer != (len(c.want) == 1 && c.want[0] == session.SchemaUnknown) {
				t.Errorf("read only: %q", facts.ReadOnly)
			}
		})
	}
}

func TestGenerations(t *testing.T) {
	for generation, want := range map[kagenttest.Generation]string{kagenttest.V05: "0.5.0", kagenttest.V07: "0.5.0", kagenttest.Current: "0.10.0"} {
		path, _ := build(t, kagenttest.Script("isolated"), kagenttest.Form{Generation: generation, Dialect: kagenttest.Python, Times: kagenttest.GORM})
		facts, _ := read(t, path)
		if facts.Generation != want || facts.ReadOnly != "" {
			t.Errorf("%s is %q, read only %q", generation, facts.Generation, facts.ReadOnly)
		}
		if !facts.Agents[kagenttest.Worker] || facts.Agents["k8s_get_resources"] {
			t.Errorf("agents %v", facts.Agents)
		}
	}
}

func TestSessions(t *testing.T) {
	path := changed(
		t,
		"insert into session(id, user_id, name, agent_id, source, created_at, updated_at) values('s', 'u', 'What', 'kagent__NS__a', 'agent', '2026-08-03 09:00:00.5+02:00', '2026-08-03T09:00:01Z')",
		storing("e", said),
		taskOf("t", ", session_id, user_id, updated_at", ", 's', 'u', '2026-08-03 09:00:01+00:00'",
			`{"status":{"state":"input-required"},"history":[{"role":"user","metadata":{"kagent_invocation_id":"i"},"parts":[{"kind":"text","text":"x"}]}],"artifacts":[{"parts":[{"text":"one"},{"text":"two"}]}]}`),
		taskOf("gone", ", session_id, user_id, deleted_at", ", 's', 'u', '2026-08-03'", "{}"),
	)
	s := filterChildren(t, path)
	if s.Title != "What" || s.Agent != "kagent__NS__a" || !s.Delegated || s.Tick != time.Microsecond || s.Deleted || s.Inseparable != "" || s.Task != s.Items[0].Text {
		t.Errorf("%+v", s)
	}
	if s.Created.UTC().Format("15:04:05.0") != "07:00:00.5" || s.Updated.Format("15:04:05") != "09:00:01" {
		t.Error(s.Created, s.Updated)
	}
	if len(s.Runs) != 1 {
		t.Fatal("the deleted task counts")
	}
	run := s.Runs[0]
	if !run.Open || run.State != "input-required" || run.Invocation != "i" || run.Asked != session.DigestOf("x") || run.Answered != session.DigestOf("one\ntwo") || !run.Ended.After(run.Began) {
		t.Errorf("%+v", run)
	}
}

// TestInseparable holds what a split cannot part.
func TestInseparable(t *testing.T) {
	for _, c := range []struct{ name, statement, want string }{
		{"events with invocations", storing("e", said), ""},
		{"LangGraph", "insert into lg_checkpoint(user_id, thread_id, checkpoint_id, metadata, checkpoint, checkpoint_type) values('u', 's', 'c', '', '', '')", "LangGraph"},
		{"LangGraph of another user", "insert into lg_checkpoint(user_id, thread_id, checkpoint_id, metadata, checkpoint, checkpoint_type) values('v', 's', 'c', '', '', '')", ""},
		{"CrewAI", "insert into crewai_flow_state(user_id, thread_id, method_name, state_data) values('u', 's', 'm', '')", "CrewAI"},
		{"events without invocations", storing("e", `{"type":"conversation_items","items":[{"role":"user","content":"x"}]}`), "which run"},
	} {
		if s := filterChildren(t, changed(t, ofSession, c.statement)); (s.Inseparable == "") != (c.want == "") || !strings.Contains(s.Inseparable, c.want) {
			t.Errorf("%s: %q", c.name, s.Inseparable)
		}
	}
}

// TestHeadersTellOfACaller where the session itself does not.
func TestHeadersTellOfACaller(t *testing.T) {
	for headers, want := range map[string]bool{`{"X-Kagent-Source":"agent"}`: true, `{"x-kagent-source":"user"}`: false, `{"x-kagent-parent-context-id":"p"}`: true} {
		s := filterChildren(t, changed(t, ofSession, storing("e", `{"invocation_id":"header_update","author":"system","actions":{"state_delta":{"headers":`+headers+`}}}`)))
		if s.Delegated != want {
			t.Errorf("%s: %v", headers, s.Delegated)
		}
	}
}

// TestTies holds that events of one time stand in the order of their own times, then
// of their ids, and that faults stay with their events.
func TestTies(t *testing.T) {
	at := func(seconds int) string {
		return strings.Replace(said, "1785747600", fmt.Sprint(1785747600+seconds), 1)
	}
	s := filterChildren(t, changed(
		t, ofSession, storing("d", at(2)), storing("c", at(1)), storing("b", at(1)), storing("a", `{"broken`),
		"update event set deleted_at = 'never' where id = 'c'", "update event set created_at = '2026-08-03 09:00:00.000000001+00:00' where id = 'a'",
		"update event set created_at = '2026-08-03 09:00:01+00:00' where id <> 'a'",
	))
	var order []string
	for i := range s.Items {
		order = append(order, s.Items[i].Key)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, order); diff != "" {
		t.Error(diff)
	}
	for _, f := range s.Faults {
		if want := map[session.FaultKind]int{session.Undecodable: 0, session.BadTime: 2}[f.Kind]; f.Item != want || f.Ref.Key != s.Items[want].Key {
			t.Errorf("fault %v is at %d, %s", f.Kind, f.Item, f.Ref.Key)
		}
	}
}

// TestSecretsAreShownToNobody but stay in what a receipt keeps.
func TestSecretsAreShownToNobody(t *testing.T) {
	stored := 0
	for _, form := range []string{"python", "python main"} {
		path, _ := build(t, kagenttest.Script("collapsed-11"), kagenttest.Forms[form])
		_, trees := read(t, path)
		if n := secrets(trees); n > 0 {
			t.Errorf("%s: %d records show a secret", form, n)
		}
		ed, err := kagent.Kind.Edit(t.Context(), storetest.Source(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := ed.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range trees[0].Sessions {
			ids = append(ids, s.ID)
		}
		st, err := ed.Read(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		stored += secrets(filled(t, st))
		if err := ed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if stored == 0 {
		t.Error("a receipt would not have the headers")
	}
}

func filled(t *testing.T, st store.Store) (trees []*session.Tree) {
	t.Helper()
	for tree, err := range st.Trees(t.Context()) {
		if err == nil {
			err = st.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	return trees
}

func secrets(trees []*session.Tree) (n int) {
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				if bytes.Contains(s.Items[i].Body.Raw, []byte(kagenttest.Secret)) {
					n++
				}
			}
		}
	}
	return n
}

// TestDetect holds that other stores are none of kagent's.
func TestDetect(t *testing.T) {
	for statement, want := range map[string]store.Confidence{
		"drop table push_notification": store.Certain,
		"drop table task":              store.Maybe,
		"drop table event":             store.No,
		"drop table session":           store.No,
	} {
		path := changed(t, statement)
		opened, err := registry.Open(t.Context(), path, "", nil, store.Options{})
		if want == store.No {
			if err == nil {
				t.Errorf("%s: it is read as %s", statement, opened.Kind.Name)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		if readOnly := opened.Facts().ReadOnly != ""; opened.Kind.Name != "kagent" || readOnly != (want == store.Maybe) {
			t.Errorf("%s: %s, %q", statement, opened.Kind.Name, opened.Facts().ReadOnly)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
}
