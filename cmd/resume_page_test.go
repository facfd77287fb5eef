//go:build unix

package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
)

// TestTheWayOfTheResumePage types what docs/resume.md tells a reader to type, in a folder
// with the sample database: after the undo the store differs in nothing from what it was, and
// the backup that takes its place is the same file byte for byte.
func TestTheWayOfTheResumePage(t *testing.T) {
	campaign.ShowsNoRace(t)
	page, err := os.ReadFile(filepath.Join("..", "docs", "resume.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	store, original := filepath.Join(folder, "session.db"), filepath.Join(folder, "original")
	if out, err := exec.Command("go", "run", "../internal/tools/demo", store).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before, err := os.ReadFile(store)
	if err != nil || os.WriteFile(original, before, 0o600) != nil {
		t.Fatal(err)
	}
	typed := func(script string) {
		t.Helper()
		shell := exec.Command("sh", "-ec", script)
		shell.Dir = folder
		shell.Env = append(os.Environ(), "SESSCTL_YES=true", "HOME="+folder) // nobody is there to be asked
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, script, out)
		}
	}
	steps := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)\n```\n(.*?)```").FindAllSubmatch(page, -1) {
		script := string(block[1])
		switch {
		case strings.HasPrefix(script, "sessctl why"): // it has scripts of its own
			steps["why"]++
		case strings.HasPrefix(script, "sessctl repair"):
			typed(script)
			typed("sessctl check session.db; ! sessctl diff original session.db")
			steps["repair"]++
		case strings.HasPrefix(script, "sessctl undo"):
			typed(withTheTimeOf(t, store, script))
			typed("sessctl diff original session.db")
			steps["undo"]++
		default:
			typed(withTheTimeOf(t, store, script))
			steps["backup"]++
		}
	}
	after, err := os.ReadFile(store)
	if err != nil || !bytes.Equal(after, before) {
		t.Errorf("the backup is not the store as it was (%v)", err)
	}
	if len(steps) != 4 {
		t.Errorf("the page has the steps %v", steps)
	}
}

// withTheTimeOf puts the time of the one repair of a store in the place of that in a script.
func withTheTimeOf(t *testing.T, store, script string) string {
	t.Helper()
	receipts, _ := filepath.Glob(store + ".sessctl-*.receipt.json")
	if len(receipts) != 1 {
		t.Fatalf("the receipts are %v", receipts)
	}
	name := strings.TrimSuffix(filepath.Base(receipts[0]), ".receipt.json")
	return regexp.MustCompile(`session\.db\.sessctl-\d{8}T\d{6}Z`).ReplaceAllString(script, name)
}
