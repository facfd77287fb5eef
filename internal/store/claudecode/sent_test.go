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
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/view"
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
func sent(t *testing.T, file string) (requests [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
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

// foretold are the lines of the next request of each root session, as `view --model-input` has it,
// with what it says of Claude Code's own corrections. The blocks of a message are in their order.
func foretold(t *testing.T, path string) [][]string {
	t.Helper()
	return storetest.Foretold(t, path, func(r *view.Request, _ *session.Store) (list []string) {
		var results []string // that the runtime writes
		masked := func(among []view.Masked, item int, call string) *view.Masked {
			at := slices.IndexFunc(among, func(m view.Masked) bool { return m.Item == item && m.Call == call })
			if at < 0 {
				return nil
			}
			return &among[at]
		}
		if r.Masking == nil {
			r.Masking = &view.Masking{}
		}
		for i := range r.Parts {
			p := &r.Parts[i]
			it := p.Row.Stored
			if it == nil && p.Row.Text != "" { // a summary
				list = append(list, fmt.Sprintf("user %q", p.Row.Text))
			}
			if it == nil || p.Unsent || p.Message < 0 {
				continue
			}
			role := it.Role.String()
			if it.Role == session.Tool {
				role = "user"
			}
			for _, b := range blocksOf(it) {
				switch b.Kind {
				case session.TextBlock:
					list = append(list, fmt.Sprintf("%s %q", role, it.Body.Text))
				case session.CallBlock:
					c := it.Calls[b.Nth]
					m := masked(r.Masking.Invented, p.Row.Item, c.ID)
					if slices.ContainsFunc(it.Calls[b.Nth+1:], func(o session.Call) bool { return o.ID == c.ID }) {
						m = nil // the second one is left out
					}
					if m == nil || m.Result != "" {
						list = append(list, fmt.Sprintf("%s call %s %s %s", role, c.ID, c.Name, plain(t, []byte(c.Args))))
					}
					if m != nil && m.Result != "" {
						results = append(results, fmt.Sprintf("user result %s %q", c.ID, m.Result))
					}
				case session.ResultBlock:
					if c := it.Results[b.Nth]; masked(r.Masking.Dropped, p.Row.Item, c.CallID) == nil {
						list = append(list, fmt.Sprintf("%s result %s %q", role, c.CallID, c.Text))
					}
				case session.ReasoningBlock:
					list = append(list, role+" thinking")
				}
			}
		}
		return append(list, results...)
	})
}

// blocksOf are the parts of an item; one that has none is a text, calls and results.
func blocksOf(it *session.Item) []session.Block {
	if it.Blocks != nil {
		return it.Blocks
	}
	var blocks []session.Block
	if it.Body.Text != "" {
		blocks = append(blocks, session.Block{Kind: session.TextBlock})
	}
	for n := range it.Calls {
		blocks = append(blocks, session.Block{Kind: session.CallBlock, Nth: n})
	}
	for n := range it.Results {
		blocks = append(blocks, session.Block{Kind: session.ResultBlock, Nth: n})
	}
	return blocks
}

// alike leaves out what Claude Code adds when it resumes a session, which no file holds before:
// reminders and notifications, its own turn behind a prompt that nothing answered; and line ends
// that it adds behind texts.
func alike(list []string) (kept []string) {
	for _, line := range list {
		switch {
		case strings.HasPrefix(line, `user "<system-reminder>`), strings.HasPrefix(line, `user "<task-notification>`),
			line == `user "[reminder omitted]"`, // the corpus has this in their place
			line == `assistant "No response requested."`, line == `user "Continue from where you left off."`:
			continue
		}
		kept = append(kept, strings.ReplaceAll(line, `\n"`, `"`))
	}
	return kept
}

// TestSent holds what view says of the next request of each folder against what Claude Code sent
// when it resumed the session with a new prompt: texts, calls with their arguments, results and
// thinking in their order. A folder of the time after that goes on with the answer.
func TestSent(t *testing.T) {
	for name := range verdicts {
		if _, err := os.Stat(filepath.Join(corpus, name+".requests.jsonl")); err != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			roots := foretold(t, recorded(t, name, t.TempDir()))
			for i := range roots {
				roots[i] = alike(roots[i])
			}
			for _, list := range sent(t, filepath.Join(corpus, name+".requests.jsonl")) {
				list = alike(list)
				before := list[:len(list)-1] // the last message is the new prompt
				ok := slices.ContainsFunc(roots, func(root []string) bool {
					return slices.Equal(root, before) || len(root) > len(list) && slices.Equal(root[:len(list)], list)
				})
				if !ok {
					t.Errorf("-sent +view:\n%s", cmp.Diff(list, roots[0]))
				}
			}
		})
	}
}

