package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

// copyOf looks at a database, lets it change, and copies it.
func copyOf(t *testing.T, path string, change func()) (string, error) {
	t.Helper()
	handle, f, err := sniffFile(path)
	ok(t, err)
	defer func() { ok(t, handle.Close()) }()
	change()
	return privateCopy(t.Context(), handle, f)
}

// setTemp names the folder for temporary files: TMPDIR, on Windows TMP.
func setTemp(t *testing.T, folder string) {
	t.Helper()
	t.Setenv("TMPDIR", folder)
	t.Setenv("TMP", folder)
}

func TestPrivateCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	killed(t, path, walRows(100)...)
	ok(t, os.WriteFile(path+"-journal", []byte("x"), 0o600))
	dir, err := copyOf(t, path, func() {})
	ok(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	// On Windows the folder is private because the one for temporary files is.
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v (%v)", info.Mode(), err)
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		want, err := os.ReadFile(path + suffix)
		ok(t, err)
		got, err := os.ReadFile(filepath.Join(dir, copyName+suffix))
		if err != nil || string(got) != string(want) {
			t.Errorf("%q differs (%v)", suffix, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, copyName+"-shm")); err == nil {
		t.Error("the -shm was copied")
	}
}

// What may have been copied in two states is not used.
func TestPrivateCopyTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	reset := func() {
		create(t, path, "drop table if exists t")
		killed(t, path, walRows(100)...)
	}
	tests := []struct {
		name   string
		change func()
		torn   bool
	}{
		{"later commit in the -wal", func() { killed(t, path, "pragma wal_autocheckpoint=0", "select 1 from t", "delete from t") }, false},
		{"checkpoint", func() { killed(t, path, "pragma wal_checkpoint") }, true},
		{"-wal begun anew", func() { killed(t, path, "pragma wal_checkpoint(restart)", "delete from t") }, true},
		{"-wal gone", func() { create(t, path, "select 1 from t") }, true},
		{"-journal", func() { ok(t, os.WriteFile(path+"-journal", []byte("x"), 0o600)) }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			setTemp(t, temp)
			reset()
			dir, err := copyOf(t, path, test.change)
			if torn := problem.ClassOf(err) == problem.Busy; torn != test.torn {
				t.Errorf("torn %t (%v)", torn, err)
			}
			_ = os.RemoveAll(dir)
			isEmpty(t, temp)
		})
	}
}

func TestPrivateCopyFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.db")
	create(t, path, rows(10)...)
	temp := t.TempDir()
	setTemp(t, filepath.Join(temp, "missing"))
	_, err := copyOf(t, path, func() {})
	if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), "has to be copied so that reading does not change it") {
		t.Error(err)
	}

	setTemp(t, temp)
	handle, f, err := sniffFile(path)
	ok(t, err)
	defer func() { ok(t, handle.Close()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := privateCopy(ctx, handle, f); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	isEmpty(t, temp)
}

func isEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
