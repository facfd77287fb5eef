package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/store/storetest"
)

// TestReplayNamesExactlyWhatLeaked holds the recordings of the corpus against the
// databases that the same runs wrote: of the runtime that leaks the leaked items
// are named and nothing else, of the one that does not nothing is, but that only
// the events hold what a failed or killed worker said.
func TestReplayNamesExactlyWhatLeaked(t *testing.T) {
	corpus := filepath.Join("..", "..", "shared", "corpus", "docker-agent")
	for name, want := range map[string]struct{ leaky, fixed []string }{
		"clean":            {},
		"single":           {leaky: []string{"SC701 [2 3]"}},
		"notext":           {leaky: []string{"SC701 [2]"}},
		"nested":           {leaky: []string{"SC701 [2 3 4 5]"}},
		"two-transfers":    {leaky: []string{"SC701 [2 3]", "SC701 [6 7]"}},
		"same-agent-twice": {leaky: []string{"SC701 [2 3]", "SC701 [7 8]"}},
		"handoff-transfer": {leaky: []string{"SC701 [4 5]"}},
		"err-child":        {leaky: []string{"SC703 [2]"}, fixed: []string{"SC717 [1]"}},
		"kill-child":       {leaky: []string{"SC703 [2 3]"}, fixed: []string{"SC717 [1]"}},
	} {
		for runtime, want := range map[string][]string{"leaky": want.leaky, "fixed": want.fixed} {
			t.Run(runtime+"/"+name, func(t *testing.T) {
				events := filepath.Join(corpus, runtime, name+".events.jsonl")
				if found, err := filepath.Glob(events); err != nil || len(found) == 0 {
					t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
				}
				store := storetest.Copy(t, filepath.Join(corpus, runtime, name+".db"), t.TempDir())
				code, stdout, stderr := run(t, "replay", events, "--against", store, "--format", "ndjson")
				if wantCode := min(len(want), 1); runtime == "leaky" && code != wantCode || runtime == "fixed" && code != 0 {
					t.Errorf("exit code %d\n%s", code, stderr)
				}
				if diff := cmp.Diff(want, findingsOf(t, stdout)); diff != "" {
					t.Errorf("want (-), got (+):\n%s", diff)
				}
			})
		}
	}
}

// TestDepthTablesOfTheCorpus: the tables of the depth model are golden files.
func TestDepthTablesOfTheCorpus(t *testing.T) {
	for _, name := range []string{"single", "nested"} {
		t.Run(name, func(t *testing.T) {
			events := filepath.Join("..", "..", "shared", "corpus", "docker-agent", "leaky", name+".events.jsonl")
			if found, err := filepath.Glob(events); err != nil || len(found) == 0 {
				t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
			}
			code, got, stderr := run(t, "replay", events, "--assign-by", "depth", "--quiet")
			if code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr)
			}
			golden := filepath.Join("..", "testdata", "replay", name+".depth.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// findingsOf lists the findings of an ndjson output: the rule and the items of
// its session.
func findingsOf(t *testing.T, output string) (list []string) {
	t.Helper()
	for line := range strings.Lines(output) {
		var f struct {
			Type, Rule, Session, Key string
			Item                     int
			Related                  []struct {
				Session string
				Item    int
			}
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		if f.Type != "finding" || strings.HasPrefix(f.Key, "events/") { // which is about the recording itself
			continue
		}
		items := []int{f.Item}
		for _, r := range f.Related {
			if r.Session == f.Session {
				items = append(items, r.Item)
			}
		}
		slices.Sort(items)
		list = append(list, fmt.Sprint(f.Rule, " ", items))
	}
	return list
}
