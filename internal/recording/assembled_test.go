package recording_test

import (
	"os"
	"path/filepath"
	"regexp"

	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// The sessions of a recording have the shape of those that the runtime without
// the leak stored, whichever runtime was recorded. Of a child that never
// completed that runtime stored nothing: the events hold what was streamed of it.
func TestSessionsAreAsTheFixedRuntimeStoredThem(t *testing.T) {
	for name, streamed := range map[string][]string{
		"clean": nil, "single": nil, "notext": nil, "nested": nil, "two-transfers": nil, "same-agent-twice": nil, "handoff-transfer": nil,
		"err-child": {
			`message assistant "worker" "starting" call[w1 shell {"cmd":"ls"}] unfinished`,
			`message tool "worker" "" result[w1 "output of {\"cmd\":\"ls\"}" error=false] unfinished`,
		},
		"kill-child": {
			`message assistant "worker" "starting" call[w1 shell {"cmd":"ls"}] unfinished`,
			`message tool "worker" "" result[w1 "output of {\"cmd\":\"ls\"}" error=false] unfinished`,
			`message assistant "worker" "partial answer that never" unfinished`,
		},
	} {
		for _, runtime := range []string{"leaky", "fixed"} {
			t.Run(runtime+"/"+name, func(t *testing.T) {
				stream, err := os.ReadFile(corpus(t, runtime, name+".events.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				trees := record(t, stream, recording.Auto).Trees
				if len(trees) != 1 {
					t.Fatalf("%d trees", len(trees))
				}
				want := stored(t, storetest.Copy(t, corpus(t, "fixed", name+".db"), t.TempDir()), "")
				if diff := cmp.Diff(withoutIDs(said(want)), withoutIDs(said(trees[0]))); diff != "" {
					t.Errorf("fixed runtime (-), recording (+):\n%s", diff)
				}
				var lost []string
				for _, s := range trees[0].Sessions[1:] {
					for i := range s.Items {
						if !referred(trees[0], s.ID) {
							lost = append(lost, sayItem(&s.Items[i]))
						}
					}
				}
				if diff := cmp.Diff(streamed, lost); diff != "" {
					t.Errorf("of the child that never completed, want (-), got (+):\n%s", diff)
				}
			})
		}
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func withoutIDs(text string) string { return uuid.ReplaceAllString(text, "ID") }

func corpus(t *testing.T, runtime, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "corpus", "docker-agent", runtime, name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	return path
}
