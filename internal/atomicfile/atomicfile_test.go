package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/atomicfile"
)

func TestAFileIsThereWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "report.json")
	if err := atomicfile.Replace(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(t.Context(), path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "old")
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "old")
	if err := atomicfile.Replace(path, []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v is left (%v)", entries, err)
	}
}

func TestALinkStaysOne(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "report.json"), filepath.Join(folder, "latest.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err) // Windows asks for a right
	}
	if err := atomicfile.Replace(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}
}

func TestWhatIsNoRegularFileIsWrittenTo(t *testing.T) {
	if err := atomicfile.Replace(os.DevNull, []byte("gone"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is a file now (%v)", os.DevNull, err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}