// TestSentOnce holds what 2.1.197 and 2.1.330 sent of a call whose id an earlier one has, and of a
// call whose result stands behind another answer. (Where nothing of a message is left, they send
// "(no content)".)
func TestSentOnce(t *testing.T) {
	const missing = "[Tool result missing due to internal error]"
	assistant := func(message string) string { return fmt.Sprintf("assistant %q", message) }
	call := func(id string) string { return "assistant call " + id + " Bash {}" }
	result := func(id, text string) string { return fmt.Sprintf("user result %s %q", id, text) }
	said := func(message string) string {
		return fmt.Sprintf(`{"id":%q,"role":"assistant","content":[{"type":"text","text":%q}]}`, message, message)
	}
	type entry struct{ kind, message string }
	for name, tt := range map[string]struct {
		lines []entry
		want  []string
	}{
		"in a later turn": {
			[]entry{{"assistant", callOf("a", "c")}, {"user", resultOf("c", "one")}, {"assistant", callOf("b", "c")}, {"user", resultOf("c", "two")}, {"assistant", said("done")}},
			[]string{call("c"), result("c", "one"), assistant("done")},
		},
		"in one message": {
			[]entry{{"assistant", callOf("a", "c")}, {"assistant", callOf("a", "c")}, {"user", resultOf("c", "one")}, {"assistant", said("done")}},
			[]string{call("c"), result("c", "one"), assistant("done")},
		},
		"the first has no result": {
			[]entry{{"assistant", callOf("a", "c")}, {"assistant", said("on")}, {"assistant", callOf("b", "c")}, {"user", resultOf("c", "two")}, {"assistant", said("done")}},
			[]string{call("c"), assistant("on"), assistant("done"), result("c", missing)},
		},
		"behind an answer": {
			[]entry{{"assistant", callOf("a", "c")}, {"assistant", said("on")}, {"user", resultOf("c", "late")}, {"assistant", said("done")}},
			[]string{call("c"), assistant("on"), assistant("done"), result("c", missing)},
		},
	} {
		for _, version := range []string{"2.1.197", "2.1.330"} {
			lines := []string{line(version, "p", "null", "user", 0, `{"role":"user","content":"go"}`)}
			for i, e := range tt.lines {
				parent := `"p"`
				if i > 0 {
					parent = fmt.Sprintf(`"l%d"`, i-1)
				}
				lines = append(lines, line(version, fmt.Sprintf("l%d", i), parent, e.kind, i+1, e.message))
			}
			want := append([]string{`user "go"`}, tt.want...)
			home := homeOf(t, lines...)
			if outlooks := storetest.Outlooks(t, home); outlooks[0] != "loses" {
				t.Errorf("%s, %s: it %s", name, version, outlooks)
			}
			if diff := cmp.Diff(want, foretold(t, home)[0]); diff != "" {
				t.Errorf("%s, %s: -sent +view:\n%s", name, version, diff)
			}
		}
	}
}

// TestSentWithStrays: Claude Code sends lines of a sub-agent that stand on the chain of its parent
// (SC701). View leaves them out of the parent's conversation, as a repair does; nothing else
// differs.
func TestSentWithStrays(t *testing.T) {
	const reported = "../../../../shared/cases/reports/leak-behind-results-claude-code"
	files, _ := filepath.Glob(filepath.Join(reported, "*.requests.jsonl"))
	if len(files) == 0 {
		t.Skip("the shared reports are not beside this checkout")
	}
	for _, file := range files {
		home := filepath.Join(t.TempDir(), "home")
		if err := os.CopyFS(home, os.DirFS(strings.TrimSuffix(file, ".requests.jsonl"))); err != nil {
			t.Skip(err)
		}
		told := foretold(t, home)
		for _, list := range sent(t, file) {
			list = alike(list)
			rest, strays := alike(told[0]), 0
			for _, line := range list[:len(list)-1] {
				switch {
				case len(rest) > 0 && rest[0] == line:
					rest = rest[1:]
				case slices.ContainsFunc(told[1:], func(child []string) bool { return slices.Contains(alike(child), line) }):
					strays++
				default:
					t.Errorf("%s is neither foretold nor a sub-agent's", line)
				}
			}
			if len(rest) > 0 || strays == 0 {
				t.Errorf("not sent: %q; lines of sub-agents: %d", rest, strays)
			}
		}
	}
}
