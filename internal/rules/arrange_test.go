package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

// TestArranged: where a reader looks up the last result of each call, the messages are those of
// its requests, and elsewhere what is stored.
func TestArranged(t *testing.T) {
	item := func(role session.Role, calls, results string) session.Item {
		it := session.Item{Kind: session.Message, Role: role, Text: 1}
		for _, id := range strings.Fields(calls) {
			it.Calls = append(it.Calls, session.Call{ID: id})
		}
		for _, id := range strings.Fields(results) {
			it.Results = append(it.Results, session.Result{CallID: id})
		}
		return it
	}
	user, calls := item(session.User, "", ""), func(ids string) session.Item { return item(session.Assistant, ids, "") }
	answers := func(ids string) session.Item { return item(session.Tool, "", ids) }
	for _, tc := range []struct {
		name  string
		items []session.Item
		want  string // the items of each message, joined by +, and of its results those that it holds
	}{
		{"as stored", []session.Item{user, calls("a"), answers("a"), user}, "0 1 2[a@2] 3"},
		{"late", []session.Item{user, calls("a"), user, answers("a")}, "0 1 3[a@3] 2"},
		{"early", []session.Item{answers("a"), user, calls("a")}, "1 2 0[a@0]"},
		{"the last of two", []session.Item{calls("a"), answers("a"), user, answers("a")}, "0 3[a@3] 2"},
		{"no call", []session.Item{user, answers("b"), user}, "0 2"},
		{"merged", []session.Item{calls("a b"), answers("b"), answers("a")}, "0 1+2[b@1 a@2]"},
		{"one takes the other's place", []session.Item{calls("a b"), answers("b a"), answers("a")}, "0 1+2[b@1 a@2]"},
		{"an id of two calls", []session.Item{calls("a"), answers("a"), calls("a"), answers("a")}, "0 3[a@3] 2 3[a@3]"},
		{"one item for two turns", []session.Item{calls("a"), calls("b"), answers("a b")}, "0 2[a@2 b@2] 1 2[a@2 b@2]"},
		{"a call beside a result", []session.Item{calls("a"), item(session.Assistant, "b", "a")}, "0 1[a@1]"},
	} {
		s := &session.Session{ID: "s", Items: tc.items}
		pass := rules.NewPass(&session.Store{Reader: session.Reader{GathersResults: true, LastResult: true}}, &session.Tree{Sessions: []*session.Session{s}}, rules.Judge{}, nil)
		var got []string
		for _, m := range pass.Subjects[0].ArrangedMessages() {
			var items, results []string
			for _, i := range m.Items {
				items = append(items, fmt.Sprint(i))
			}
			for _, at := range m.Results {
				results = append(results, fmt.Sprintf("%s@%d", s.Items[at.Item].Results[at.Nth].CallID, at.Item))
			}
			word := strings.Join(items, "+")
			if results != nil {
				word += "[" + strings.Join(results, " ") + "]"
			}
			got = append(got, word)
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, text, tc.want)
		}
	}
}
