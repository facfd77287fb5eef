package crush_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

// recordedRequest is what Crush sent to a Chat Completions server.
type recordedRequest struct {
	Aux  bool // for a title or a summary
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

// said are its messages, a line each, without what no database holds: the instructions,
// and the reminder that Crush puts before the first message.
func (r *recordedRequest) said() (lines []string) {
	for _, m := range r.Body.Messages {
		if m.Role == "system" || strings.HasPrefix(m.Content, "<system_reminder>") {
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
		if !r.Aux {
			list = append(list, r)
		}
	}
	return list
}

// foretold are the messages of the next request of every session, as `view --model-input`
// has them, with what it says of Crush's own corrections.
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

func lines(r *view.Request, invented string) (list []string) {
	for i := range r.Parts[:len(r.Parts)-1] { // the last one is the next message of the user
		p := &r.Parts[i]
		it := p.Row.Stored
		switch {
		case p.Unsent || p.Message < 0:
		case it == nil:
			list = append(list, fmt.Sprintf("user %q", p.Row.Text))
		case it.Role == session.Tool:
			for _, res := range it.Results {
				list = append(list, fmt.Sprintf("tool %s%q", res.CallID, res.Text))
			}
		default:
			line := fmt.Sprintf("%s %q", it.Role, it.Body.Text)
			for _, c := range it.Calls {
				line += fmt.Sprintf(" %s %s(%s)", c.ID, c.Name, c.Args)
			}
			list = append(list, line)
		}
		if r.Masking == nil {
			continue
		}
		for _, m := range r.Masking.Invented {
			if m.Item == p.Row.Item {
				list = append(list, fmt.Sprintf("tool %s%q", m.Call, invented))
			}
		}
	}
	return list
}

// TestSent holds what view says of the next request against what Crush sent when it
// resumed the session; "What now?" was the user's next message.
func TestSent(t *testing.T) {
	for name := range verdicts {
		requests := name
		if stored, resumed := strings.CutSuffix(name, "-resumed"); resumed {
			name = stored
		} else if !strings.HasSuffix(name, ".repaired") {
			continue
		}
		t.Run(requests, func(t *testing.T) {
			path := recorded(t, name, t.TempDir())
			list := requestsOf(t, requests)
			sent := list[len(list)-1].said()
			if next := sent[len(sent)-1]; !strings.HasPrefix(next, `user "What now?`) {
				t.Fatalf("the last message is %s", next)
			}
			if diff := cmp.Diff(sent[:len(sent)-1], foretold(t, path)[0]); diff != "" {
				t.Errorf("-sent +view:\n%s", diff)
			}
		})
	}
}

// TestSentBefore holds the last requests of runs that ended, and those of their
// sub-agents, against what is stored: the answer came later.
func TestSentBefore(t *testing.T) {
	for _, name := range []string{"agent", "agent-two", "chat", "compaction", "provider-error", "tools", "killed-child"} {
		t.Run(name, func(t *testing.T) {
			path := recorded(t, name, t.TempDir())
			sessions := foretold(t, path)
			last := map[string][]string{} // by the first message
			for _, r := range requestsOf(t, name) {
				said := r.said()
				last[said[0]] = said
			}
			if name == "compaction" { // what was sent before the summary is not sent again
				delete(last, `user "Please go on #big"`)
			}
			for _, said := range last {
				begins := func(s []string) bool { return len(s) >= len(said) && slices.Equal(s[:len(said)], said) }
				if !slices.ContainsFunc(sessions, begins) {
					t.Errorf("no session is sent as\n%s\n%s", strings.Join(said, "\n"), sessions)
				}
			}
		})
	}
}
