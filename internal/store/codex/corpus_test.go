package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/codex"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/view"
)

const corpus = "../../../../shared/corpus/codex"

// verdicts are what is right about each recorded folder, as its README has it.
var verdicts = map[string][]string{
	"plain": nil, "tools": nil, "apply-patch": nil, "subagent": nil, "subagents-parallel": nil, "subagent-forked-context": nil,
	"kill-stream": nil, "interrupt": nil, "api-error": nil, "fork": nil, "compact": nil, "tools-0.63.0": nil, "kill-tool-0.63.0": nil,
	"kill-tool":                 {"warning SC101 call_afd7cd40T0N1"},
	"kill-child":                {"info SC101 call_83d73c3fT0N0", "warning SC101 call_e773e3cdT1N0"},
	"torn-tail":                 {"warning SC020 "},
	"damaged-dup-output":        {"error SC106 call_a6ddb770T1N0", "warning SC028 "},
	"repair-dup-drop/before":    {"error SC106 call_a6ddb770T1N0"},
	"repair-dup-drop/after":     nil,
	"repair-kill-append/before": {"warning SC101 call_afd7cd40T0N1"},
	"repair-kill-append/after":  nil, // its line was given the time of the prompt
}

// trees are how many trees and sessions the folders with several have.
var trees = map[string]string{"subagent": "1 of 2", "subagents-parallel": "1 of 3", "subagent-forked-context": "1 of 2", "kill-child": "1 of 2", "fork": "2 of 2"}

// recorded is a copy of a folder that Codex wrote.
func recorded(t *testing.T, name, folder string) string {
	t.Helper()
	from := filepath.Join(corpus, name)
	if _, err := os.Stat(from); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/codex)")
	}
	to := filepath.Join(folder, filepath.Base(name))
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// rollouts are the files of a folder.
func rollouts(t storetest.Tester, home string) (files []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rollouts in %s: %v", home, err)
	}
	return files
}

func TestVerdicts(t *testing.T) {
	for name, want := range verdicts {
		t.Run(name, func(t *testing.T) {
			home := recorded(t, name, t.TempDir())
			if diff := cmp.Diff(want, storetest.Findings(t, home)); diff != "" {
				t.Error(diff)
			}
			_, sessions := storetest.Opened(t, home)
			if many := fmt.Sprint(len(storetest.Outlooks(t, home)), " of ", len(sessions)); trees[name] != "" && many != trees[name] {
				t.Errorf("%s, want %s", many, trees[name])
			}
		})
	}
	all, _ := filepath.Glob(filepath.Join(corpus, "*", "sessions"))
	for _, path := range all {
		if _, told := verdicts[filepath.Base(filepath.Dir(path))]; !told {
			t.Errorf("%s has no verdict", path)
		}
	}
}

func TestRecordedConform(t *testing.T) {
	for name := range verdicts {
		storetest.Run(t, codex.Kind, storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string { return recorded(t, name, folder) }})
	}
}

// TestRepairedAsCodexResumed: the repair of two outputs of one call gives what Codex resumed, to the
// byte. Nothing is written to the index.
func TestRepairedAsCodexResumed(t *testing.T) {
	home, want := recorded(t, "repair-dup-drop/before", t.TempDir()), recorded(t, "repair-dup-drop/after", t.TempDir())
	before := storetest.Snapshot(t, home)
	if _, receipt, err := repairtest.Repair(home); err != nil || receipt == nil {
		t.Fatalf("%v", err)
	}
	for name, is := range storetest.Snapshot(t, home) {
		if strings.Contains(name, ".sqlite") && is != before[name] {
			t.Errorf("%s was changed", name)
		}
	}
	for i, file := range rollouts(t, home) {
		is, _ := os.ReadFile(file)
		should, _ := os.ReadFile(rollouts(t, want)[i])
		if diff := cmp.Diff(strings.Split(string(should), "\n"), strings.Split(string(is), "\n")); diff != "" {
			t.Errorf("-resumed +repaired:\n%s", diff)
		}
	}
}

// input is an item of a recorded request.
type input struct {
	Type, Role, Name, Arguments, Input string
	CallID                             string `json:"call_id"`
	Content, Output                    json.RawMessage
}

// texts are those of a content, which is a text or a list of parts.
func texts(raw json.RawMessage) string {
	var text string
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	_ = json.Unmarshal(raw, &parts)
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// sent are the items of the recorded requests, without the developer's, of which Codex adds one.
func sent(t *testing.T, file string) (requests [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct{ Input []input }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, x := range r.Input {
			switch {
			case x.Role == "developer":
			case x.Type == "message":
				list = append(list, fmt.Sprintf("%s %q", x.Role, texts(x.Content)))
			case x.Type == "reasoning":
				list = append(list, "reasoning")
			case strings.HasSuffix(x.Type, "_output"):
				list = append(list, fmt.Sprintf("result %s %q", x.CallID, texts(x.Output)))
			default:
				list = append(list, fmt.Sprintf("call %s %s %s", x.CallID, x.Name, x.Arguments+x.Input))
			}
		}
		requests = append(requests, list)
	}
	return requests
}

// foretold are the items of the next request, as `view --model-input` has them, with what it says
// of Codex's own corrections.
func foretold(r *view.Request, _ *session.Store) (list []string) {
	masked := func(among []view.Masked, item int) *view.Masked {
		if n := slices.IndexFunc(among, func(m view.Masked) bool { return m.Item == item }); n >= 0 {
			return &among[n]
		}
		return nil
	}
	if r.Masking == nil {
		r.Masking = &view.Masking{}
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		it := p.Row.Stored
		switch {
		case it == nil || p.Unsent || p.Message < 0 || it.Role == session.System:
		case len(it.Calls) > 0:
			list = append(list, fmt.Sprintf("call %s %s %s", it.Calls[0].ID, it.Calls[0].Name, it.Calls[0].Args))
			if m := masked(r.Masking.Invented, p.Row.Item); m != nil {
				list = append(list, fmt.Sprintf("result %s %q", m.Call, m.Result))
			}
		case len(it.Results) > 0:
			if masked(r.Masking.Dropped, p.Row.Item) == nil {
				list = append(list, fmt.Sprintf("result %s %q", it.Results[0].CallID, it.Results[0].Text))
			}
		case it.HasBlock(session.ReasoningBlock):
			list = append(list, "reasoning")
		default:
			list = append(list, fmt.Sprintf("%s %q", it.Role, it.Body.Text))
		}
	}
	return list
}

// TestSent holds what view says of the next request of each folder against what Codex sent when it
// resumed the thread with a new prompt. A folder of the time after that goes on with the answer.
func TestSent(t *testing.T) {
	for name := range verdicts {
		file := name + ".requests.jsonl"
		if folder, before := strings.CutSuffix(name, "/after"); before { // it was resumed when it was repaired
			file = folder + ".requests.jsonl"
		}
		t.Run(name, func(t *testing.T) {
			requests := sent(t, filepath.Join(corpus, file))
			sessions := storetest.Foretold(t, recorded(t, name, t.TempDir()), foretold)
			for _, list := range requests {
				before := list[:len(list)-1] // the last item is the new prompt
				if !slices.ContainsFunc(sessions, func(is []string) bool {
					return slices.Equal(is, before) || len(is) > len(list) && slices.Equal(is[:len(list)], list)
				}) {
					t.Errorf("-sent +view:\n%s", cmp.Diff(list, sessions[0]))
				}
			}
		})
	}
}
