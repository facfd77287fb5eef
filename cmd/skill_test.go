package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sessctl/sessctl/internal/schematest"
)

// TestTheSkill holds the skill to what agents expect of one, and types its commands: each prints
// what its schema says, and none changes the store.
func TestTheSkill(t *testing.T) {
	folder := t.TempDir()
	page := read(t, "docs/skills/sessctl/SKILL.md")
	_, head, _ := strings.Cut(page, "---\n")
	head, _, _ = strings.Cut(head, "---\n")
	var about struct{ Name, Description string }
	if err := yaml.Unmarshal([]byte(head), &about); err != nil {
		t.Fatal(err)
	}
	if n := len(about.Description); about.Name != "sessctl" || n == 0 || n > 1024 || strings.Count(page, "\n") > 60 {
		t.Errorf("its name is %q, its description has %d characters, and it has %d lines", about.Name, n, strings.Count(page, "\n"))
	}
	demoStore(t, filepath.Join(folder, "session.db"))
	before, err := os.ReadFile(filepath.Join(folder, "session.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	var printed []string
	for _, args := range callsOf(t, page) {
		var out, wrong bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &wrong, func(string) string { return "" }); code != exitFindings {
			t.Errorf("%v ends with %d: %s", args, code, wrong.String())
		}
		name, err := schematest.ValidateOutput(out.Bytes())
		if printed = append(printed, name); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if !slices.Equal(printed, []string{"why", "check", "repair"}) {
		t.Errorf("the commands print %v", printed)
	}
	if after, err := os.ReadFile("session.db"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the store changed: %v", err)
	}
}
