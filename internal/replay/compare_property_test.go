package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestATreeIsItself(t *testing.T) {
	check(t, func(rt *rapid.T) {
		notation := treetest.Programs().Draw(rt, "program").Render(false).Notation
		mustDiffer(rt, notation, replay.Compare(treetest.Tree(t, notation), treetest.Tree(t, notation), dockerAgent), "")
	})
}

// TestCompareNeverFails gives it trees that no runtime would write.
func TestCompareNeverFails(t *testing.T) {
	check(t, func(rt *rapid.T) {
		recorded, stored := treetest.Wild().Draw(rt, "recorded"), treetest.Wild().Draw(rt, "stored")
		c := replay.Compare(recorded, stored, dockerAgent)
		checkSteps(t, c.Trace)
		known := map[string]int{}
		for _, d := range c.Differences {
			if d.Recorded != nil {
				known[fmt.Sprint(d.Recorded.ID, d.RecordedItem)]++
			}
		}
		for item, n := range known {
			if n > 1 {
				rt.Errorf("%s differs %d times", item, n)
			}
		}
	})
}

// TestWhatLeakedIsFound copies some of what children said to where their callers
// waited for them.
func TestWhatLeakedIsFound(t *testing.T) {
	check(t, func(rt *rapid.T) {
		notation := treetest.Programs().Draw(rt, "program").Sequential().Render(false).Notation
		recorded, stored := treetest.Tree(t, notation), treetest.Tree(t, notation)
		var want, got strings.Builder
		for _, s := range stored.Sessions {
			if s.Parent == "" || rapid.IntRange(0, 3).Draw(rt, "nested") == 0 {
				leakInto(rt, recorded, s, &want)
			}
		}
		c := replay.Compare(recorded, stored, dockerAgent)
		checkSteps(t, c.Trace)
		for _, rs := range c.Trace.Sessions {
			leaked := map[int]*replay.Leaked{}
			for _, d := range rs.Delegations {
				for i := range d.Leaked {
					leaked[d.Leaked[i].Item] = &d.Leaked[i]
				}
			}
			for i := range rs.Steps {
				if l := leaked[i]; l != nil {
					fmt.Fprintln(&got, rs.Session.ID, i)
					checkTwin(rt, stored, rs.Session, l)
				}
			}
		}
		if got.String() != want.String() {
			rt.Fatalf("leaked: got\n%swant\n%s%s", got.String(), want.String(), notation)
		}
		mustDiffer(rt, notation, c, "")
	})
}

// checkTwin: the twin says the same, and lies as deep below the session as the
// frame says. Which one it is of several cannot be told.
func checkTwin(rt *rapid.T, tree *session.Tree, s *session.Session, l *replay.Leaked) {
	if l.Twin == nil || l.Twin.Session.Items[l.Twin.Item].Meaning != s.Items[l.Item].Meaning {
		rt.Fatalf("%s.%d: the twin is %v", s.ID, l.Item, l.Twin)
	}
	depth := 0
	for at := l.Twin.Session; at != s; at = tree.Session(at.Parent) {
		depth++
	}
	if l.Frame.Depth() != depth {
		rt.Fatalf("%s.%d: depth %d, its twin is at depth %d", s.ID, l.Item, l.Frame.Depth(), depth)
	}
}

// leakInto copies some of what was said below a session before the items that
// refer to its children.
func leakInto(rt *rapid.T, recorded *session.Tree, s *session.Session, want *strings.Builder) {
	var items []session.Item
	var leak func(child *session.Session)
	leak = func(child *session.Session) {
		for i := range child.Items {
			it := child.Items[i]
			if it.Kind == session.SubSession {
				leak(recorded.Session(it.Child()))
			}
			if (it.Role == session.Assistant || it.Role == session.Tool) && rapid.Bool().Draw(rt, "leaks") {
				fmt.Fprintln(want, s.ID, len(items))
				it.Key = fmt.Sprint("leaked ", s.ID, len(items))
				items = append(items, it)
			}
		}
	}
	for i := range s.Items {
		if s.Items[i].Kind == session.SubSession {
			leak(recorded.Session(s.Items[i].Child()))
		}
		items = append(items, s.Items[i])
	}
	s.Items = items
}

// TestOneChangeIsOneDifference changes one item of the store.
func TestOneChangeIsOneDifference(t *testing.T) {
	changes := map[string]func(rt *rapid.T, s *session.Session, i int) string{
		"drop": func(_ *rapid.T, s *session.Session, i int) string {
			s.Items = slices.Delete(s.Items, i, i+1)
			return "lost " + s.ID
		},
		"alter": func(_ *rapid.T, s *session.Session, i int) string {
			s.Items[i].Body = &session.Body{Text: "something else"}
			return "altered " + s.ID
		},
		"move": func(rt *rapid.T, s *session.Session, i int) string {
			it := s.Items[i]
			if slices.ContainsFunc(it.Calls, func(c session.Call) bool { return c.Delegation != nil }) {
				rt.Skip("where a delegation stands decides what was said in it, so its order is not all that would change")
			}
			s.Items = slices.Delete(s.Items, i, i+1)
			// what stands before a run's first message is another run's
			to := rapid.IntRange(min(1, len(s.Items)), len(s.Items)).Filter(func(to int) bool { return to != i }).Draw(rt, "to")
			s.Items = slices.Insert(s.Items, to, it)
			return "misplaced " + s.ID
		},
		"add": func(_ *rapid.T, s *session.Session, i int) string {
			it := session.Item{Role: session.Assistant, Shared: &session.Shared{Agent: "stranger"}, Body: &session.Body{Text: "hello"}}
			s.Items = slices.Insert(s.Items, max(i, 1), it)
			return "foreign " + s.ID
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			check(t, func(rt *rapid.T) {
				notation := treetest.Programs().Draw(rt, "program").Render(false).Notation
				recorded, stored := treetest.Tree(t, notation), treetest.Tree(t, notation)
				n := rapid.IntRange(0, len(stored.Sessions)-1).Draw(rt, "session")
				i := rapid.IntRange(0, len(stored.Sessions[n].Items)-1).Draw(rt, "item")
				if r := stored.Sessions[n].Items[i].Role; r != session.User && r != session.Assistant || len(stored.Sessions[n].Items) < 3 {
					rt.Skip("a reply has no place of its own among others, and little has few places")
				}
				for _, tree := range []*session.Tree{recorded, stored} {
					tree.Sessions[n].Items[i].Body.Text = "said once"
				}
				want := change(rt, stored.Sessions[n], i)
				mustDiffer(rt, notation, replay.Compare(recorded, stored, dockerAgent), want)
			})
		})
	}
}

// mustDiffer demands one difference of a kind in a session, or none for "".
func mustDiffer(rt *rapid.T, notation string, c *replay.Comparison, want string) {
	rt.Helper()
	var got []string
	for _, d := range c.Differences {
		kind := [...]string{replay.Lost: "lost", replay.Foreign: "foreign", replay.Altered: "altered", replay.Misplaced: "misplaced"}[d.Kind]
		got = append(got, kind+" "+d.Stored.ID)
	}
	if strings.Join(got, ", ") != want {
		rt.Fatalf("differences: got %q, want %q\n%s", got, want, notation)
	}
}
