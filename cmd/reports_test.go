package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// reported are public reports, rebuilt (../shared/cases/reports): what check says of them above
// info, one word a rule, where that is settled; and whether a repair changes the store.
var reported = map[string]struct {
	found  string
	change bool
}{
	"adk-app-state-broken":                   {found: "error SC007"},
	"adk-go-result-without-call":             {found: "warning SC103, warning SC723, warning SC723"},
	"adk-planned-result-without-its-version": {found: "error SC101", change: true},
	"adk-python-nan-in-state":                {},
	"adk-result-without-call":                {found: "warning SC103", change: true},
	"adk-two-results-long-running":           {found: "warning SC107, warning SC107"},
	"adk-wrong-typed-column":                 {found: "error SC010, error SC010", change: true},
	"cc-empty":                               {found: "warning SC020"},
	"cc-empty-text-call":                     {},
	"cc-image-empty-caption-old":             {found: "error SC402", change: true},
	"cc-nul-before-record":                   {found: "error SC010", change: true},
	"cc-nul-char":                            {found: "error SC309, warning SC609"},
	"cc-svg-result":                          {found: "error SC309, error SC607"},
	"cc-thinking-emptied":                    {found: "error SC309, error SC503"},
	"oc-big-image":                           {found: "error SC309, warning SC608"},
	"oc-foreign-signature":                   {found: "error SC309, warning SC504"},
	"crush-reasoning-only":                   {found: "error SC309, error SC401, warning SC301", change: true},
	"cc-retry-under-progress":                {found: "warning SC021"},
	"cc-moved-dir":                           {},
	"oc-id-wrap":                             {found: "warning SC310"},
	"cc-raw-newline":                         {found: "error SC010", change: true},
	"cc-two-on-line":                         {found: "error SC010", change: true},
	"cc-splice-result":                       {change: true},
	"cc-wrong-file":                          {found: "warning SC702", change: true},
	"claude-code-two-texts-one-id":           {found: "warning SC011"},
	"crush-late-result-is-sent":              {found: "error SC104", change: true},
	"docker-agent-plain-array":               {found: "error SC010"},
	"goose-fork-with-worker":                 {},
	"goose-rolled-back":                      {change: true},
	"index-page":                             {found: "error SC001"},
	"kagent-approval-open":                   {},
	"leak-behind-results-claude-code":        {found: "error SC701", change: true},
	"leak-crush-worker-in-parent":            {found: "error SC702", change: true},
	"opencode-own-parent":                    {found: "error SC706", change: true},
	"opencode-part-array":                    {change: true},
	"opencode-rolled-back":                   {change: true},
	"spring-compaction-lost-history":         {found: "warning SC011, warning SC022, warning SC726"},
	"spring-empty-answer-old-tables":         {found: "error SC401", change: true},
}

// TestReports takes every report through check, why, repair and undo: none of them ends with
// exit code 4, and the undo gives back what there was.
func TestReports(t *testing.T) {
	campaign.ShowsNoRace(t)
	const reports = "../../shared/cases/reports"
	names, err := os.ReadDir(reports)
	if err != nil {
		t.Skip("the reports are not here")
	}
	for _, name := range names {
		stores, _ := filepath.Glob(filepath.Join(reports, name.Name(), "*"))
		for _, store := range stores {
			base := filepath.Base(store)
			if strings.HasSuffix(base, ".repaired.db") || !name.IsDir() || regexp.MustCompile(`\.(txt|jsonl)$|-(?:wal|shm)$`).MatchString(base) {
				continue
			}
			t.Run(name.Name()+"/"+base, func(t *testing.T) { takeThrough(t, name.Name(), store) })
		}
	}
}

// TestForkIsItsOwnSession: a fork whose calls name the original's sub-session is counted, and
// answered for by its name.
func TestForkIsItsOwnSession(t *testing.T) {
	from := "../../shared/cases/reports/goose-fork-with-worker/copied-with-worker.db"
	if _, err := os.Stat(from); err != nil {
		t.Skip("the reports are not here")
	}
	path := copied(t, from)
	if _, out, stderr := run(t, "check", path); !strings.Contains(out, "No findings in 2 sessions") {
		t.Errorf("check: %s%s", out, stderr)
	}
	for id, sent := range map[string]string{"20261122_1": "8 of 8", "20261122_3": "11 of 11"} {
		if _, out, stderr := run(t, "why", path, id); !strings.Contains(out, "Session   "+id) || !strings.Contains(out, "Messages  "+sent+" would be sent\n") || stderr != "" {
			t.Errorf("why %s: %s%s", id, out, stderr)
		}
	}
}

