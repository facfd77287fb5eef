package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/atomicfile"
)

func TestPathsOfOneFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("deep/folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"linked": "deep/folder", "latest": "linked/../report", "circle": "circle", "nowhere": "missing/report",
	} {
		if err := os.Symlink(filepath.FromSlash(to), link); err != nil {
			t.Skip(err) // Windows asks for a right
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		a, b string
		same bool
	}{
		{"report", "./report", true},
		{"report", filepath.Join(here, "report"), true},
		{"report", "deep/../report", true},
		{"linked/report", "deep/folder/report", true},
		{"latest", "deep/report", true}, // ".." of where the folder is
		{"latest", "report", false},
		{"report", "other", false},
		{"circle", "circle", false},
		{"nowhere", "missing/report", false},
	}
	for _, standing := range []bool{false, true} {
		for _, tt := range tests {
			if standing {
				_ = os.WriteFile(tt.a, nil, 0o600)
			}
			if got := atomicfile.SameFile(filepath.FromSlash(tt.a), filepath.FromSlash(tt.b)); got != tt.same {
				t.Errorf("%s and %s, standing %t: %t", tt.a, tt.b, standing, got)
			}
			_ = os.Remove("report")
			_ = os.Remove("deep/report")
			_ = os.Remove("deep/folder/report")
		}
	}
}

// A link that leads to nothing yet is written through.
func TestALinkToNothingStaysOne(t *testing.T) {
	folder := t.TempDir()
	link := filepath.Join(folder, "latest")
	if err := os.Symlink("report", link); err != nil {
		t.Skip(err) // Windows asks for a right
	}
	if err := atomicfile.Replace(link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	holds(t, filepath.Join(folder, "report"), "new")
	if _, err := os.Readlink(link); err != nil {
		t.Error(err)
	}
}
