package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
)

// transcripts is a folder of Claude Code with so many sessions of 4 MB that are healthy, but
// for the one that was written to last but so many. All say the same at the same times.
func transcripts(t *testing.T, many, damaged int) string {
	t.Helper()
	home := t.TempDir()
	writes := player.Play(player.RandomProgram(3, 6), 3)
	for i := range writes {
		if m := writes[i].Message; m != nil && m.Role == "tool" {
			long := *m
			long.Text += strings.Repeat("a long line of a file that was read\n", 1000)
			writes[i].Message = &long
		}
	}
	paths, err := claudetest.Build(home, claudetest.Versions[2], 3, writes)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	filler := fmt.Appendf(nil, `{"type":"mode","mode":%q}`+"\n", strings.Repeat("x", 1<<16))
	for range 64 {
		lines = slices.Insert(lines, 4, filler)
	}
	text = bytes.Join(lines, nil)
	if err := errors.Join(os.RemoveAll(filepath.Dir(paths[0])), os.Mkdir(filepath.Dir(paths[0]), 0o700)); err != nil {
		t.Fatal(err)
	}
	for n := range many {
		name := filepath.Join(filepath.Dir(paths[0]), fmt.Sprintf("%08d-0000-4000-8000-000000000000.jsonl", n))
		data := text
		if n == many-1-damaged {
			data = withoutResults(lines)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// withoutResults leaves out the results of calls.
func withoutResults(lines [][]byte) (text []byte) {
	for _, line := range lines {
		if !bytes.Contains(line, []byte(`"tool_result"`)) {
			text = append(text, line...)
		}
	}
	return text
}

// A large folder of transcripts is listed from the beginnings and the ends of the files, and
// `why` reads those that were written to last. Both say so.
func TestLargeFoldersOfTranscriptsAreReadPartly(t *testing.T) {
	campaign.ShowsNoRace(t)
	const many = 30
	home := transcripts(t, many, 2)
	before := readBytes(t)
	code, list, stderr := run(t, "ls", home)
	if n := readBytes(t) - before; n > many*(100<<10)+1<<20 {
		t.Errorf("a list read %d bytes", n)
	}
	if code != 0 || stderr != "" || !strings.Contains(list, "Health was not read, nor how many items") || !strings.Contains(list, "sessctl ls --health") ||
		strings.Contains(list, "ITEMS") || strings.Contains(list, "HEALTH") || strings.Count(list, "-0000-")+strings.Count(list, "\n000000") != many {
		t.Errorf("code %d, %s\n%s", code, stderr, list)
	}
	got, healths := listedFindings(t, home)
	want, all := listedFindings(t, home, "--health")
	for _, s := range want {
		delete(s, "items")
	}
	if diff := cmp.Diff(want, got); diff != "" || healths != 0 || all != many {
		t.Errorf("%d and %d with health: %s", healths, all, diff)
	}
	if _, list, _ = run(t, "ls", home, "--sort", "items", "--limit", "2"); !strings.Contains(list, "ITEMS") {
		t.Error(list)
	}

	before = readBytes(t)
	code, said, _ := run(t, "why", home)
	if n := readBytes(t) - before; n > 160<<20 { // four times the budget: the lines for names of other sessions, and once more, the items, their texts
		t.Errorf("why read %d bytes", n)
	}
	words := strings.Join(strings.Fields(said), " ")
	left := regexp.MustCompile(`Not read (\d+) older sessions of .*: .sessctl check .*. reads all`).FindStringSubmatch(words)
	if code != 1 || left == nil || !strings.Contains(words, "00000027") || !strings.Contains(words, "newer ones resume") || strings.Contains(words, "read in full") {
		t.Fatalf("code %d, %s", code, said)
	}
	if n, _ := strconv.Atoi(left[1]); n < many/2 || n >= many-3 {
		t.Errorf("%d were not read", n)
	}
	if _, said, _ = run(t, "why", home, "00000001"); strings.Contains(said, "Not read") || !strings.Contains(said, "00000001") {
		t.Error(said)
	}
}

// readBytes reads how many bytes this process has read, of which the tests that run beside it are
// none.
func readBytes(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	var n int64
	if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
