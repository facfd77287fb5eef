package goose_test

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

// recordedRequest is what goose sent to a Chat Completions server.
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

// said is what a request says, a line each: texts, calls and results, without the
// instructions. goose joins messages of one role, the texts of the user with a line break,
// so that they are told apart here by what stands between them. It puts calls of one
// answer with thoughts together, before their results: here each stands before its own.
// Before an error it puts a sentence.
type said []string

func (s *said) text(role, text string) {
	if text == "" {
		return
	}
	if n := len(*s); n > 0 && strings.HasPrefix((*s)[n-1], role+" ") {
		(*s)[n-1] += "\n" + text
		return
	}
	*s = append(*s, role+" "+text)
}

func (s *said) result(call, text string) {
	line := "result " + call + " " + strings.TrimPrefix(text, "The tool call returned the following error:\n")
	for i, made := range *s {
		if strings.HasPrefix(made, "call "+call+" ") {
			*s = slices.Insert(*s, i+1, line)
			return
		}
	}
	*s = append(*s, line)
}

func (s *said) call(id, name, args string) {
	*s = append(*s, fmt.Sprintf("call %s %s(%s)", id, name, args))
}

func (r *recordedRequest) said() (list said) {
	for _, m := range r.Body.Messages {
		switch m.Role {
		case "system":
		case "tool":
			list.result(m.CallID, m.Content)
		default:
			list.text(m.Role, m.Content)
			for _, c := range m.Calls {
				list.call(c.ID, c.Function.Name, c.Function.Arguments)
			}
		}
	}
	return list
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

// foretold is what the next request of every session says, as `view --model-input` has it,
// with what it says of goose's own corrections.
func foretold(t *testing.T, path string) (sessions []said) {
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
			sessions = append(sessions, lines(v.Request))
		}
	}
	return sessions
}

func lines(r *view.Request) (list said) {
	masked := func(among []view.Masked, item int, call string) bool {
		return slices.ContainsFunc(among, func(m view.Masked) bool { return m.Item == item && m.Call == call })
	}
	if r.Masking == nil {
		r.Masking = &view.Masking{}
	}
	for i := range r.Parts[:len(r.Parts)-1] { // the last one is the next message of the user
		p := &r.Parts[i]
		it := p.Row.Stored
		if p.Unsent || p.Message < 0 {
			continue
		}
		if it.Role != session.Tool {
			list.text(it.Role.String(), it.Body.Text)
		}
		for _, c := range it.Calls {
			if !masked(r.Masking.Invented, p.Row.Item, c.ID) {
				list.call(c.ID, c.Name, c.Args)
			}
		}
		for _, res := range it.Results {
			if !masked(r.Masking.Dropped, p.Row.Item, res.CallID) {
				list.result(res.CallID, res.Text)
			}
		}
	}
	return list
}

// TestSent holds what view says of the next request against what goose sent when it
// resumed the session; "What now?" was the user's next message. It joins that with a
// question that nobody answered.
func TestSent(t *testing.T) {
	for _, name := range names(t) {
		stored, resumed := strings.CutSuffix(name, "-resumed")
		if !resumed && verdicts[strings.TrimSuffix(name, ".repaired")] == nil || name == "killed-child" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			list := requestsOf(t, name)
			sent := list[len(list)-1].said()
			last := len(sent) - 1
			before, _, asked := strings.Cut(sent[last], "What now?")
			if !asked {
				t.Fatalf("the last message is %s", sent[last])
			}
			if sent[last] = strings.TrimSuffix(before, "\n"); before == "user " {
				sent = sent[:last]
			}
			if diff := cmp.Diff(sent, foretold(t, recorded(t, stored, t.TempDir()))[0]); diff != "" {
				t.Errorf("-sent +view:\n%s", diff)
			}
		})
	}
}

// TestSentBefore holds the last requests of runs that ended, and those of their
// sub-agents, against what is stored: the answer came later.
func TestSentBefore(t *testing.T) {
	for _, name := range names(t) {
		if strings.Contains(name, "-resumed") || verdicts[strings.TrimSuffix(name, ".repaired")] != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			sessions := foretold(t, recorded(t, name, t.TempDir()))
			last := map[string]said{} // by the first message
			for _, r := range requestsOf(t, name) {
				list := r.said()
				last[list[0]] = list
			}
			if name == "compaction" { // what was sent before the summary is not sent again
				delete(last, "user Please go on #big")
			}
			for _, want := range last {
				begins := func(s said) bool { return len(s) >= len(want) && slices.Equal(s[:len(want)], want) }
				if !slices.ContainsFunc(sessions, begins) {
					t.Errorf("no session is sent as\n%s\n%q", strings.Join(want, "\n"), sessions)
				}
			}
		})
	}
}
