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
		}, "main/history/step_002.json: it is no regular file", fault(session.Undecodable, "step_002.json: it cannot be read: it is no regular file")},
		{"a step that is a link to a device", func(_ *testing.T, w *loomtest.Workspace) { w.Link("/dev/zero", "main/history/step_002.json") },
			"main/history/step_002.json: path escapes from parent", fault(session.Undecodable, "step_002.json: it cannot be read: path escapes from parent")},
		{"a step that is a link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link("../../../secret", "main/history/step_002.json") },
			"main/history/step_002.json: path escapes from parent", fault(session.Undecodable, "step_002.json: it cannot be read: path escapes from parent")},
		{"a huge step", func(t *testing.T, w *loomtest.Workspace) {
			w.File("main/history/step_002.json", "{}")
			must(t, os.Truncate(inFolder(w, "main/history/step_002.json"), 1<<40))
		}, "main/history/step_002.json: it has 1099511627776 bytes, and a step has 16777216 at the most",
			fault(session.Undecodable, "step_002.json: it cannot be read: it has 1099511627776 bytes, and a step has 16777216 at the most")},
		{"a history that is a link out", func(t *testing.T, w *loomtest.Workspace) {
			must(t, os.RemoveAll(inFolder(w, "main/history")))
			w.Link("../../..", "main/history")
		}, "main/history: path escapes from parent", fault(session.StoreDamaged, "history: the history of main cannot be read: path escapes from parent")},
		{"a child that is a link out", func(_ *testing.T, w *loomtest.Workspace) { w.Link("..", "child") },
			"child: path escapes from parent", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := loomtest.Create(filepath.Join(t.TempDir(), "workspace"))
			w.File("../secret", `{"id":"step_002","tool_name":"secret"}`)
			w.Spawn("main", "child", "g")
			w.Step("other", loomtest.Step{})
			tt.harm(t, w)
			must(t, w.Close())
			o := open(t, w.Folder)
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
			if why := open(t, w.Folder).Facts().Incomplete; !strings.Contains(why, name) || !strings.Contains(why, "permission denied") {
				t.Errorf("incomplete: %q", why)
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
