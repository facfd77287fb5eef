//go:build unix

package loom_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// What cannot be read is named and makes the result incomplete; the rest is read.
func TestWhatCannotBeRead(t *testing.T) {
	inFolder := func(w *loomtest.Workspace, name string) string { return filepath.Join(w.Folder, name) }
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		harm   func(t *testing.T, w *loomtest.Workspace)
		why    string
		faults string
	}{
		{"a pipe for a step", func(t *testing.T, w *loomtest.Workspace) {
			must(t, syscall.Mkfifo(inFolder(w, "main/history/step_002.json"), 0o600))
		}, "main/history/step_002.json: it is not a regular file", fault(session.Undecodable, "step_002.json: it cannot be read: it is not a regular file")},
		{"a step that is a link to a device", func(_ *testing.T, w *loomtest.Workspace) { w.Link("/dev/zero", "main/history/step_002.json") },
			"main/history/step_002.json: it is a link that leads out of the workspace", fault(session.Undecodable, "step_002.json: it cannot be read: it is a link that leads out of the workspace")},
		{"a step that is a link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link("../../../secret", "main/history/step_002.json") },
			"main/history/step_002.json: it is a link that leads out of the workspace", fault(session.Undecodable, "step_002.json: it cannot be read: it is a link that leads out of the workspace")},
		{"a huge step", func(t *testing.T, w *loomtest.Workspace) {
			w.File("main/history/step_002.json", "{}")
			must(t, os.Truncate(inFolder(w, "main/history/step_002.json"), 1<<40))
		}, "main/history/step_002.json: it has 1099511627776 bytes, and a step has at most 16777216",
			fault(session.Undecodable, "step_002.json: it cannot be read: it has 1099511627776 bytes, and a step has at most 16777216")},
		{"a history that is a link out", func(t *testing.T, w *loomtest.Workspace) {
			must(t, os.RemoveAll(inFolder(w, "main/history")))
			w.Link("../../..", "main/history")
		}, "main/history: it is a link that leads out of the workspace", fault(session.StoreDamaged, "history: the history of main cannot be read: it is a link that leads out of the workspace")},
		{"a child that is a link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link("..", "child") },
			"child: it is a link that leads out of the workspace", ""},
		{"a link out that nobody names", func(_ *testing.T, w *loomtest.Workspace) { w.Link("../../secret", "stranger") },
			"stranger: it is a link that leads out of the workspace", ""},
		{"an absolute link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link(inFolder(w, "../secret"), "main/bus.jsonl") },
			"main/bus.jsonl: it is a link that leads out of the workspace", ""},
		{"events behind a link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link("../secret", "bus.jsonl") },
			"bus.jsonl: it is a link that leads out of the workspace", ""},
		{"a history in a circle", func(t *testing.T, w *loomtest.Workspace) {
			must(t, os.RemoveAll(inFolder(w, "main/history")))
			w.Link("history", "main/history")
		}, "main/history: its links lead in a circle", fault(session.StoreDamaged, "history: the history of main cannot be read: its links lead in a circle")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
			w.File("../secret", `{"id":"step_002","tool_name":"secret"}`)
			w.Spawn("main", "child", "g")
			w.Step("other", loomtest.Step{})
			tt.harm(t, w)
			must(t, w.Close())
			o := openWorkspace(t, w.Folder)
			if want := "not everything could be read: " + tt.why; o.Facts().Incomplete != want {
				t.Errorf("incomplete: %q, want %q", o.Facts().Incomplete, want)
			}
			all := sessions(t, o)
			if got := faults(all["main"].Faults); got != tt.faults {
				t.Errorf("faults\n%swant\n%s", got, tt.faults)
			}
			if strings.Contains(show(all["main"]), "secret") {
				t.Error("something outside was read")
			}
		})
	}
}

// A pipe is no folder, whatever it is called, and nothing waits for its writer.
func TestPipesThatAreCalledAsFolders(t *testing.T) {
	for _, name := range []string{"pipe", "piped/history", "main/outputs", "main/bus.jsonl", "bus.jsonl", "linked/history"} {
		t.Run(name, func(t *testing.T) {
			w := loomtest.Create(t.TempDir())
			w.Step("main", loomtest.Step{})
			if err := os.MkdirAll(filepath.Dir(filepath.Join(w.Folder, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			pipe := name
			if strings.HasPrefix(name, "linked") {
				pipe = "target"
				w.Link("../target", name)
			}
			if err := syscall.Mkfifo(filepath.Join(w.Folder, pipe), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := registry.ExpandPath(t.Context(), w.Folder, ""); err != nil || len(got.Stores) != 1 {
				t.Errorf("expands to %v, %v", got, err)
			}
			o := openWorkspace(t, w.Folder)
			if all := sessions(t, o); len(all) != 1 || len(all["main"].Items) != 2 || o.Facts().Incomplete != "" {
				t.Errorf("%d sessions, incomplete: %q", len(all), o.Facts().Incomplete)
			}
		})
	}
}

func TestPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is forbidden to the superuser")
	}
	w := loomtest.Research(filepath.Join(t.TempDir(), "workspace"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main/history/step_001.json", "researcher-1/history", "researcher-2", "events.jsonl"} {
		path := filepath.Join(w.Folder, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			if err := os.Chmod(path, 0); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = os.Chmod(path, info.Mode()) }()
			if got, want := openWorkspace(t, w.Folder).Facts().Incomplete, "not everything could be read: "+name+": permission denied"; got != want {
				t.Errorf("incomplete: %q, want %q", got, want)
			}
		})
	}
	if err := os.Chmod(w.Folder, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(w.Folder, 0o700) }()
	if _, err := registry.Open(t.Context(), w.Folder, "", nil, store.Options{}); err == nil || !strings.Contains(err.Error(), "cannot be listed") {
		t.Errorf("got %v", err)
	}
}

// An output that is a pipe is not opened, which would wait for a writer.
func TestOutputsThatArePipes(t *testing.T) {
	w := loomtest.Create(t.TempDir())
	w.Agent("main")
	name := "outputs/page_0123456789abcdef.txt"
	if err := syscall.Mkfifo(filepath.Join(w.Folder, "main", name), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got := outputs(t, w, loomtest.Step{Outcome: name}); len(got) != 1 || got[0].Real != "" || got[0].Outside {
		t.Errorf("got %+v", got)
	}
}
