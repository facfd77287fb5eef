package opencode_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

// recordedRequest is what opencode sent to a Chat Completions server.
type recordedRequest struct {
	Body struct {
		Messages []struct {
			Role    string
			Content string
			CallID  string `json:"tool_call_id"`
			Calls   []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
}

// said are its messages, a line each, without the instructions, which no database holds.
func (r *recordedRequest) said() (lines []string) {
	for _, m := range r.Body.Messages {
		if m.Role == "system" {
			continue
		}
		line := fmt.Sprintf("%s %s%q", m.Role, m.CallID, m.Content)
		for _, c := range m.Calls {
			line += fmt.Sprintf(" %s %s(%s)", c.ID, c.Function.Name, c.Function.Arguments)
		}
		lines = append(lines, line)
	}
	return lines
}

func requestsOf(t *testing.T, name string) (list []recordedRequest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, name+".requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r recordedRequest
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// foretold are the messages of the next request of every session, as `view --model-input`
// has them, with what it says of opencode's own corrections.
func foretold(t *testing.T, path string) (sessions [][]string) {
	t.Helper()
	o, err := registry.Open(context.Background(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	for tree, err := range o.Trees(context.Background()) {
		if err == nil {
			err = o.Fill(context.Background(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		found := check.Tree(o.Facts(), tree, catalogue.Usual(), rules.Judge{})
		for _, s := range tree.Sessions {
			v := view.Build(view.Input{Store: o.Facts(), Tree: tree, Findings: found, Session: s.ID, Request: true})
			sessions = append(sessions, lines(v.Request, o.Facts().Sanitiser.Result))
		}
	}
	return sessions
}

// lines are the messages of a request; invented is the result that a call without one gets,
// in the order of the calls.
func lines(r *view.Request, invented string) (list []string) {
	results := map[string]string{} // of the message before
	var asked []string
	answer := func() {
		for _, id := range asked {
			list = append(list, fmt.Sprintf("tool %s%q", id, results[id]))
		}
		asked = nil
	}
	for i := range r.Parts[:len(r.Parts)-1] { // the last one is the next message of the user
		p := &r.Parts[i]
		if p.Unsent || p.Message < 0 {
			continue
		}
		it := p.Row.Stored
		for _, res := range it.Results {
			results[res.CallID] = res.Text
		}
		if it.Role == session.Tool {
			continue
		}
		answer()
		line := fmt.Sprintf("%s %q", it.Role, it.Body.Text)
		for _, c := range it.Calls {
			line += fmt.Sprintf(" %s %s(%s)", c.ID, c.Name, c.Args)
			asked, results[c.ID] = append(asked, c.ID), "nothing"
		}
		list = append(list, line)
		if r.Masking == nil {
			continue
		}
		for _, m := range r.Masking.Invented {
			if m.Item == p.Row.Item {
				results[m.Call] = invented
			}
		}
	}
	answer()
	return list
}

// differences are the recorded requests that view does not foretell, and why.
var differences = map[string]string{
	"killed-stream": `opencode sends the empty text that a cut stream left as an answer "", and view takes an empty message out: SC401 tells of it`,
}

// TestSent holds what view says of the next request against what opencode sent when it was
// asked to go on; "What now?" was the user's next message.
func TestSent(t *testing.T) {
	all, _ := filepath.Glob(filepath.Join(corpus, "*.requests.jsonl"))
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".requests.jsonl")
		t.Run(name, func(t *testing.T) {
			sessions := foretold(t, recorded(t, name, t.TempDir()))
			for _, r := range requestsOf(t, name) {
				sent := r.said()
				next := sent[len(sent)-1]
				if !strings.HasPrefix(next, `user "What now?`) {
					t.Fatalf("the last message is %s", next)
				}
				want := sent[:len(sent)-1]
				if differences[name] != "" {
					want = slices.DeleteFunc(want, func(line string) bool { return line == `assistant ""` })
				}
				if !slices.ContainsFunc(sessions, func(s []string) bool { return slices.Equal(s, want) }) {
					t.Errorf("no session is sent as\n%s\nbut as\n%s", strings.Join(want, "\n"), sessions)
				}
			}
		})
	}
}
