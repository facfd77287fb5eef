package events_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
)

// The sessions of a recording have the shape of those that the runtime without
// the leak stored, whichever runtime was recorded. Of a child that never
// completed that runtime stored nothing: the events hold what was streamed of it.
func TestSessionsAreAsTheFixedRuntimeStoredThem(t *testing.T) {
	for name, streamed := range map[string]string{
		"clean": "", "single": "", "notext": "", "nested": "", "two-transfers": "", "same-agent-twice": "", "handoff-transfer": "",
		"err-child": `
			assistant worker "starting" w1 shell {"cmd":"ls"} unfinished
			tool worker w1 "output of {\"cmd\":\"ls\"}" unfinished`,
		"kill-child": `
			assistant worker "starting" w1 shell {"cmd":"ls"} unfinished
			tool worker w1 "output of {\"cmd\":\"ls\"}" unfinished
			assistant worker "partial answer that never" unfinished`,
	} {
		for _, runtime := range []string{"leaky", "fixed"} {
			t.Run(runtime+"/"+name, func(t *testing.T) {
				r := replay.NewRecorder(replay.Auto, true)
				for _, e := range recorded(t, corpus(t, runtime, name+".events.jsonl")) {
					r.Take(&e)
				}
				trees := r.End().Trees
				if len(trees) != 1 {
					t.Fatalf("%d trees", len(trees))
				}
				want := storedTree(t, corpus(t, "fixed", name+".db"))
				if diff := cmp.Diff(shape(want, want.Root(), ""), shape(trees[0], trees[0].Root(), "")); diff != "" {
					t.Errorf("fixed runtime (-), recording (+):\n%s", diff)
				}
				var lost strings.Builder
				for _, s := range trees[0].Sessions {
					if want.Session(s.ID) == nil && !refers(trees[0], s.ID) {
						lost.WriteString(shape(trees[0], s, ""))
					}
				}
				if diff := cmp.Diff(unindented(streamed), unindented(lost.String())); diff != "" {
					t.Errorf("of the child that never completed, want (-), got (+):\n%s", diff)
				}
			})
		}
	}
}

// shape is what a session says, without ids of sessions and times.
func shape(tree *session.Tree, s *session.Session, indent string) string {
	var b strings.Builder
	for i := range s.Items {
		it := &s.Items[i]
		if it.Kind == session.SubSession {
			b.WriteString(indent + "sub-session\n")
			if child := tree.Session(it.Child); child != nil {
				b.WriteString(shape(tree, child, indent+"  "))
			}
			continue
		}
		fmt.Fprintf(&b, "%s%s %s", indent, it.Role, it.Agent)
		for _, said := range []string{it.Body.Text, it.Body.Reasoning} {
			if said != "" {
				fmt.Fprintf(&b, " %q", said)
			}
		}
		for _, c := range it.Calls {
			fmt.Fprintf(&b, " %s %s %s", c.ID, c.Name, c.Args)
		}
		for _, r := range it.Results {
			fmt.Fprintf(&b, " %s %q", r.CallID, r.Text)
			if r.IsError {
				b.WriteString(" error")
			}
		}
		if it.Flags.Has(session.Implicit) {
			b.WriteString(" implicit")
		}
		if it.Flags.Has(session.Unfinished) {
			b.WriteString(" unfinished")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func refers(tree *session.Tree, id string) bool {
	if tree.Root().ID == id {
		return true
	}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if s.Items[i].Child == id {
				return true
			}
		}
	}
	return false
}

func unindented(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func corpus(t *testing.T, runtime, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "corpus", "docker-agent", runtime, name)
	if matches, err := filepath.Glob(path); err != nil || len(matches) == 0 {
		t.Skip("the shared corpus is not beside this checkout (../shared/corpus)")
	}
	return path
}

func storedTree(t *testing.T, path string) *session.Tree {
	t.Helper()
	tree := &session.Tree{}
	for _, s := range storedSessions(t, path) {
		if s.Parent == "" {
			tree.Sessions = append([]*session.Session{s}, tree.Sessions...)
		} else {
			tree.Sessions = append(tree.Sessions, s)
		}
	}
	return tree
}
