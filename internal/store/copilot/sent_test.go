package copilot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/view"
)

// answerOf is a result in a line: what stands in for one is told apart.
func answerOf(call, text string) string {
	switch {
	case strings.HasPrefix(text, "The execution of this tool, or"):
		text = "PLACEHOLDER"
	case strings.HasPrefix(text, "Tool execution was interrupted before"), strings.HasPrefix(text, "[sessctl] No result was recorded"):
		text = "INTERRUPTED"
	}
	return fmt.Sprintf("result %s %q", call, strings.TrimSpace(text)) // chat completions get it without white space around it
}

// textIn is a text in a line, "" for none. Nobody minds the white space around it.
func textIn(role, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return fmt.Sprintf("%s %q", role, text)
}

// sent are the messages of the first recorded request, a line each part, without the new prompt.
func sent(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
			CallID  string                `json:"tool_call_id"`
			Calls   []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &r); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		var parts []struct {
			Type, Text, ID string
			Content        string
			CallID         string `json:"tool_use_id"`
		}
		var said string
		if json.Unmarshal(m.Content, &said) != nil {
			if err := json.Unmarshal(m.Content, &parts); err != nil {
				t.Fatal(err)
			}
		}
		if m.Role == "tool" {
			for _, p := range parts {
				said += p.Text
			}
			list = append(list, answerOf(m.CallID, said))
			continue
		}
		list = append(list, textIn(m.Role, said))
		for _, p := range parts {
			switch p.Type {
			case "text":
				list = append(list, textIn(m.Role, p.Text))
			case "tool_use":
				list = append(list, "call "+p.ID)
			case "tool_result":
				list = append(list, answerOf(p.CallID, p.Content))
			}
		}
		for _, c := range m.Calls {
			list = append(list, "call "+c.ID)
		}
	}
	list = slices.DeleteFunc(list, func(line string) bool { return line == "" })
	if last := len(list) - 1; last >= 0 && list[last] == `user "go on (please)"` {
		list = list[:last]
	}
	return list
}

// foretold are the lines of the next request of each session, as `view --model-input` has it, with what it
// says of Copilot CLI's own corrections. Results stand behind their message, in the order of its calls.
func foretold(t *testing.T, path string) [][]string {
	t.Helper()
	return storetest.Foretold(t, path, func(r *view.Request, _ *session.Store) (list []string) {
		if r.Masking == nil {
			r.Masking = &view.Masking{}
		}
		open := 0 // calls that wait for the lines of their results
		answer := func(call, text string) {
			at := slices.IndexFunc(list[len(list)-open:], func(line string) bool { return line == "answer "+call })
			if at >= 0 {
				list[len(list)-open+at] = answerOf(call, text)
			}
		}
		for i := range r.Parts {
			p := &r.Parts[i]
			it := p.Row.Stored
			if it == nil && p.Row.Text != "" { // a summary: all prompts before it come with it
				list, open = append(list, "summary "+p.Row.Text), 0
			}
			if it == nil || p.Unsent || p.Message < 0 {
				continue
			}
			if it.Role == session.Tool {
				for _, res := range it.Results {
					if !slices.ContainsFunc(r.Masking.Dropped, func(m view.Masked) bool { return m.Item == p.Row.Item }) {
						answer(res.CallID, res.Text)
					}
				}
				continue
			}
			list, open = append(list, textIn(it.Role.String(), it.Body.Text)), 0
			for _, c := range it.Calls {
				list = append(list, "call "+c.ID)
			}
			for _, c := range it.Calls {
				list, open = append(list, "answer "+c.ID), open+1
			}
			for _, m := range r.Masking.Invented {
				if m.Item == p.Row.Item {
					answer(m.Call, m.Result)
				}
			}
		}
		return slices.DeleteFunc(list, func(line string) bool { return line == "" })
	})
}

// compacted is a request that begins with the prompts before a compaction, and the summary.
var compacted = regexp.MustCompile(`^user "\(compaction\) .*<summary>(.*)</summary>"$`)

// TestSent holds what view says of the next request of each folder against what 1.0.102 sent when it
// resumed the session.
func TestSent(t *testing.T) {
	files, n := names(t), 0
	for _, file := range files {
		requests, _ := filepath.Glob(filepath.Join(corpus, file+".*requests.jsonl"))
		for _, request := range requests {
			of := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(request), file+"."), "requests.jsonl")
			written := strings.HasSuffix(file, "1.0.24") && !strings.HasPrefix(file, "damaged-") && !strings.HasPrefix(file, "repaired-")
			if of == "by-1.0.24." || written { // sent by 1.0.24
				continue
			}
			n++
			t.Run(file+" "+of, func(t *testing.T) {
				home := recorded(t, file, t.TempDir())
				if of != "" {
					all, _ := filepath.Glob(filepath.Join(home, "session-state", strings.Trim(of, ".")+"*"))
					home = all[0]
				}
				want, got := sent(t, request), append(foretold(t, home), nil)[0]
				if len(want) > 0 {
					want[0] = compacted.ReplaceAllString(want[0], "summary $1")
				}
				if len(got) > 0 && strings.HasPrefix(got[0], "summary ") {
					got[0] = strings.ReplaceAll(got[0], "\n", "")
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("-sent +view:\n%s", diff)
				}
			})
		}
	}
	if n < 60 {
		t.Errorf("%d requests were foretold", n)
	}
}

// TestCleanIsAccepted: of a session without findings, view does not say that its request is refused.
func TestCleanIsAccepted(t *testing.T) {
	for _, name := range names(t) {
		if len(verdicts[name]) > 0 {
			continue
		}
		storetest.Foretold(t, recorded(t, name, t.TempDir()), func(r *view.Request, _ *session.Store) []string {
			if refused := r.FirstRefusal(); refused != nil {
				t.Errorf("%s: %+v", name, refused)
			}
			return nil
		})
	}
}
