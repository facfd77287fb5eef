package copilot_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// snapshot are the files of a folder, with their modes and times.
func snapshot(t storetest.Tester, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		info, err := e.Info()
		files[name] = string(text)
		if err == nil {
			files[name+" (mode and time)"] = info.Mode().String() + info.ModTime().String()
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return files
}

// repaired repairs a folder, sees to it that a second repair is idle, and hands it to look; then an undo gives
// what was there.
func repaired(t storetest.Tester, home string, look func(receipt *repair.Receipt), allow ...string) {
	t.Helper()
	before := snapshot(t, home)
	plan, receipt, err := repairtest.Repair(home, allow...)
	if err != nil || receipt == nil {
		t.Fatalf("nothing was repaired: %v, %+v", err, plan)
	}
	if len(receipt.LeftOut) > 0 || len(plan.Refused) > 0 {
		t.Fatalf("left out: %+v, %+v", receipt.LeftOut, plan.Refused)
	}
	after := snapshot(t, home)
	if again, second, err := repairtest.Repair(home, allow...); err != nil || second != nil {
		t.Fatalf("a second repair has something to do: %v, %+v", err, again.Trees)
	}
	if diff := cmp.Diff(after, snapshot(t, home)); diff != "" {
		t.Fatalf("a second repair changed something: %s", diff)
	}
	look(receipt)
	if _, err := repairtest.Undo(home, receipt.Path()); err != nil {
		t.Fatalf("%v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, home)); diff != "" {
		t.Fatalf("undo gives something else: %s", diff)
	}
}

// TestAPlanHoldsNoText: what a plan puts back from a backup, or from another place in the line, it names.
func TestAPlanHoldsNoText(t *testing.T) {
	plan, _, err := repairtest.Repair(recorded(t, "recovered-split-line", t.TempDir()))
	if err != nil || plan.IsEmpty() {
		t.Fatalf("%v: %+v", err, plan)
	}
	text, err := json.Marshal(plan)
	if err != nil || strings.Contains(string(text), "completed with exit code") || !strings.Contains(string(text), "backup-before-recovery") {
		t.Errorf("%v: %s", err, text)
	}
	home := recorded(t, "plain", t.TempDir())
	files, _ := filepath.Glob(filepath.Join(home, "session-state", "*", "events.jsonl"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	prompt := regexp.MustCompile(`("type":"user.message","data":\{"content":)("[^"]+")`)
	said := string(prompt.FindSubmatch(whole)[2])
	if err := os.WriteFile(files[0], prompt.ReplaceAll(whole, []byte("${1}null")), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, _, err = repairtest.Repair(home)
	if err != nil || plan.IsEmpty() {
		t.Fatalf("%v: %+v", err, plan)
	}
	if text, err = json.Marshal(plan); err != nil || strings.Contains(string(text), strings.Trim(said, `"`)) {
		t.Errorf("%v: %s", err, text)
	}
	if after, _ := os.ReadFile(files[0]); string(after) != string(whole) {
		t.Errorf("%s\nbecame\n%s", whole, after)
	}
}

// TestKeptLines: of the lines that only the backup has, a repair puts those of results back. They may
// have lost the lines before them as well.
func TestKeptLines(t *testing.T) {
	for name, tt := range map[string]struct {
		cut          func(lines []string) []string
		before, then int
	}{
		"one of two": {func(lines []string) []string { return slices.Delete(lines, 28, 29) }, 2, 1},
		"all of it":  {func(lines []string) []string { return append(lines[:8], lines[8][:20]) }, 29, 26},
	} {
		t.Run(name, func(t *testing.T) {
			home := recorded(t, "recovered-split-line", t.TempDir())
			files, _ := filepath.Glob(filepath.Join(home, "session-state", "*", "events.jsonl"))
			whole, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], []byte(strings.Join(tt.cut(strings.SplitAfter(string(whole), "\n")), "")), 0o600); err != nil {
				t.Fatal(err)
			}
			kept := func() (n int) {
				for _, f := range storetest.Findings(t, home) {
					n += strings.Count(f, "SC027")
				}
				return n
			}
			before := kept()
			repaired(t, home, func(*repair.Receipt) {
				if then := kept(); before != tt.before || then != tt.then {
					t.Errorf("%d lines, and %d after the repair", before, then)
				}
			}, "lossy", "prune", "guesses")
		})
	}
}

// TestRecordedPairs: what a repair leaves is sent as what was repaired by hand and resumed by the program.
func TestRecordedPairs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus, "pairs.json"))
	if err != nil {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus/copilot-cli)")
	}
	var pairs map[string][]string
	if err := json.Unmarshal(text, &pairs); err != nil {
		t.Fatal(err)
	}
	for damaged, states := range pairs {
		t.Run(damaged, func(t *testing.T) {
			home := recorded(t, damaged, t.TempDir())
			if damaged == "damaged-compact-split" { // nothing is lost: it is sent as the undamaged one
				repairtest.Idle(t, home, "it as it is")
				return
			}
			repaired(t, home, func(*repair.Receipt) {
				got := foretold(t, home)[0]
				var diffs []string
				for _, state := range states {
					want := sent(t, filepath.Join(corpus, state+".requests.jsonl"))
					want[0] = compacted.ReplaceAllString(want[0], "summary $1")
					if strings.HasPrefix(got[0], "summary ") {
						got[0] = strings.ReplaceAll(got[0], "\n", "")
					}
					diffs = append(diffs, cmp.Diff(want, got))
				}
				if !slices.Contains(diffs, "") {
					t.Errorf("-sent +repaired:\n%s", diffs)
				}
				if found := storetest.Findings(t, home); slices.ContainsFunc(found, func(f string) bool { return !strings.HasPrefix(f, "info") }) {
					t.Errorf("what was repaired has %q", found)
				}
			})
		})
	}
}
