package registry_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// inPatternFolder changes to a folder with stores, and with what is none.
func inPatternFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	w := loomtest.Create("loom/workspace")
	w.Step("main", loomtest.Step{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		"a.ndjson": stream, "b.ndjson": stream, "c[1].ndjson": stream, "empty.db": "", "big/S.DB": "",
		"a.ndjson-wal": "\x37\x7f\x06\x82", "a.ndjson-shm": "", "a.ndjson-journal": "",
		"a.ndjson.sessctl-20261120T214500Z":                stream,
		"a.ndjson.sessctl-20261120T214500Z-2":              stream,
		"a.ndjson.sessctl-20261120T214500Z.receipt.json":   stream,
		"a.ndjson.sessctl-20261120T214500Z-2.receipt.json": stream,
		"deep/one/x.ndjson":                                stream, "deep/two/.hidden/y.ndjson": stream,
		"deep/notes.txt": "shopping", "deep/store without ending": stream,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"deep/one/circle": "..", "deep/itself": "itself", "linked": "deep/one"} {
		if err := os.Symlink(to, filepath.FromSlash(link)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
}

func TestPatterns(t *testing.T) {
	inPatternFolder(t)
	tests := []struct {
		pattern string
		want    string // with slashes
		err     string
		class   problem.Class
	}{
		{"*.ndjson", "a.ndjson b.ndjson c[1].ndjson", "", 0},
		{"?.ndjson", "a.ndjson b.ndjson", "", 0},
		{"{b,a}.ndjson", "a.ndjson b.ndjson", "", 0},
		{"[ab].ndjson", "a.ndjson b.ndjson", "", 0},
		{"c[1].ndjson", "c[1].ndjson", "", 0}, // a file of that name
		{"a.ndjson*", "a.ndjson", "", 0},      // neither companions nor backups
		{"*.db", "empty.db", "", 0},           // taken for a store, and said to be none when it is opened
		{"big/*", "big/S.DB", "", 0},
		{"loo[m]/*", "loom/workspace", "", 0},                            // a folder that is a store
		{"deep/*", "deep/one/x.ndjson deep/store without ending", "", 0}, // a folder that holds one, a store by what it holds
		{"**/x.ndjson", "deep/one/x.ndjson", "", 0},                      // and no circles
		{"linked/*.ndjson", "linked/x.ndjson", "", 0},                    // a link that is named
		{"deep/**/*.ndjson", "deep/one/x.ndjson deep/two/.hidden/y.ndjson", "", 0},
		{"*.sqlite", "", "no store matches *.sqlite", problem.Unreadable},
		{"deep/*.txt", "", "no store matches deep/*.txt", problem.Unreadable},
		{"missing/**", "", "no store matches missing/**", problem.Unreadable},
		{strings.Repeat("{a,b}", 20), "", "the pattern " + strings.Repeat("{a,b}", 20) + " has more than 10000 alternatives", problem.Usage},
		{"[a.ndjson", "", "the pattern [a.ndjson is not valid", problem.Usage},
	}
	for _, tt := range tests {
		t.Run(tt.pattern, func(t *testing.T) {
			got, err := registry.ExpandPath(t.Context(), filepath.FromSlash(tt.pattern), "")
			if problem.ClassOf(err) != tt.class || err != nil && filepath.ToSlash(err.Error()) != tt.err {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, filepath.ToSlash(strings.Join(got.Stores, " "))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A folder that cannot be listed is told: there may be stores in it.
func TestPatternsTellOfFoldersThatCannotBeListed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("closed", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir("closed"); err == nil {
		t.Skip("this user may list every folder")
	}
	for _, pattern := range []string{"*", "**/*.db"} {
		if _, err := registry.ExpandPath(t.Context(), pattern, ""); problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// A pattern that takes long ends when the user does not want to wait.
func TestPatternsEndWithTheContext(t *testing.T) {
	inPatternFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, pattern := range []string{"**/x.ndjson", "{a,b}{a,b}", "*"} {
		if _, err := registry.ExpandPath(ctx, pattern, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

func TestDistinct(t *testing.T) {
	inPatternFolder(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link("a.ndjson", "same.ndjson"); err != nil {
		t.Skip("no hard links here: ", err)
	}
	got := registry.DistinctPaths([]string{
		"b.ndjson", "-", "./b.ndjson", filepath.Join(here, "b.ndjson"), "a.ndjson", "same.ndjson", "missing.db", "-",
		filepath.FromSlash("linked/x.ndjson"), filepath.FromSlash("deep/one/x.ndjson"), "missing.db", "deep", "deep/",
	})
	want := []string{"b.ndjson", "-", "a.ndjson", "missing.db", filepath.FromSlash("linked/x.ndjson"), "deep"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
