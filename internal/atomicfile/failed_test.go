package atomicfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAFailedWriteIsNeverCommitted: what stood there before is better than a half.
func TestAFailedWriteIsNeverCommitted(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Create(t.Context(), path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	name := f.file.Name()
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	whole := f.file
	if f.file, err = os.Open(name); err != nil { // which takes no writes
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("lost")); err == nil {
		t.Fatal("the write went well")
	}
	if err := f.file.Close(); err != nil {
		t.Fatal(err)
	}
	f.file = whole
	if _, err := f.Write([]byte("more")); err == nil {
		t.Error("a write behind a failed one went well")
	}
	if err := f.Commit(); err == nil {
		t.Error("it was committed")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("%q (%v)", b, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v is left (%v)", entries, err)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	folder := t.TempDir()
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	plain, path := filepath.Join(folder, "plain"), filepath.Join(folder, "report")
	if err := errors.Join(os.WriteFile(plain, nil, 0o666), Replace(path, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if mode(path) != mode(plain) {
		t.Errorf("a new file has %v, others have %v", mode(path), mode(plain))
	}
	for _, want := range []os.FileMode{0o600, 0o666, 0o640} {
		if err := errors.Join(os.Chmod(path, want), Replace(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if mode(path) != want {
			t.Errorf("got %v, it had %v", mode(path), want)
		}
	}
}

// TestAPipeWithoutAReaderDoesNotHoldAnInterruptedRun opens what never opens.
func TestAPipeWithoutAReaderDoesNotHoldAnInterruptedRun(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := makePipe(pipe); err != nil {
		t.Skip("no named pipes: ", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Create(ctx, pipe, 0o600); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // lets the one that waits go on
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.Close()
}
