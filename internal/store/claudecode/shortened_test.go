package claudecode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// TestAFileIsShortenedWhileTextsAreLoaded: that is no end of a connection to a server, after which
// everything would be read and printed once more.
func TestAFileIsShortenedWhileTextsAreLoaded(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	paths, err := claudetest.Build(home, claudetest.Versions[0], 1, player.Play(player.RandomProgram(1, 4), 1))
	if err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open(t.Context(), home, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	var tree *session.Tree
	for tree, err = range o.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	parts, err := o.Store.(store.PartFiller).FillParts(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parts.Close() }()
	if err := os.Truncate(paths[0], 10); err != nil {
		t.Fatal(err)
	}
	err = parts.Fill(tree)
	if problem.ClassOf(err) != problem.Unreadable || registry.IsStopped(err) {
		t.Errorf("%v", err)
	}
}
