package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// corpus holds databases that docker agent itself wrote, beside the module: the
// same scripts with a runtime that leaks and with one that does not.
const corpus = "../../../shared/corpus/docker-agent"

// fromCorpus copies a database with its write-ahead log, which is all that a
// killed process leaves.
func fromCorpus(t *testing.T, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "session.db")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		content, err := os.ReadFile(filepath.Join(corpus, name) + suffix)
		if os.IsNotExist(err) && suffix != "" {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func needCorpus(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("the corpus of recorded databases is not beside the module")
	}
}

var scripts = []string{
	"clean", "single", "notext", "nested", "two-transfers", "same-agent-twice", "handoff-transfer", "err-child", "kill-child",
}

// TestLeakyCorpusNamesExactlyTheRowsThatTheFixedOneLacks compares the root
// sessions of both runs.
func TestLeakyCorpusNamesExactlyTheRowsThatTheFixedOneLacks(t *testing.T) {
	needCorpus(t)
	for _, name := range scripts {
		t.Run(name, func(t *testing.T) {
			path := fromCorpus(t, "leaky/"+name+".db")
			leaky, fixed := rootItems(t, path), rootItems(t, fromCorpus(t, "fixed/"+name+".db"))
			var want []int
			for i, item := range leaky {
				if n := slices.Index(fixed, item); n >= 0 {
					fixed = slices.Delete(fixed, n, n+1)
				} else {
					want = append(want, i)
				}
			}
			var got []int
			for _, f := range checkFile(t, path, store.Options{}).Findings {
				if isLeak(f.Rule) {
					got = append(got, f.Items...)
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || len(fixed) > 0 {
				t.Errorf("leaked items, want (-), got (+):\n%s%d items of the fixed one are missing", diff, len(fixed))
			}
		})
	}
}

// rootItems describes the items of the only root session, without ids of
// sessions and times.
func rootItems(t *testing.T, path string) []string {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	for tree, err := range o.Trees(t.Context()) {
		if err == nil {
			err = o.Fill(t.Context(), tree)
		}
		if err != nil {
			t.Fatal(err)
		}
		var items []string
		for i := range tree.Root().Items {
			items = append(items, describe(&tree.Root().Items[i]))
		}
		return items
	}
	t.Fatal("no session")
	return nil
}

func describe(it *session.Item) string {
	text := fmt.Sprint(it.Kind, " ", it.Role, " ", it.Agent(), " ", it.Body.Text, " ", it.Body.Reasoning)
	for _, c := range it.Calls {
		text += fmt.Sprint(" call ", c.ID, c.Name, c.Args)
	}
	for _, r := range it.Results {
		text += fmt.Sprint(" result ", r.CallID, r.Text)
	}
	return text
}

func TestFixedCorpusIsClean(t *testing.T) {
	needCorpus(t)
	for _, name := range scripts {
		got := serious(checkFile(t, fromCorpus(t, "fixed/"+name+".db"), store.Options{Deep: true}))
		want := ""
		if name == "kill-child" {
			want = "SC101" // the delegation was never answered
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", name, got, want)
		}
	}
}

func TestOtherCorpusHasExactlyItsFindings(t *testing.T) {
	needCorpus(t)
	for name, want := range map[string]string{
		"cancel-during-tool":      "SC101 error", // both calls of one message
		"compaction-in-child":     "SC702 error, SC721 warning",
		"reasoning-only-child":    "SC720 info",
		"stream-error-after-text": "SC407 info",
	} {
		r := checkFile(t, fromCorpus(t, "other/"+name+".db"), store.Options{})
		var got []string
		for _, f := range r.Findings {
			got = append(got, f.Rule.ID+" "+f.Severity.String())
		}
		slices.Sort(got)
		if text := strings.Join(slices.Compact(got), ", "); text != want {
			t.Errorf("%s: found %s, want %s", name, text, want)
		}
	}
}

// serious lists the rules that found something at warning or error.
func serious(r *check.Result) string {
	var ids []string
	for _, f := range r.Findings {
		if f.Severity > rules.Info {
			ids = append(ids, f.Rule.ID)
		}
	}
	return strings.Join(ids, " ")
}
