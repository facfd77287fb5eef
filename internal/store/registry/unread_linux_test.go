package registry_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// TestUnreadFolders: a folder of a runtime whose sessions may not be read is not one without sessions.
func TestUnreadFolders(t *testing.T) {
	home := t.TempDir()
	t.Chdir(t.TempDir())
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"} {
		t.Setenv(name, "")
	}
	places := map[string]string{
		".claude":  "projects/-srv/00000012-0000-4000-8000-000000000012.jsonl",
		".codex":   "sessions/2026/11/22/rollout-2026-11-22T13-22-37-01a2036c-4862-7172-927e-1256e6d4235b.jsonl",
		".copilot": "session-state/00000002-1111-4222-8333-444444444444/events.jsonl",
	}
	for folder, name := range places {
		file := filepath.Join(home, folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, file, []byte("{}"))
	}
	if os.Getuid() == 0 {
		runtime.LockOSThread() // the rights are the thread's
		defer runtime.UnlockOSThread()
		if err := os.Chmod(filepath.Dir(home), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	as := func(user int, do func()) {
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(user); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Setfsuid(0) }()
		}
		do()
	}
	for folder, name := range places {
		for _, what := range []string{name, strings.Split(name, "/")[0]} {
			unread := filepath.Join(home, folder, what)
			info, err := os.Stat(unread)
			if err == nil {
				err = os.Chmod(unread, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			as(65534, func() {
				path := filepath.Join(home, folder)
				_, expanded := registry.ExpandPath(t.Context(), path, "")
				_, opened := registry.Open(t.Context(), path, "", nil, store.Options{})
				for _, err := range []error{expanded, opened} {
					if err == nil || !strings.Contains(err.Error(), unread+" cannot be read: permission denied") {
						t.Errorf("%s: %v", what, err)
					}
				}
				for _, l := range registry.Locations(t.Context(), home) {
					if l.Path == path && !l.Found {
						t.Errorf("%s: said not to be there", what)
					}
				}
			})
			if err := os.Chmod(unread, info.Mode()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
