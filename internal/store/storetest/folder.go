package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Snapshot is what a folder holds: name → size, mode, modification time and
// hash of every file. Reading a store must not change it.
func Snapshot(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		sum := [sha256.Size]byte{}
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = sha256.Sum256(data)
		}
		size := info.Size()
		if entry.IsDir() {
			size = 0 // of no meaning for a folder
		}
		files[path] = fmt.Sprintf("%s %d bytes, %s, %x", info.Mode(), size, info.ModTime().UTC(), sum[:8])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Copy copies a database with its neighbours into a folder.
func Copy(t *testing.T, path, folder string) string {
	t.Helper()
	for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
		copyFile(t, path+ending, filepath.Join(folder, filepath.Base(path)+ending), ending == "")
	}
	return filepath.Join(folder, filepath.Base(path))
}

func copyFile(t *testing.T, from, to string, needed bool) {
	t.Helper()
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
