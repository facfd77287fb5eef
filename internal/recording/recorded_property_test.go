package recording_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/recording"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

var (
	models = []recording.Model{recording.Auto, recording.ByDepth, recording.BySession}
	every  = agenttest.Shapes{Skills: true, Background: true, Parallel: true}
)

// writer is agenttest.WriteLeaky or agenttest.WriteFixed.
type writer func(*agenttest.DB, agenttest.Program) (agenttest.Written, error)

// written plays a program into a new database and gives its path. The ids of
// its sessions are the same for every writer.
func written(t *rapid.T, dir string, write writer, p agenttest.Program) (string, agenttest.Written) {
	t.Helper()
	folder, err := os.MkdirTemp(dir, "played")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "session.db")
	db, err := agenttest.Create(path, 18)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := write(db, p)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path, truth
}

// styles draws how a stream is written.
func styles(forms ...agenttest.EventForm) *rapid.Generator[agenttest.EventStyle] {
	return rapid.Custom(func(t *rapid.T) agenttest.EventStyle {
		return agenttest.EventStyle{Form: rapid.SampledFrom(forms).Draw(t, "form"), SSE: rapid.Bool().Draw(t, "SSE")}
	})
}

var allForms = []agenttest.EventForm{agenttest.WithoutIDs, agenttest.WithIDs, agenttest.WithDeltas, agenttest.WithReasons}

// record reads a stream and runs it through a model.
func record(t tester, stream []byte, model recording.Model) *recording.Result {
	t.Helper()
	reader := events.NewReader(bytes.NewReader(stream))
	recorder := recording.NewRecorder(model, true, "(no output)")
	before := 0
	for {
		var e recording.Event
		err := reader.Next(&e)
		if err == io.EOF {
			return recorder.End()
		}
		if err != nil {
			t.Fatal(err)
		}
		step := recorder.Take(&e)
		if step.Before != before || step.Depth < 0 {
			t.Fatalf("%s model, line %d, %s: depth %d → %d, was %d", model, e.Line, e.Name, step.Before, step.Depth, before)
		}
		if step.Action == replay.Skip && step.Other == replay.None || step.Action == replay.None && step.Other == replay.Skip {
			t.Fatalf("%s model, line %d, %s: one model skips what the other says stores nothing", model, e.Line, e.Name)
		}
		before = step.Depth
	}
}

// TestAnyStreamIsReplayed cuts streams at any byte, and shuffles, repeats and
// drops lines: replay takes what comes, the depth never goes below zero, and
// what it puts together are trees.
func TestAnyStreamIsReplayed(t *testing.T) {
	campaign.Checks(t, 60, 4000)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		p := agenttest.RandomWith(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 25).Draw(t, "size"), every)
		p.KeepsFailed = rapid.Bool().Draw(t, "failed children are kept")
		_, truth := written(t, dir, agenttest.WriteFixed, p)
		style := styles(allForms...).Draw(t, "style")
		style.Title = rapid.SampledFrom([]string{"", "a title"}).Draw(t, "title")
		stream := damaged(t, truth.Events(style))
		for _, model := range models {
			for i, tree := range record(t, stream, model).Trees {
				if err := sound(tree); err != nil {
					t.Fatalf("%s model, tree %d: %v", model, i, err)
				}
			}
		}
	})
}

// damaged cuts a stream, or mixes up its lines.
func damaged(t *rapid.T, stream []byte) []byte {
	switch rapid.SampledFrom([]string{"cut", "begun late", "lines"}).Draw(t, "damage") {
	case "cut":
		return stream[:rapid.IntRange(0, len(stream)).Draw(t, "at")]
	case "begun late":
		return stream[rapid.IntRange(0, len(stream)).Draw(t, "from"):]
	}
	lines := slices.Collect(bytes.Lines(stream))
	for range rapid.IntRange(1, 30).Draw(t, "changes") {
		if len(lines) == 0 {
			break
		}
		i, j := rapid.IntRange(0, len(lines)-1).Draw(t, "line"), rapid.IntRange(0, len(lines)-1).Draw(t, "other line")
		switch rapid.SampledFrom([]string{"swap", "repeat", "drop"}).Draw(t, "change") {
		case "swap":
			lines[i], lines[j] = lines[j], lines[i]
		case "repeat":
			lines = slices.Insert(lines, i, lines[j])
		case "drop":
			lines = slices.Delete(lines, min(i, j), min(max(i, j), min(i, j)+10))
		}
	}
	return bytes.Join(lines, nil)
}

// sound says what keeps a recorded tree from being one.
func sound(tree *session.Tree) error {
	seen := map[string]bool{}
	for n, s := range tree.Sessions {
		if s.ID == "" || seen[s.ID] {
			return fmt.Errorf("session %d has the id %q, which is empty or another's, too", n, s.ID)
		}
		if n > 0 && !seen[s.Parent] {
			return fmt.Errorf("the parent %q of session %d is none before it", s.Parent, n)
		}
		seen[s.ID] = true
	}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			it := &s.Items[i]
			if it.Body == nil || it.Key == "" || it.Position < int64(i) || i > 0 && it.Position <= s.Items[i-1].Position {
				return fmt.Errorf("item %d of %s: no body, no key, or at position %d", i, s.ID, it.Position)
			}
			if it.Kind == session.SubSession && tree.Session(it.Child()) == nil {
				return fmt.Errorf("item %d of %s refers to %s, which is nowhere", i, s.ID, it.Child())
			}
		}
		for _, c := range s.Children {
			if c.Parent != s.ID {
				return fmt.Errorf("%s is a child of %s and records the parent %s", c.ID, s.ID, c.Parent)
			}
		}
	}
	return nil
}

// TestACompleteStreamGivesTheStoredTree: the tree that the events amount to is
// the one that a correct runtime stored.
func TestACompleteStreamGivesTheStoredTree(t *testing.T) {
	t.Run("one call at a time", func(t *testing.T) {
		completeStreams(t, agenttest.Shapes{}, allForms)
	})
	t.Run("skills and background agents", func(t *testing.T) {
		completeStreams(t, agenttest.Shapes{Skills: true, Background: true}, allForms[1:])
	})
	t.Run("several calls at a time", func(t *testing.T) {
		completeStreams(t, every, allForms[2:])
	})
}

func completeStreams(t *testing.T, shapes agenttest.Shapes, forms []agenttest.EventForm) {
	campaign.Checks(t, 60, 2000)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		p := agenttest.RandomWith(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 25).Draw(t, "size"), shapes)
		p.KeepsFailed = rapid.Bool().Draw(t, "failed children are kept")
		path, truth := written(t, dir, agenttest.WriteFixed, p)
		want := said(interpretArguments(stored(t, path, truth.Root.ID)))
		stream := truth.Events(styles(forms...).Draw(t, "style"))
		trees := record(t, stream, recording.Auto).Trees
		if len(trees) != 1 {
			t.Fatalf("%d trees, want one", len(trees))
		}
		if err := sound(trees[0]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, said(interpretArguments(trees[0]))); diff != "" {
			t.Fatalf("stored (-), recorded (+):\n%s", diff)
		}
	})
}
