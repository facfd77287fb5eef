package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/watch"
)

// TestPartsFindWhatAllFind: a session that is checked alone has the findings that it has among all.
func TestPartsFindWhatAllFind(t *testing.T) {
	const corpus = "../../shared/corpus"
	folders, _ := filepath.Glob(corpus + "/*/*")
	if len(folders) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	merged := map[string]string{} // one folder of each kind, with all sessions whose files have different names
	alone := 0
	for _, from := range folders {
		kind := filepath.Base(filepath.Dir(from))
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "claude-code", "codex", "copilot-cli":
			if !info.IsDir() {
				continue
			}
			if merged[kind] == "" {
				merged[kind] = t.TempDir()
			}
			copyMissing(t, from, merged[kind])
		case "docker-agent":
			to := t.TempDir()
			copyMissing(t, from, to)
			databases, _ := filepath.Glob(filepath.Join(to, "*.db"))
			for _, path := range databases {
				alone += compareParts(t, path)
			}
		}
	}
	for _, folder := range merged {
		alone += compareParts(t, folder)
	}
	if alone < 70 {
		t.Errorf("only %d sessions were read alone", alone)
	}
}

func copyMissing(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e os.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		at := filepath.Join(to, name)
		if err != nil || pathExists(at) {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(at, text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// compareParts counts the sessions that were read alone.
func compareParts(t *testing.T, path string) (alone int) {
	t.Helper()
	p, _ := testProgram()
	p.config = &config.Config{Format: "text"}
	run, err := newCheckRun(p, nil, []string{path}, false)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(*session.Tree, time.Time) bool { return true }
	all, err := run.lookAt(t.Context(), []string{path}, path, watch.Part{All: true, Keep: keep})
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return 0
	}
	seen, err := glanceAt(t.Context(), path, "")
	if err != nil || seen.Marks == nil {
		t.Logf("%s: no marks (%v)", path, err)
	}
	for _, tree := range all.Trees {
		one, err := run.lookAt(t.Context(), []string{path}, path, watch.Part{Only: tree.Root})
		if err != nil || len(one.Trees) == 0 {
			t.Errorf("%s: session %s: %v", path, tree.Root, err)
			continue
		}
		if !one.Slow {
			alone++
		}
		if _, marked := seen.Marks[tree.Root]; seen.Marks != nil && !marked && !strings.Contains(tree.Root, "@") {
			t.Errorf("%s: session %s has no mark", path, tree.Root)
		}
		at := slices.IndexFunc(one.Trees, func(other watch.Tree) bool { return other.Root == tree.Root })
		if at < 0 || !cmp.Equal(fingerprints(tree), fingerprints(one.Trees[at])) || one.Trees[at].Outlook != tree.Outlook || !cmp.Equal(tree.Subs, one.Trees[at].Subs) {
			t.Errorf("%s: session %s alone: %v, among all: %v", path, tree.Root, fingerprints(one.Trees[max(at, 0)]), fingerprints(tree))
		}
	}
	return alone
}

func fingerprints(tree watch.Tree) (list []string) {
	for _, f := range tree.Found {
		list = append(list, f.Rule.ID+" "+f.Severity.String()+" "+f.Fingerprint)
	}
	slices.Sort(list)
	return list
}
