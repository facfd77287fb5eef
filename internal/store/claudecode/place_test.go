package claudecode_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// TestPlace: Claude Code finds a session in the folder in which it began.
func TestPlace(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"here", "here/below", "there"} {
		if err := os.MkdirAll(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	slug := func(path string) string { return regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(path, "-") }
	for _, tt := range []struct {
		name, project string
		folders       []string
		copied        bool
		want          string
	}{
		{name: "where it began", project: at("here"), folders: []string{at("here"), at("here")}},
		{name: "below", project: at("here"), folders: []string{at("here"), at("here/below")}},
		{name: "there and back", project: at("here"), folders: []string{at("here"), at("there"), at("here")}},
		{name: "no line says where", project: at("here"), folders: []string{"", ""}},
		{name: "gone on elsewhere", project: at("here"), folders: []string{at("here"), at("there")}, want: "info Claude Code finds this session in " + at("here") + " only; its newest lines were written in " + at("there")},
		{name: "moved", project: at("old"), folders: []string{at("old"), at("there")}, want: "warning Claude Code finds this session in " + at("old") + " only, which does not exist; its newest lines were written in " + at("there")},
		{name: "moved to a longer name", project: at("old"), folders: []string{at("old"), at("older")}, want: "warning Claude Code finds this session in " + at("old") + " only, which does not exist; its newest lines were written in " + at("older")},
		{name: "gone", project: at("old"), folders: []string{at("old")}, want: "info Claude Code finds this session in " + at("old") + " only, which does not exist"},
		{name: "in the folder of another project", project: at("there"), folders: []string{at("here")}, want: "info Claude Code finds this session in the project " + slug(at("there")) + " only, and its newest lines were written in " + at("here")},
		{name: "a copy of the folder", project: at("old"), folders: []string{at("old"), at("there")}, copied: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var k talk
			for n, folder := range tt.folders {
				k.turn(n, "go on")
				for i := range k.lines[2*n:] {
					k.lines[2*n+i] = strings.Replace(k.lines[2*n+i], `"version"`, `"cwd":"`+folder+`","version"`, 1)
				}
			}
			home := homeOf(t, k.lines...)
			if err := os.Rename(filepath.Join(home, "projects", "p"), filepath.Join(home, "projects", slug(tt.project))); err != nil {
				t.Fatal(err)
			}
			if t.Setenv("CLAUDE_CONFIG_DIR", home); tt.copied {
				t.Setenv("CLAUDE_CONFIG_DIR", top)
			}
			for _, path := range []string{home, filepath.Join(home, "projects", slug(tt.project)), filepath.Join(home, "projects", slug(tt.project), "s.jsonl")} {
				o, got := openTranscripts(t, path), ""
				for _, tree := range filled(t, o) {
					for _, f := range check.RunTree(o.Facts(), tree, catalogue.UsualRules(), rules.Judge{}) {
						if f.Rule.ID == "SC023" {
							got += f.Severity.String() + " " + f.Message
						}
					}
				}
				if got != tt.want {
					t.Errorf("of %s: got %q, want %q", path, got, tt.want)
				}
			}
		})
	}
}

// TestNotedSession: a session that the note of a process names and no transcript has.
func TestNotedSession(t *testing.T) {
	var k talk
	k.turn(0, "go on")
	home := homeOf(t, k.lines...)
	for name, id := range map[string]string{"4194305": "gone", "4194306": "s"} {
		text := `{"pid":` + name + `,"sessionId":"` + id + `","cwd":"/srv/demo","procStart":"1"}`
		if err := os.MkdirAll(filepath.Join(home, "sessions"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "sessions", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults := openTranscripts(t, home).Facts().Faults
	if len(faults) != 1 || faults[0].Kind != session.Misplaced || !faults[0].Harmless || !strings.Contains(faults[0].Detail, "gone") {
		t.Errorf("got %+v", faults)
	}
	if faults := openTranscripts(t, filepath.Join(home, "projects", "p")).Facts().Faults; len(faults) > 0 {
		t.Errorf("of one project: %+v", faults)
	}
}
