package atomicfile

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
)

// What is no regular file is refused at once: nobody writes into the pipe, and
// the device never ends.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path  string
		make  func() error
		reads string // why it is not read, "" if it is
		owns  string // the same for a file of one's own
	}{
		{at("file"), func() error { return nil }, "", ""},
		{at("link"), func() error { return os.Symlink("file", at("link")) }, "", "it is a symbolic link"},
		{at("pipe"), func() error { return makePipe(at("pipe")) }, "it is a named pipe", "it is a named pipe"},
		{at("linked pipe"), func() error { return os.Symlink("pipe", at("linked pipe")) }, "it is a named pipe", "it is a symbolic link"},
		{at("socket"), func() error {
			l, err := net.Listen("unix", at("socket"))
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}, "it is a socket", "it is a socket"},
		{"/dev/zero", func() error { _, err := os.Stat("/dev/zero"); return err }, "it is a device", "it is a device"},
		{folder, func() error { return nil }, "it is a folder", "it is a folder"},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.path), func(t *testing.T) {
			if err := tt.make(); err != nil {
				t.Skip(err) // not every system has one
			}
			data, err := ReadRegular(tt.path, 1<<20)
			if tt.reads == "" && (err != nil || string(data) != "text") || tt.reads != "" && (err == nil || problem.Reason(err) != tt.reads) {
				t.Errorf("read %q, %v", data, err)
			}
			f, err := OpenOwn(tt.path, os.O_RDWR)
			if tt.owns == "" && err != nil || tt.owns != "" && (err == nil || problem.Reason(err) != tt.owns) {
				t.Errorf("own: %v", err)
			}
			_ = f.Close()
		})
	}
}

func TestABigFileIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for size, fits := range map[int64]bool{1 << 20: true, 1<<20 + 1: false} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRegular(path, 1<<20)
		if (err == nil) != fits || err != nil && !strings.HasSuffix(err.Error(), "it has more than 1 MiB") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
