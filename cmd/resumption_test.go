package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// resumption are the verdicts of `why` that are right about each session of a case: what its
// README says, or what follows from it. A case that is not here holds a damaged store, which no
// verdict is about.
var resumption = map[string]string{
	"adk-long-running-unanswered":        "waits",
	"adk-sc722-written-by-v2":            "resumes",
	"adk-text-report-loses-session":      "refused",
	"docker-agent-029/healthy.db":        "resumes",
	"docker-agent-summary-keeps-nothing": "resumes",
	"implicit-rolls-back":                "unloaded",
	"spring-root-request-omits-branches": "refused",

	"reports/adk-app-state-broken":                                     "unloaded",
	"reports/adk-go-result-without-call":                               "resumes",
	"reports/adk-planned-result-without-its-version":                   "refused",
	"reports/adk-python-nan-in-state":                                  "resumes",
	"reports/adk-result-without-call":                                  "resumes",
	"reports/adk-two-results-long-running":                             "resumes",
	"reports/adk-wrong-typed-column/sessions.db/s1":                    "unloaded",
	"reports/adk-wrong-typed-column/sessions.db/s2":                    "resumes",
	"reports/cc-char-indexed":                                          "resumes",
	"reports/cc-empty":                                                 "resumes",
	"reports/cc-empty-text-call":                                       "resumes",
	"reports/cc-image-empty-caption-old":                               "refused",
	"reports/cc-moved-dir":                                             "resumes",
	"reports/cc-nul-before-record":                                     "loses",
	"reports/cc-nul-char":                                              "refused",
	"reports/cc-raw-newline":                                           "loses",
	"reports/cc-retry-under-progress":                                  "loses",
	"reports/cc-splice-result":                                         "loses",
	"reports/cc-svg-result":                                            "refused",
	"reports/cc-thinking-emptied":                                      "refused",
	"reports/cc-two-on-line":                                           "loses",
	"reports/cc-wrong-file":                                            "resumes",
	"reports/claude-code-two-texts-one-id":                             "resumes",
	"reports/crush-late-result-is-sent":                                "refused",
	"reports/crush-reasoning-only":                                     "refused",
	"reports/goose-fork-with-worker":                                   "resumes",
	"reports/kagent-approval-open/kagent.db/PV":                        "waits",
	"reports/kagent-approval-open/kagent.db/PS":                        "resumes",
	"reports/leak-behind-results-claude-code":                          "loses",
	"reports/leak-crush-worker-in-parent/worker-in-parent.db":          "refused",
	"reports/leak-crush-worker-in-parent/worker-in-parent.repaired.db": "resumes",
	"reports/leak-goose-child-in-parent/child-in-parent.db":            "loses",
	"reports/leak-goose-child-in-parent/child-in-parent.repaired.db":   "resumes",
	"reports/no-utf8/crush-tools-messages-parts.db":                    "loses",
	"reports/oc-big-image":                                             "refused",
	"reports/oc-foreign-signature":                                     "refused",
	"reports/oc-id-wrap":                                               "loses",
	"reports/opencode-own-parent/own-parent.db":                        "loses",
	"reports/opencode-own-parent/own-parent.repaired.db":               "resumes",
	"reports/opencode-part-array":                                      "unloaded",
	"reports/spring-compaction-lost-history":                           "resumes",
	"reports/spring-empty-answer-old-tables":                           "refused",
}

// goesOn reports whether a verdict says that the provider takes the next request.
func goesOn(verdict string) bool { return verdict == "resumes" || verdict == "loses" }

// TestResumption counts the sessions of the corpora and of the cases about which `why` is wrong:
// what it calls resumed is refused, or what it calls refused goes on. The truth of a corpus is
// what its runtime sent when the session was resumed: a request whose calls and results match.
func TestResumption(t *testing.T) {
	campaign.ShowsNoRace(t)
	right, wrong := 0, map[string]int{}
	judge := func(t *testing.T, path, id string, truth bool) {
		var said struct{ Verdict string }
		_, out, stderr := run(t, "why", path, "--format", "json", "--", id)
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		switch {
		case goesOn(said.Verdict) == truth:
			right++
		default:
			wrong[fmt.Sprint("goes on: ", truth)]++
			t.Errorf("%s %s: why says %q, and the truth is that it goes on: %t", path, id, said.Verdict, truth)
		}
	}
	for _, state := range resumedStates(t) {
		t.Run(strings.TrimPrefix(state.path, shared), func(t *testing.T) {
			path := copied(t, state.path)
			for _, id := range listedIn(t, path) {
				judge(t, path, id, state.whole)
			}
		})
	}
	used := map[string]bool{}
	for _, path := range caseStores(t) {
		name := strings.TrimPrefix(path, shared+"/cases/")
		t.Run(name, func(t *testing.T) {
			store := copied(t, path)
			for _, id := range listedIn(t, store) {
				for _, key := range []string{name + "/" + id, name, filepath.Dir(name)} {
					if want := resumption[key]; want != "" {
						used[key] = true
						judge(t, store, id, goesOn(want))
						break
					}
				}
			}
		})
	}
	for key := range resumption {
		if !used[key] {
			t.Errorf("no session was asked about for %s", key)
		}
	}
	t.Logf("%d verdicts are right, %v wrong", right, wrong)
}

