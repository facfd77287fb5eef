package replay_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// check runs a property many times, and very many with SESSCTL_LONG=1.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	checks := "1000"
	if os.Getenv("SESSCTL_LONG") != "" {
		checks = "50000"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, property)
}

func TestReplayOfAHealthyTreeSkipsNothing(t *testing.T) {
	check(t, func(rt *rapid.T) {
		r := render(programs().Draw(rt, "program"), false)
		trace := replay.Stored(treetest.Tree(t, r.notation))
		for _, rs := range trace.Sessions {
			for i, step := range rs.Steps {
				if step.Action == replay.Skip {
					rt.Fatalf("%s.%d is skipped\n%s", rs.Session.ID, i, r.notation)
				}
			}
			checkChildren(rt, trace, rs, r.notation)
		}
	})
}

func TestReplayOfALeakyTreeSkipsExactlyWhatLeaked(t *testing.T) {
	check(t, func(rt *rapid.T) {
		r := render(programs().Draw(rt, "program"), true)
		trace := replay.Stored(treetest.Tree(t, r.notation))
		checkSteps(t, trace)
		want := ""
		for _, l := range r.leaks {
			want += fmt.Sprintln(l.item, l.call, l.twin)
		}
		if got := leaksOf(trace); got != want {
			rt.Fatalf("item, task of the delegation, twin: got\n%swant\n%s%s", got, want, r.notation)
		}
		for _, rs := range trace.Sessions {
			checkChildren(rt, trace, rs, r.notation)
		}
	})
}

// leaksOf lists the skipped items in stored order, in the form of the truth.
func leaksOf(trace *replay.Trace) string {
	lines := map[int]string{}
	for _, d := range trace.Sessions[0].Delegations {
		for _, l := range d.Leaked {
			twin := ""
			if l.Twin != nil {
				twin = fmt.Sprintf("%s.%d", l.Twin.Session.ID, l.Twin.Item)
			}
			lines[l.Item] = fmt.Sprintln(l.Item, d.Call().Args, twin)
		}
	}
	text := ""
	for i, step := range trace.Sessions[0].Steps {
		if step.Action == replay.Skip {
			text += lines[i]
		}
	}
	return text
}

// checkChildren holds the linked children against their tasks, which are unique
// in a program.
func checkChildren(t *rapid.T, trace *replay.Trace, rs *replay.Session, notation string) {
	for _, d := range rs.Delegations {
		if d.Child != nil && d.Child.Task != session.DigestOf(d.Call().Args) {
			t.Fatalf("%s.%d %s has the child %s of another task\n%s", rs.Session.ID, d.Item, d.Call().ID, d.Child.ID, notation)
		}
	}
	if rs.Session.Parent != "" && trace.Callers[rs.Session] == nil {
		t.Fatalf("nobody called %s\n%s", rs.Session.ID, notation)
	}
}

// TestReplayNeverFails gives replay trees that no runtime would write.
func TestReplayNeverFails(t *testing.T) {
	check(t, func(rt *rapid.T) {
		tree := wildTrees().Draw(rt, "tree")
		trace := replay.Stored(tree)
		checkSteps(t, trace)
		if len(trace.Sessions) != len(tree.Sessions) {
			rt.Fatalf("%d sessions replayed, not %d", len(trace.Sessions), len(tree.Sessions))
		}
		for i, rs := range trace.Sessions {
			if rs.Session != tree.Sessions[i] || len(rs.Steps) != len(tree.Sessions[i].Items) {
				rt.Fatalf("session %d: %d steps", i, len(rs.Steps))
			}
		}
	})
}

// wildTrees draws trees of random items with ids from a tiny alphabet. Children
// form no circle, because grouping makes none.
func wildTrees() *rapid.Generator[*session.Tree] {
	ids := rapid.SampledFrom([]string{"", "A", "B", "C", "D"})
	small := rapid.IntRange(0, 3)
	digests := rapid.Custom(func(t *rapid.T) session.Digest { return session.Digest(small.Draw(t, "digest")) })
	calls := rapid.Custom(func(t *rapid.T) session.Call {
		c := session.Call{ID: ids.Draw(t, "id")}
		if rapid.Bool().Draw(t, "delegates") {
			c.Delegation = &session.Delegation{
				Agent: ids.Draw(t, "agent"), Child: ids.Draw(t, "child"),
				Task: digests.Draw(t, "task"), Blocking: rapid.Bool().Draw(t, "blocking"),
			}
		}
		return c
	})
	results := rapid.Custom(func(t *rapid.T) session.Result {
		return session.Result{CallID: ids.Draw(t, "call"), Digest: digests.Draw(t, "digest")}
	})
	items := rapid.Custom(func(t *rapid.T) session.Item {
		it := session.Item{
			Kind: session.Kind(small.Draw(t, "kind")), Role: session.Role(rapid.IntRange(0, 4).Draw(t, "role")),
			Flags: session.Flags(rapid.Uint8Range(0, 127).Draw(t, "flags")), Agent: ids.Draw(t, "agent"), Child: ids.Draw(t, "child"),
			Calls: rapid.SliceOfN(calls, 0, 2).Draw(t, "calls"), Results: rapid.SliceOfN(results, 0, 2).Draw(t, "results"),
			Meaning: digests.Draw(t, "meaning"), Text: digests.Draw(t, "text"), KeptFrom: int64(rapid.IntRange(-2, 6).Draw(t, "kept")),
		}
		if rapid.Bool().Draw(t, "timed") {
			it.Time = treetest.Start.Add(time.Duration(small.Draw(t, "time")) * time.Second)
		}
		return it
	})
	return rapid.Custom(func(t *rapid.T) *session.Tree {
		tree := &session.Tree{}
		for i, id := range []string{"A", "B", "C", "D"}[:rapid.IntRange(1, 4).Draw(t, "sessions")] {
			s := &session.Session{ID: id, Parent: ids.Draw(t, "parent"), Task: digests.Draw(t, "task"), Items: rapid.SliceOfN(items, 0, 8).Draw(t, "items")}
			if i > 0 && rapid.Bool().Draw(t, "below") {
				above := tree.Sessions[rapid.IntRange(0, i-1).Draw(t, "above")]
				above.Children = append(above.Children, s)
			}
			tree.Sessions = append(tree.Sessions, s)
		}
		return tree
	})
}
