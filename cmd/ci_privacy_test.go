package cmd_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/render/checks"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// No format prints what messages, calls and results say, and two print titles, as
// docs/ci.md has it.
func TestReportsHoldNoTextOfAMessage(t *testing.T) {
	program := delegation("the title of it")
	path := filepath.Join(t.TempDir(), "session.db")
	buildDB(t, path, func(db *agenttest.DB) error {
		_, err := agenttest.WriteLeaky(db, program)
		return err
	})
	turn := program.Turns[0]
	task := turn.Steps[0].Calls[0].Task
	texts := []string{turn.User, turn.Steps[0].Text, task.Text, task.Steps[0].Text, task.Steps[0].Calls[0].Args, task.Steps[0].Calls[0].Output, "Dockerfile"}
	for _, format := range checks.FormatNames() {
		_, out, _ := run(t, "check", path, "--format", format)
		if !strings.Contains(out, "SC701") {
			t.Errorf("%s names no finding: %s", format, out)
		}
		for _, text := range texts {
			if strings.Contains(out, text) {
				t.Errorf("%s holds %q", format, text)
			}
		}
		if titled := slices.Contains([]string{"text", "junit"}, format); strings.Contains(out, program.Title) != titled {
			t.Errorf("%s names sessions by their titles: %v", format, !titled)
		}
	}
}
