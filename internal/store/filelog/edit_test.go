package filelog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// folder has three files, which an editor changes in a transaction that is open.
func folder(t *testing.T) (path string, e *filelog.Editor) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "store")
	put(t, path, "a.jsonl", "a1\na2\n")
	put(t, path, "deep/b.jsonl", "b1\r\nb2")
	put(t, path, "c.jsonl", "c1\n")
	e, _, err := filelog.Edit(path, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	for _, err := range []error{
		e.Begin(t.Context()), e.Backup(t.Context(), path+".backup", nil, nil),
		e.Splice("a.jsonl", []filelog.Splice{{At: 0, Is: []byte("new\n")}, {At: 3, Was: []byte("a2\n")}}),
		e.Splice("deep/b.jsonl", []filelog.Splice{{At: 1, Was: []byte("1"), Is: []byte("one")}, {At: 6, Is: []byte("\r\nb3\r\n")}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path, e
}

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	full := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// files are the texts of the files of a folder.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		found[filepath.ToSlash(strings.TrimPrefix(name, folder+string(filepath.Separator)))] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var (
	old     = map[string]string{"a.jsonl": "a1\na2\n", "deep/b.jsonl": "b1\r\nb2", "c.jsonl": "c1\n"}
	changed = map[string]string{"a.jsonl": "new\na1\n", "deep/b.jsonl": "bone\r\nb2\r\nb3\r\n", "c.jsonl": "c1\n"}
)

func same(t *testing.T, when string, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", when, diff)
	}
}

func TestACommitAndItsUndo(t *testing.T) {
	path, e := folder(t)
	same(t, "before the commit", old, files(t, path))
	journal, err := e.Journal()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.TryChanges(t.Context(), func() error { return e.Revert(t.Context(), journal) }); err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "after the commit", changed, files(t, path))
	same(t, "the backup", map[string]string{"a.jsonl": old["a.jsonl"], "deep/b.jsonl": old["deep/b.jsonl"]}, files(t, path+".backup"))
	if info, err := os.Stat(filepath.Join(path, "a.jsonl")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, forged := range []string{`[{"name":"../x"}]`, `[{"name":"/etc/passwd"}]`, `[{"name":"c.jsonl","was":"0","is":"0"}]`, `{`} {
		if err := e.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := e.Revert(t.Context(), []byte(forged)); err == nil {
			t.Errorf("%s was carried out", forged)
		}
	}
	if err := e.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, path, "a.jsonl", old["a.jsonl"]) // as a commit that was cut off leaves it
	if err := e.Revert(t.Context(), journal); err != nil {
		t.Fatal(err)
	}
	if err := e.Backup(t.Context(), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "after the undo", old, files(t, path))
}

// TestAnotherWriter: what another program writes while a transaction is carried out is
// never lost. It is refused, and what was replaced before is put back, or the line is kept.
func TestAnotherWriter(t *testing.T) {
	add := func(path string) {
		f, err := os.OpenFile(filepath.Join(path, "deep", "b.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = f.WriteString("\nlate\n")
		}
		if err != nil {
			panic(err)
		}
		_ = f.Close()
	}
	for step, kept := range map[string]bool{
		"commit: back up a.jsonl": false, "commit: write a.jsonl": false, "commit: replaced a.jsonl": false, "commit: write deep/b.jsonl": false,
		"commit: replace deep/b.jsonl": false, "commit: replaced deep/b.jsonl": true,
	} {
		t.Run(step, func(t *testing.T) {
			path, e := folder(t)
			filelog.AtStep = func(at string) {
				if at == step {
					step = "" // once
					add(path)
				}
			}
			defer func() { filelog.AtStep = func(string) {} }()
			err := e.Commit(t.Context())
			want := map[string]string{"a.jsonl": old["a.jsonl"], "c.jsonl": old["c.jsonl"], "deep/b.jsonl": old["deep/b.jsonl"] + "\nlate\n"}
			if kept {
				want["a.jsonl"], want["deep/b.jsonl"] = changed["a.jsonl"], changed["deep/b.jsonl"]+"\nlate\n"
			}
			if (err == nil) != kept || err != nil && problem.ClassOf(err) != problem.Busy {
				t.Errorf("%v", err)
			}
			same(t, step, want, files(t, path))
		})
	}
}

// TestAnOldHandle: a program that opened the file before it was replaced, and writes behind
// that, finds its line in the new one.
func TestAnOldHandle(t *testing.T) {
	path, e := folder(t)
	f, err := os.OpenFile(filepath.Join(path, "a.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	filelog.AtStep = func(at string) {
		if at == "commit: replaced a.jsonl" {
			_, _ = f.WriteString("late\n")
		}
	}
	defer func() { filelog.AtStep = func(string) {} }()
	if err := e.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path)["a.jsonl"]; got != changed["a.jsonl"]+"late\n" {
		t.Errorf("%q", got)
	}
}

// TestLinks: neither a file that became a link nor a folder is followed.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "b.jsonl", old["deep/b.jsonl"])
	for name, link := range map[string]func(path string) error{
		"file": func(path string) error {
			return os.Symlink(filepath.Join(outside, "b.jsonl"), filepath.Join(path, "deep", "b.jsonl"))
		},
		"folder": func(path string) error { return os.Symlink(outside, filepath.Join(path, "deep")) },
	} {
		t.Run(name, func(t *testing.T) {
			path, e := folder(t)
			away := filepath.Join(path, "deep")
			if name == "file" {
				away = filepath.Join(away, "b.jsonl")
			}
			if err := os.RemoveAll(away); err != nil {
				t.Fatal(err)
			}
			if err := link(path); err != nil {
				t.Skip("no links here")
			}
			if err := e.Commit(t.Context()); err == nil {
				t.Error("it was written")
			}
			if got := files(t, outside)["b.jsonl"]; got != old["deep/b.jsonl"] {
				t.Errorf("%q", got)
			}
			if got := files(t, path)["a.jsonl"]; got != old["a.jsonl"] {
				t.Errorf("the first file is not as it was: %q", got)
			}
		})
	}
}