// listedIn are the sessions of a store, of which a part may not be readable.
func listedIn(t *testing.T, path string) (ids []string) {
	t.Helper()
	var list struct{ Sessions []struct{ ID string } }
	_, out, stderr := run(t, "ls", path, "--format", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

const shared = "../../shared"

// resumedState is a store and whether the request that its runtime made of it is whole.
type resumedState struct {
	path  string
	whole bool
}

// resumedStates are the states of the corpora whose resumption is recorded.
func resumedStates(t *testing.T) (list []resumedState) {
	t.Helper()
	files, _ := filepath.Glob(shared + "/corpus/*/*.requests.jsonl")
	late, _ := filepath.Glob(shared + "/cases/reports/crush-late-result-is-sent/*.requests.jsonl")
	if len(files) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	for _, file := range slices.Concat(files, late) {
		kind, base := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(file, ".requests.jsonl")
		whole := isWhole(t, file)
		switch _, resumed := os.Stat(base + "-resumed.db"); {
		case !slices.Contains([]string{"claude-code", "crush", "goose", "opencode", "crush-late-result-is-sent"}, kind):
		case kind == "claude-code":
			list = append(list, resumedState{filepath.Join(base, "projects"), whole})
		case kind == "opencode", strings.HasSuffix(base, ".repaired"), len(late) > 0 && file == late[0], resumed != nil && strings.HasSuffix(base, "-resumed"):
			list = append(list, resumedState{base + ".db", whole})
		case kind == "crush" && resumed == nil, kind == "goose" && resumed == nil: // of the run before the kill
			list = append(list, resumedState{base + ".db", isWhole(t, base+"-resumed.requests.jsonl")}, resumedState{base + "-resumed.db", isWhole(t, base+"-resumed.requests.jsonl")})
		}
	}
	return list
}

// caseStores are the stores of the cases.
func caseStores(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*/*.db", "reports/*/*.db", "reports/*/projects", "reports/cc-empty/s", "reports/*/damaged-*"} {
		found, _ := filepath.Glob(shared + "/cases/" + pattern)
		for _, path := range found {
			if !strings.HasSuffix(path, ".jsonl") {
				list = append(list, path)
			}
		}
	}
	return list
}

// isWhole reports whether in the last recorded request every call has its results right behind it
// and arguments in JSON, every result its call, and every message something to say: what providers
// ask for. The corpus leaves reminders out, so that a list can be empty.
func isWhole(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var last []sentMessage
	for line := range strings.Lines(string(text)) {
		var r struct {
			Aux      bool
			Messages []sentMessage
			Body     struct{ Messages []sentMessage }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if !r.Aux {
			last = slices.Concat(r.Messages, r.Body.Messages)
		}
	}
	open := map[string]bool{}
	for _, m := range last {
		if m.Role == "system" {
			continue
		}
		calls, results, says := m.parts(t)
		for _, c := range m.Calls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				return false
			}
		}
		if len(results) == 0 && len(open) > 0 || len(calls)+len(results) == 0 && !says {
			return false
		}
		for _, id := range results {
			if !open[id] {
				return false
			}
			delete(open, id)
		}
		if m.Role != "tool" && len(open) > 0 {
			return false
		}
		for _, id := range calls {
			open[id] = true
		}
	}
	return len(open) == 0 && len(last) > 0
}

// sentMessage is one of a recorded request, of the Messages or of the Chat Completions API.
type sentMessage struct {
	Role    string
	Content json.RawMessage
	CallID  string `json:"tool_call_id"`
	Calls   []struct {
		ID       string
		Function struct{ Arguments string }
	} `json:"tool_calls"`
}

// parts are the ids of its calls and results, and whether it says something besides.
func (m *sentMessage) parts(t *testing.T) (calls, results []string, says bool) {
	t.Helper()
	for _, c := range m.Calls {
		calls = append(calls, c.ID)
	}
	if m.CallID != "" {
		results = append(results, m.CallID)
	}
	var text string
	var blocks []struct {
		Type, Text, ID string
		Result         string `json:"tool_use_id"`
	}
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil {
		return calls, results, strings.TrimSpace(text) != ""
	}
	if err := json.Unmarshal(m.Content, &blocks); err != nil {
		t.Fatal(err)
	}
	says = len(blocks) == 0
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			results = append(results, b.Result)
		default:
			says = says || b.Type != "text" || strings.TrimSpace(b.Text) != ""
		}
	}
	return calls, results, says
}
