package dockeragent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent"
)

// A sub-session with a delegation, as an event holds it.
const nestedChild = `{"id":"C","title":"Transferred task","created_at":"2026-02-03T09:56:40.5+01:00","messages":[
	{"message":{"agentName":"","message":{"role":"system","content":"Goal:\n\n\u003ctask\u003e\ndo it\n\u003c/task\u003e"}}},
	{"message":{"agentName":"","message":{"role":"user","content":"Please proceed."},"implicit":true}},
	{"message":{"agentName":"worker","message":{"role":"assistant","content":"on it","reasoning_content":"hm","created_at":"2026-02-03T09:56:41Z",
		"tool_calls":[{"id":"w1","type":"function","function":{"name":"transfer_task","arguments":"{\"agent\":\"grand\",\"task\":\"sub\"}"}}]}}},
	{"sub_session":{"id":"G","title":"Transferred task","created_at":"2026-02-03T09:56:42Z","messages":[
		{"message":{"agent_name":"grand","message":{"role":"assistant","content":"partial"}}}]}},
	{"message":{"agentName":"worker","message":{"role":"tool","content":"failed","tool_call_id":"w1","is_error":true,"created_at":"2026-02-03T09:56:43Z"}}},
	{"summary":"so far"},
	{"message":null}]}`

func TestNested(t *testing.T) {
	tree, err := dockeragent.DecodeNested([]byte(nestedChild))
	if err != nil {
		t.Fatal(err)
	}
	if got := outlined(tree); got != strings.Join([]string{
		`C "" "Transferred task" task: system, user implicit "Please proceed.", assistant worker "on it" (hm) w1:transfer_task→grand ` +
			`{"agent":"grand","task":"sub"}, sub-session G, tool worker w1 "failed" error, summary "so far", other`,
		`G "C" "Transferred task": assistant grand unfinished "partial"`,
	}, "\n") {
		t.Errorf("got\n%s", got)
	}
	root := tree.Root()
	if want := time.Date(2026, 2, 3, 8, 56, 40, 0, time.UTC); !root.Created.Equal(want) {
		t.Errorf("created %v, want %v", root.Created, want)
	}
	if root.Task != session.DigestOf("do it") || len(root.Children) != 1 || root.Children[0] != tree.Sessions[1] {
		t.Errorf("task %d, children %v", root.Task, root.Children)
	}
	keys := map[string]bool{}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			keys[s.ItemRef(i).Row()] = true
		}
	}
	if len(keys) != tree.Items() {
		t.Errorf("%d keys for %d items", len(keys), tree.Items())
	}
}

