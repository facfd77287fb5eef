package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestPublishNeverOverwrites(t *testing.T) {
	folder := t.TempDir()
	temporary, to := filepath.Join(folder, "temporary"), filepath.Join(folder, "to")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, publish := range []func(string, string) error{Publish, reserveName} {
		write(temporary, "new")
		write(to, "old")
		if err := publish(temporary, to); !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v", err)
		}
		if b, err := os.ReadFile(to); err != nil || string(b) != "old" {
			t.Errorf("%q (%v)", b, err)
		}
		if err := errors.Join(os.Remove(to), publish(temporary, to)); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || entries[0].Name() != "to" {
			t.Errorf("left %v (%v)", entries, err)
		}
		if err := os.Remove(to); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSyncFolder(t *testing.T) {
	if err := SyncFolder(t.TempDir()); err != nil {
		t.Error(err)
	}
}
