package recording_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// TestTheStreamKeepsWhatFailedChildrenSaid plays programs as a version that
// forgets failed children, and as one that stores them. The stream of the first
// must give every item that the second has, but for the two messages that start
// a child, and what was streaming when it failed.
func TestTheStreamKeepsWhatFailedChildrenSaid(t *testing.T) {
	t.Run("one call at a time", func(t *testing.T) {
		failedChildren(t, agenttest.Shapes{}, allForms)
	})
	t.Run("skills", func(t *testing.T) {
		failedChildren(t, agenttest.Shapes{Skills: true}, allForms[1:])
	})
}

func failedChildren(t *testing.T, shapes agenttest.Shapes, forms []agenttest.EventForm) {
	campaign.Checks(t, 40, 2000)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		p := agenttest.RandomWith(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(3, 30).Draw(t, "size"), shapes)
		_, truth := written(t, dir, agenttest.WriteFixed, p)
		p.KeepsFailed = true
		path, kept := written(t, dir, agenttest.WriteFixed, p)
		want := interpretArguments(stored(t, path, kept.Root.ID))
		tree := interpretArguments(record(t, truth.Events(styles(forms...).Draw(t, "style")), recording.Auto).Trees[0])
		for _, s := range want.Sessions[1:] {
			lines, got := linesOf(s, tree), tree.Session(s.ID)
			switch {
			case got == nil && len(lines) > 0:
				t.Fatalf("nothing is left of %s\n%s", s.ID, strings.Join(lines, "\n"))
			case got != nil && !referred(tree, s.ID):
				sameSayings(t, lines, got, tree)
			}
		}
	})
}

// sameSayings compares what a child that failed said with what the stream gives.
func sameSayings(t *rapid.T, want []string, got *session.Session, tree *session.Tree) {
	for i := range got.Items {
		if !got.Items[i].Flags.Has(session.Unfinished) {
			t.Fatalf("%s never completed, and its item %d is not marked: %s", got.ID, i, sayItem(&got.Items[i]))
		}
	}
	lines := linesOf(got, tree)
	if len(lines) == len(want)+1 && got.Items[len(got.Items)-1].Role == session.Assistant {
		lines = lines[:len(want)] // what was streaming
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Fatalf("%s, said (-), recorded (+):\n%s", got.ID, diff)
	}
}

// linesOf says the items of a session, without what the stream does
// not tell (the prologue, references to children that failed) and without what
// depends on whether failed children are kept: the texts of results.
func linesOf(s *session.Session, recorded *session.Tree) []string {
	lines := []string{}
	for i := range s.Items {
		it := s.Items[i]
		switch {
		case it.Role == session.System, it.Flags.Has(session.Implicit):
			continue
		case it.Kind == session.SubSession && !referred(recorded, it.Child()):
			continue
		case it.Role == session.Tool:
			it.Results = slices.Clone(it.Results)
			it.Results[0].Text = ""
		}
		it.Flags &^= session.Unfinished
		lines = append(lines, sayItem(&it))
	}
	return lines
}