// TestMovedFolder: in the usual place, a session whose folder was moved is told with the folder in
// which it resumes.
func TestMovedFolder(t *testing.T) {
	from := "../../shared/cases/reports/cc-moved-dir/projects"
	if _, err := os.Stat(from); err != nil {
		t.Skip("the reports are not here")
	}
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Dir(copied(t, from)))
	for _, args := range [][]string{{"why"}, {"check", "--format", "json"}} {
		if _, out, stderr := run(t, args...); !strings.Contains(strings.Join(strings.Fields(out), " "), "Claude Code finds this session in /srv/demo/proj only") || !strings.Contains(out, "/srv/other/proj") {
			t.Errorf("%s: %s%s", args[0], out, stderr)
		}
	}
}

// TestRefusedBlocks: what a provider refused leaves the request with --allow lossy, and nothing
// is found then; an undo gives it back.
func TestRefusedBlocks(t *testing.T) {
	campaign.ShowsNoRace(t)
	for name, store := range map[string]string{
		"cc-nul-char": "projects", "cc-svg-result": "projects", "cc-thinking-emptied": "projects",
		"oc-big-image": "opencode.db", "oc-foreign-signature": "opencode.db",
	} {
		t.Run(name, func(t *testing.T) {
			from := filepath.Join("../../shared/cases/reports", name, store)
			if _, err := os.Stat(from); err != nil {
				t.Skip("the reports are not here")
			}
			path := copied(t, from)
			before := saidOf(t, path)
			if code, out, stderr := run(t, "repair", path, "--yes", "--assume-dead", "--allow", "lossy"); code != 0 {
				t.Fatalf("repair: %d %s%s", code, out, stderr)
			}
			if code, out, stderr := run(t, "check", path, "--severity", "warning"); code != 0 || strings.Contains(out, "warning SC") {
				t.Errorf("check: %d %s%s", code, out, stderr)
			}
			receipts, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.receipt.json"))
			if code, out, stderr := run(t, "undo", receipts[0], "--yes"); code != 0 || saidOf(t, path) != before {
				t.Errorf("undo: %d %s%s", code, out, stderr)
			}
		})
	}
}

func takeThrough(t *testing.T, name, from string) {
	t.Helper()
	want, settled := reported[name]
	path := copied(t, from)
	code, out, stderr := run(t, "check", path, "--format", "json", "--severity", "warning")
	if code == 4 || strings.Contains(stderr, "Please report") {
		t.Fatalf("check: %d %s", code, stderr)
	}
	var report struct {
		Findings []struct{ Rule, Severity string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	var found []string
	for _, f := range report.Findings {
		if f.Severity != "info" {
			found = append(found, f.Severity+" "+f.Rule)
		}
	}
	slices.Sort(found)
	if got := strings.Join(found, ", "); settled && want.found != "" && got != want.found || settled && !want.change && want.found == "" && got != "" {
		t.Errorf("check finds %q, want %q\n%s", got, want.found, out)
	}
	if code, _, stderr := run(t, "why", path); code == 4 || strings.Contains(stderr, "crashed") {
		t.Errorf("why: %d %s", code, stderr)
	}
	before := saidOf(t, path)
	code, out, stderr = run(t, "repair", path, "--yes", "--assume-dead", "--allow", "unknown-form")
	if code == 4 || strings.Contains(out+stderr, "Please report") {
		t.Fatalf("repair: %d %s%s", code, out, stderr)
	}
	receipts, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.receipt.json"))
	if settled && want.change != (len(receipts) > 0) {
		t.Errorf("repair: %d %s%s", code, out, stderr)
	}
	for _, receipt := range receipts {
		if code, out, stderr := run(t, "undo", receipt, "--yes"); code != 0 {
			t.Errorf("undo: %d %s%s", code, out, stderr)
		} else if after := saidOf(t, path); after != before {
			t.Errorf("after the undo:\n%s\nbefore:\n%s", after, before)
		}
	}
}

// copied is a writable copy of a store with the files beside it.
func copied(t *testing.T, from string) string {
	t.Helper()
	folder := t.TempDir()
	names, _ := filepath.Glob(from + "*")
	for _, name := range names {
		err := filepath.WalkDir(name, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			to := filepath.Join(folder, strings.TrimPrefix(path, filepath.Dir(from)))
			if e.IsDir() {
				return os.MkdirAll(to, 0o700)
			}
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(to, text, 0o600)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, filepath.Base(from))
}

// setByTriggers is what Crush's triggers set by the clock, in an undo, too (docs/stores/crush.md).
var setByTriggers = regexp.MustCompile(`"updated(?:_at)?":(?:"[^"]*"|\d+),?`)

// saidOf is all that an export has of a store.
func saidOf(t *testing.T, path string) string {
	t.Helper()
	_, out, _ := run(t, "export", path)
	if strings.Contains(out[:min(len(out), 200)], `"kind":"crush"`) {
		out = setByTriggers.ReplaceAllString(out, "")
	}
	return out
}
