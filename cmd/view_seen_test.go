package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/cmd"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// request is what a model request of a recorded run really held.
type request struct {
	Session string
	Turn    int
	Agent   string
	Said    string
	Saw     []string
}

// visibleEvent is what the test reads of an event of view --format json.
type visibleEvent struct {
	Role    string
	Agent   string
	Branch  string
	Text    string
	Visible bool
}

// TestViewShowsWhatTheRuntimeSent holds view --branch against the requests of
// sessions that adk-go wrote: among the events before an agent's own, those that
// its branch sees are what was sent.
func TestViewShowsWhatTheRuntimeSent(t *testing.T) {
	corpus := filepath.Join("..", "..", "shared", "corpus", "adk")
	text, err := os.ReadFile(filepath.Join(corpus, "random-trees.seen.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	var requests []request
	if err := errors.Join(err, json.Unmarshal(text, &requests)); err != nil {
		t.Fatal(err)
	}
	store := storetest.Copy(t, filepath.Join(corpus, "random-trees.db"), t.TempDir())
	views := map[[2]string][]visibleEvent{}
	eventsOn := func(session, branch string) []visibleEvent {
		key := [2]string{session, branch}
		if views[key] == nil {
			views[key] = eventsSeen(t, store, session, "--branch", branch)
		}
		return views[key]
	}
	for _, r := range requests {
		own := func(e visibleEvent) bool { return e.Agent == r.Agent && e.Text == r.Said }
		all := eventsOn(r.Session, "")
		at := slices.IndexFunc(all, own)
		if at < 0 {
			t.Errorf("%s: %s of %s is not in the session", r.Session, r.Said, r.Agent)
			continue
		}
		var saw []string
		for _, e := range eventsOn(r.Session, all[at].Branch)[:at] {
			if e.Visible {
				saw = append(saw, e.Text)
			}
		}
		slices.Sort(saw)
		slices.Sort(r.Saw)
		if diff := cmp.Diff(r.Saw, saw); diff != "" {
			t.Errorf("%s turn %d, %s on %q (-sent +view):\n%s", r.Session, r.Turn, r.Agent, all[at].Branch, diff)
		}
	}
}

func eventsSeen(t *testing.T, args ...string) []visibleEvent {
	t.Helper()
	var out, errs bytes.Buffer
	args = append(append([]string{"view"}, args...), "--format", "json", "--full")
	if code := cmd.Main(args, strings.NewReader(""), &out, &errs, func(string) string { return "" }); code != 0 {
		t.Fatalf("%v ends with %d: %s", args, code, errs.String())
	}
	var document struct{ Events []visibleEvent }
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	return document.Events
}
