package repair_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
)

// TestAWriterBeforeTheVerification: files have no lock, and what their writer changed between the changes
// of a repair and the check of these is no defect of the repair.
func TestAWriterBeforeTheVerification(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	claudeSessions(t, home, map[uint64]int{3: 1})
	notes, _ := filepath.Glob(filepath.Join(home, "projects", "*", "*", "subagents", "agent-*.meta.json"))
	if len(notes) == 0 {
		t.Fatal("the session has no sub-agent")
	}
	root := filepath.Dir(filepath.Dir(notes[0])) + ".jsonl"
	repair.AtStep(func(step string) {
		if step != "verify" {
			return
		}
		text, err := os.ReadFile(root)
		if err == nil {
			err = os.WriteFile(root, append(text, text[strings.LastIndex(strings.TrimSpace(string(text)), "\n")+1:]...), 0o600)
		}
		if err == nil { // which names a call that the lines before had not
			err = os.WriteFile(notes[0], []byte(`{"agentType":"kid","toolUseId":"toolu_new"}`), 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	})
	defer repair.AtStep(func(string) {})
	if plan, _, err := repairtest.RepairInUse(home); problem.ClassOf(err) != problem.Busy {
		t.Errorf("%v%s", err, repairtest.Told(plan))
	}
}
