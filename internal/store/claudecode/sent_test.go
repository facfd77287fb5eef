package claudecode_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// part is a part of a recorded message.
type part struct {
	Type    string
	Text    string
	ID      string
	Name    string
	CallID  string `json:"tool_use_id"`
	Input   json.RawMessage
	Content json.RawMessage
}

// parts are those of a message's content: a text is one part.
func parts(t *testing.T, content json.RawMessage) (list []part) {
	t.Helper()
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []part{{Type: "text", Text: text}}
	}
	if err := json.Unmarshal(content, &list); err != nil && len(content) > 0 {
		t.Fatal(err)
	}
	return list
}

// said is what a part says, a line; the vendor's reminders are no part of the transcript.
func said(t *testing.T, role string, p part) string {
	t.Helper()
	switch p.Type {
	case "tool_use":
		return fmt.Sprintf("%s call %s %s %s", role, p.ID, p.Name, plain(t, p.Input))
	case "tool_result":
		var texts []string
		for _, inner := range parts(t, p.Content) {
			texts = append(texts, inner.Text)
		}
		return fmt.Sprintf("%s result %s %q", role, p.CallID, strings.Join(texts, "\n"))
	case "text":
		return fmt.Sprintf("%s %q", role, p.Text)
	}
	return role + " " + p.Type
}

// plain is JSON without a difference in its white space.
func plain(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// sent are the messages of the recorded requests, without the person's new prompt.
func sent(t *testing.T, name string) (requests [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, name+".requests.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, m := range r.Messages {
			if m.Role == "system" {
				continue
			}
			for _, p := range parts(t, m.Content) {
				list = append(list, said(t, m.Role, p))
			}
		}
		requests = append(requests, list)
	}
	return requests
}

// stored are the messages of a session that the next request is made of.
func stored(t *testing.T, s *session.Session) (list []string) {
	t.Helper()
	start := max(s.LastSummary(), 0)
	for i := start; i < len(s.Items); i++ {
		it := &s.Items[i]
		if it.Flags&(session.Archived|session.Skipped) != 0 || it.Kind == session.Other {
			continue
		}
		role := it.Role.String()
		if it.Role == session.Tool {
			role = "user"
		}
		blocks := it.Blocks
		if blocks == nil {
			if it.Body.Text != "" {
				blocks = append(blocks, session.Block{Kind: session.TextBlock})
			}
			for n := range it.Calls {
				blocks = append(blocks, session.Block{Kind: session.CallBlock, Nth: n})
			}
			for n := range it.Results {
				blocks = append(blocks, session.Block{Kind: session.ResultBlock, Nth: n})
			}
		}
		for _, b := range blocks {
			switch b.Kind {
			case session.TextBlock:
				list = append(list, fmt.Sprintf("%s %q", role, it.Body.Text))
			case session.CallBlock:
				c := it.Calls[b.Nth]
				list = append(list, fmt.Sprintf("%s call %s %s %s", role, c.ID, c.Name, plain(t, []byte(c.Args))))
			case session.ResultBlock:
				list = append(list, fmt.Sprintf("%s result %s %q", role, it.Results[b.Nth].CallID, it.Results[b.Nth].Text))
			case session.ReasoningBlock:
				list = append(list, role+" thinking")
			}
		}
	}
	return list
}

// alike leaves out what differs for a reason: calls without a result, which 2.1 does not
// send, results without a call and second results, which it does not send either; what the
// runtime adds at a resume; reminders and notifications; and line ends that it adds behind texts.
func alike(list []string) (kept []string) {
	const interrupted = `"[Tool call interrupted: `
	made, answered := map[string]bool{}, map[string]bool{}
	for _, line := range list {
		switch words := strings.Fields(line); {
		case words[1] == "call":
			made[words[2]] = true
		case words[1] == "result" && !strings.Contains(line, interrupted):
			answered[words[2]] = true
		}
	}
	for _, line := range list {
		words := strings.Fields(line)
		switch {
		case words[1] == "call" && !answered[words[2]],
			words[1] == "result" && (!made[words[2]] || slices.Contains(kept, line) || strings.Contains(line, interrupted)),
			strings.HasPrefix(line, `user "<system-reminder>`), strings.HasPrefix(line, `user "<task-notification>`),
			line == `user "[reminder omitted]"`, // the corpus has this in their place
			line == `assistant "No response requested."`, line == `user "Continue from where you left off."`:
			continue
		}
		kept = append(kept, strings.ReplaceAll(line, `\n"`, `"`))
	}
	return kept
}

// TestSent holds what is read of each folder against what Claude Code sent when it resumed
// the session with a new prompt. A folder of the time after that goes on with the answer.
func TestSent(t *testing.T) {
	for name := range verdicts {
		if _, err := os.Stat(filepath.Join(corpus, name+".requests.jsonl")); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var roots [][]string
			for _, tree := range filled(t, open(t, recorded(t, name, t.TempDir()))) {
				roots = append(roots, alike(stored(t, tree.Root())))
			}
			for _, list := range sent(t, name) {
				list = alike(list)
				before := list[:len(list)-1] // the last message is the new prompt
				ok := slices.ContainsFunc(roots, func(root []string) bool {
					return slices.Equal(root, before) || len(root) > len(list) && slices.Equal(root[:len(list)], list)
				})
				if !ok {
					t.Errorf("-sent +read:\n%s", cmp.Diff(list, roots[0]))
				}
			}
		})
	}
}
