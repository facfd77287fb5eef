package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessctl/sessctl/internal/atomicfile"
)

func TestWhatRootWritesIsGivenToTheOwnerOfAFile(t *testing.T) {
	folder := t.TempDir()
	create := func(name string) *os.File {
		file, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	theirs, mine := create("theirs"), create("mine")
	want := uint32(os.Geteuid()) // without root nothing changes
	if os.Geteuid() == 0 {
		want = 4711
		if err := theirs.Chown(4711, 4712); err != nil {
			t.Fatal(err)
		}
	}
	info, err := theirs.Stat()
	if err == nil {
		err = atomicfile.GiveTo(mine, info)
	}
	if err == nil {
		info, err = mine.Stat()
	}
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	if stat.Uid != want || want == 4711 && stat.Gid != 4712 {
		t.Errorf("owner %d:%d, want %d", stat.Uid, stat.Gid, want)
	}
}