// The failure of an agent is an entry of its own since 2026-06-26, as its row is.
func TestNestedError(t *testing.T) {
	for entry, faults := range map[string]int{
		`{"error":{"message":"no model","code":"model_error","agent_name":"worker","created_at":"2026-07-01T09:00:00Z"}}`: 0,
		`{"termination":{"reason":"budget_exceeded"}}`:                                                                    0,
		`{"mistake":{"message":"no model"}}`:                                                                              1,
	} {
		tree, err := dockeragent.DecodeNested([]byte(`{"id":"C","messages":[` + entry + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		root := tree.Root()
		if len(root.Items) != 1 || root.Items[0].Kind != session.Other || root.Items[0].Flags.Has(session.Skipped) != (faults > 0) || len(root.Faults) != faults {
			t.Errorf("%s: %+v, faults %+v", entry, root.Items, root.Faults)
		}
	}
}

// outlined writes down what a tree says, a line for each session.
func outlined(tree *session.Tree) string {
	var list []string
	for _, s := range tree.Sessions {
		var items []string
		for i := range s.Items {
			items = append(items, composeSaidItem(&s.Items[i]))
		}
		head := fmt.Sprintf("%s %q %q", s.ID, s.Parent, s.Title)
		if s.Task != 0 {
			head += " task"
		}
		list = append(list, head+": "+strings.Join(items, ", "))
	}
	return strings.Join(list, "\n")
}

func composeSaidItem(it *session.Item) string {
	switch it.Kind {
	case session.SubSession:
		return "sub-session " + it.Child()
	case session.Summary:
		return fmt.Sprintf("summary %q", it.Body.Text)
	case session.Other:
		return "other"
	}
	words := []string{it.Role.String()}
	add := func(when bool, format string, args ...any) {
		if when {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(it.Agent() != "", "%s", it.Agent())
	add(it.Flags.Has(session.Implicit), "implicit")
	add(it.Flags.Has(session.Unfinished), "unfinished")
	add(it.Body.Text != "" && it.Role != session.System, "%q", it.Body.Text)
	add(it.Body.Reasoning != "", "(%s)", it.Body.Reasoning)
	for _, c := range it.Calls {
		add(true, "%s:%s→%s %s", c.ID, c.Name, c.Delegation.Agent, c.Args)
	}
	for _, r := range it.Results {
		add(true, "%s %q", r.CallID, r.Text)
		add(r.IsError, "error")
	}
	return strings.Join(words, " ")
}

// What is odd is an error, or an item that says nothing, and never the end.
func TestNestedOdd(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		refused    string // a part of the error, "" for none
		items      []int  // of each session
	}{
		{"nothing", ``, "unexpected end", nil},
		{"null", `null`, "no id", nil},
		{"no object", `["x"]`, "it is a JSON array", nil},
		{"no id", `{"title":"x","messages":[]}`, "no id", nil},
		{"an id that is a number", `{"id":7}`, "its id is a JSON number", nil},
		{"no time", `{"id":"C","created_at":"yesterday"}`, "parsing time", nil},
		{"cut off", `{"id":"C","messages":[{"message":`, "unexpected end", nil},
		{"too deep", strings.Repeat(`{"id":"C","messages":[{"sub_session":`, 5000), "exceeded max depth", nil},
		{"no messages", `{"id":"C"}`, "", []int{0}},
		{"null messages", `{"id":"C","messages":null}`, "", []int{0}},
		{"odd entries", `{"id":"C","messages":[null,1,"x",{},{"message":{"message":7}},{"sub_session":null}]}`, "", []int{6}},
		{"a nested one without an id", `{"id":"C","messages":[{"sub_session":{"messages":[{}]}}]}`, "", []int{1, 1}},
		{"a nested one that is itself", `{"id":"C","messages":[{"sub_session":{"id":"C","messages":[{}]}}]}`, "", []int{1}},
		{"one twice", `{"id":"C","messages":[{"sub_session":{"id":"G"}},{"sub_session":{"id":"G"}}]}`, "", []int{2, 0}},
		{"a nested one of another type", `{"id":"C","messages":[{"sub_session":{"id":"G","title":7,"messages":[{"message":{"role":"x"}}]}}]}`, "title is a JSON number", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree, err := dockeragent.DecodeNested([]byte(tc.data))
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("error %v, want one with %q", err, tc.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var items []int
			for _, s := range tree.Sessions {
				items = append(items, len(s.Items))
				for i := range s.Items {
					if s.Items[i].Body == nil {
						t.Errorf("item %d of %s has no body", i, s.ID)
					}
				}
			}
			if fmt.Sprint(items) != fmt.Sprint(tc.items) {
				t.Errorf("items %v, want %v", items, tc.items)
			}
		})
	}
}

// Sub-sessions that are nested as deep as JSON may be do not stop the program.
func TestNestedDeep(t *testing.T) {
	const depth = 300
	var b strings.Builder
	for i := range depth {
		fmt.Fprintf(&b, `{"id":"S%d","messages":[{"sub_session":`, i)
	}
	b.WriteString(`{"id":"last"}` + strings.Repeat(`}]}`, depth))
	tree, err := dockeragent.DecodeNested([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Sessions) != depth+1 {
		t.Errorf("%d sessions, want %d", len(tree.Sessions), depth+1)
	}
}
