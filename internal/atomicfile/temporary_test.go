//go:build darwin || freebsd || linux

package atomicfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessctl/sessctl/internal/atomicfile"
)

// What another process is writing is left, and what nobody holds any more is deleted by
// the next one. A lock belongs to the open file, so that one process can show both.
func TestTheRemainsOfAKilledProcessAreCleared(t *testing.T) {
	folder := t.TempDir()
	there := func() []string {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	temporary := func() (name string, release func()) {
		file, release, err := atomicfile.CreateTemporary(folder, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		return filepath.Base(file.Name()), release
	}
	temporaryFolder := func() (name string, release func()) {
		path, release, err := atomicfile.CreateTemporaryFolder(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		if err := os.WriteFile(filepath.Join(path, "copy.db"), []byte("a store"), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Base(path), release
	}
	outside := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	others := []string{".sessctl-backup-1234", ".sessctl-tmp-link", ".sessctl.yaml", "session.db"}
	for _, name := range others {
		var err error
		if path := filepath.Join(folder, name); name == ".sessctl-tmp-link" {
			err = os.Symlink(outside, path)
		} else {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	running, end := temporary()
	runningFolder, endFolder := temporaryFolder()
	last, _ := temporary()
	for _, name := range append(others, running, runningFolder, last) {
		if !slices.Contains(there(), name) {
			t.Errorf("%s is gone while it is written", name)
		}
	}
	if left := atomicfile.FindLeftovers(folder); !slices.Equal(left, []string{".sessctl-backup-1234", ".sessctl-tmp-link"}) {
		t.Errorf("left: %v", left)
	}
	end()
	endFolder()
	next, _ := temporary()
	for _, name := range append(others, last, next) {
		if !slices.Contains(there(), name) {
			t.Errorf("%s is gone", name)
		}
	}
	for _, name := range []string{running, runningFolder} {
		if slices.Contains(there(), name) {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
