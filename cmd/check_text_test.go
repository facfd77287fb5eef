package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedSessions writes sessions with leaks of three kinds, each with its number.
func damagedSessions(n int) func(*agenttest.DB) error {
	return func(db *agenttest.DB) error {
		for i := range n {
			p := []agenttest.Program{delegation(""), nestedRun(), killedRun()}[i%3]
			p.Title = fmt.Sprint("Session ", i)
			if _, err := agenttest.WriteLeaky(db, p); err != nil {
				return err
			}
		}
		return nil
	}
}

// Forty-eight damaged sessions are a list with a line for each finding, the newest first.
func TestManyDamagedSessionsAreAList(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, file, damagedSessions(48))
	check := func(args ...string) []string {
		var out, err bytes.Buffer
		getenv := func(name string) string { return map[string]string{"COLUMNS": "80"}[name] }
		if code := cmd.Main(append([]string{"check", file}, args...), strings.NewReader(""), &out, &err, getenv); code != 1 {
			t.Fatalf("code %d: %s", code, err.String())
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	brief, full, capped := check(), check("--full"), check("--max-findings", "5")
	heading := regexp.MustCompile(`^[0-9a-f]{8}  Session (\d+) `)
	listed := func(lines []string) (numbers []string) {
		for _, line := range lines {
			if m := heading.FindStringSubmatch(line); m != nil {
				numbers = append(numbers, m[1])
			}
			if line != "" && len([]rune(line)) > 80 && !strings.HasPrefix(line, "  sessctl ") && !strings.HasPrefix(line, file[:5]) {
				t.Errorf("wider than 80: %s", line)
			}
		}
		return numbers
	}
	for name, lines := range map[string][]string{"brief": brief, "full": full} {
		numbers := listed(lines)
		if len(numbers) != 48 || numbers[0] != "47" || numbers[47] != "0" {
			t.Errorf("%s: %d sessions, %q", name, len(numbers), numbers)
		}
	}
	if text := strings.Join(brief, "\n"); strings.Count(text, "\n    → ") != 48 || !strings.Contains(text, "\n48 of 48 sessions cannot resume: ") {
		t.Errorf("not one answer for each session:\n%s", text)
	}
	if most := 5 * 48; len(brief) > most || len(full) < 2*len(brief) {
		t.Errorf("%d lines, want %d at most; %d with --full", len(brief), most, len(full))
	}
	if numbers := listed(capped); numbers[0] != "47" || !strings.Contains(strings.Join(capped, "\n"), "more sessions (--max-findings 0 lists all)") {
		t.Errorf("the cap hides the newest session or says nothing: %q", numbers)
	}
	t.Logf("%d lines, %d with --full", len(brief), len(full))
}

// TestCutFindingsSayWhatPrintsThem: where a line has no room for a finding, the end of a check says
// once what prints it, also of several stores, and only there.
func TestCutFindingsSayWhatPrintsThem(t *testing.T) {
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "a.db"), filepath.Join(folder, "b.db")}
	for _, file := range files {
		buildDB(t, file, damagedSessions(2))
	}
	stream := filepath.Join(folder, "stream.ndjson")
	lines := `{"type":"header","format":"sessctl.canonical/1"}` + "\n" + `{"type":"session","id":"s"}` + "\n" + `{"type":"item","session":"s","kind":"other kind"}` + "\n"
	if err := os.WriteFile(stream, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		columns string
		args    []string
		cuts    bool
		want    string
	}{
		{"80", files, true, "\nShortened: 4 findings (--full prints them whole)\n"},
		{"80", files[:1], true, "\nShortened: 2 findings (--full prints them whole)\n"},
		{"60", slices.Concat(files, []string{"--full"}), false, ""},
		{"80", slices.Concat(files, []string{"--full"}), false, ""},
		{"80", slices.Concat(files, []string{"--quiet"}), true, ""},
		{"80", []string{stream}, true, "\nShortened: 1 finding (--full prints it whole)\n"},
		{"200", []string{stream}, false, ""},
	} {
		var out, err bytes.Buffer
		getenv := func(name string) string { return map[string]string{"COLUMNS": tt.columns}[name] }
		cmd.Main(append([]string{"check"}, tt.args...), strings.NewReader(""), &out, &err, getenv)
		text := out.String()
		if !strings.Contains(text, tt.want) || strings.Count(text, "(--full prints ") != min(1, len(tt.want)) || strings.Contains(text, "…") != tt.cuts {
			t.Errorf("%s columns, %q:\n%s", tt.columns, tt.args, text)
		}
	}
}
