//go:build unix

package postgres_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	difference "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
)

// TestRepairsOfRandomPrograms: whatever programs do, a repair in PostgreSQL makes of the
// sessions what that of the same rows in a file makes, and an undo gives every row back.
func TestRepairsOfRandomPrograms(t *testing.T) {
	serverFolder(t)
	for name, runtime := range runtimes {
		t.Run(name, func(t *testing.T) {
			url := database(t) // making one takes as long as everything else of a round
			for seed := range uint64(campaign.Rounds(3, 300)) {
				path := filepath.Join(t.TempDir(), "program.db")
				if err := runtime.write(path, seed); err != nil {
					t.Fatal(seed, err)
				}
				execute(t, url, "drop schema public cascade; create schema public")
				transfer(t, path, url, runtime.types, runtime.keys)
				if runtime.after != nil {
					execute(t, url, runtime.after(seed)...)
				}
				repairedAsAFile(t, url)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// said is what a command says of sessions, but for their order, which follows the rows, and
// for the numbers that the server gave out.
func said(out string) []string {
	number := regexp.MustCompile(`"seq":\d+|"seconds": [\d.e-]+|"(path|version|store)": ".*"|"bytes": \d+`)
	lines := strings.Split(number.ReplaceAllString(out, ""), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	slices.Sort(lines)
	return lines
}

// repairedAsAFile repairs a database and a file with the same rows, and undoes the former.
func repairedAsAFile(t *testing.T, url string) {
	t.Helper()
	file := twin(t, url)
	t.Chdir(t.TempDir())
	before := rowsOf(t, url)
	words := []string{"--yes", "--assume-dead", "--allow", "reorder,lossy,prune,guesses,split,waiting,unknown-form", "--fail-on", "never"}
	out, errors, code := sessctl(t, append([]string{"repair", url}, words...)...)
	if _, fileErrors, fileCode := sessctl(t, append([]string{"repair", file}, words...)...); fileCode != code {
		t.Fatalf("exit codes %d and of the file %d\n%s%s%s", code, fileCode, out, errors, fileErrors)
	}
	if code != 0 { // one that is ordered by times alone
		return
	}
	for _, words := range [][]string{{"check", "--format", "json", "--severity", "info", "--assume-dead"}, {"export"}} {
		want, _, _ := sessctl(t, append(slices.Clone(words), file)...)
		got, _, _ := sessctl(t, append(slices.Clone(words), url)...)
		if diff := difference.Diff(said(want), said(got)); diff != "" {
			t.Errorf("%s\n%s", words, diff)
		}
	}
	for _, id := range sessions(t, file) {
		alike(t, url, file, "view", "STORE", id, "--model-input")
	}
	if !strings.Contains(out, "Undo with") {
		return
	}
	if again, errors, code := sessctl(t, append([]string{"repair", url}, words...)...); code != 0 || strings.Contains(again, "Undo with") {
		t.Errorf("again: exit code %d\n%s%s", code, again, errors)
	}
	if out, errors, code := sessctl(t, "undo", url, "--yes"); code != 0 {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errors)
	}
	if now := rowsOf(t, url); now != before {
		t.Error("an undo leaves other rows")
	}
}
