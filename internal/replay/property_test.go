package replay_test

import (
	"fmt"
	"regexp"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// check runs a property many times, and very many with SESSCTL_LONG=1.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	campaign.Checks(t, 1000, 50000)
	rapid.Check(t, property)
}

func TestReplayOfAHealthyTreeSkipsNothing(t *testing.T) {
	check(t, func(rt *rapid.T) {
		r := treetest.Programs().Draw(rt, "program").Render(false)
		trace := replay.TraceStored(treetest.Tree(t, r.Notation))
		for _, rs := range trace.Sessions {
			for i, step := range rs.Steps {
				if step.Action == replay.Skip {
					rt.Fatalf("%s.%d is skipped\n%s", rs.Session.ID, i, r.Notation)
				}
			}
			checkChildren(rt, trace, rs, r.Notation)
		}
	})
}

func TestReplayOfALeakyTreeSkipsExactlyWhatLeaked(t *testing.T) {
	check(t, func(rt *rapid.T) {
		r := treetest.Programs().Draw(rt, "program").Render(true)
		trace := replay.TraceStored(treetest.Tree(t, r.Notation))
		checkSteps(t, trace)
		want := ""
		for _, l := range r.Leaks {
			want += fmt.Sprintln(l.Item, l.Task, l.Twin)
		}
		if got := leaksOf(trace); got != want {
			rt.Fatalf("item, task of the delegation, twin: got\n%swant\n%s%s", got, want, r.Notation)
		}
		for _, rs := range trace.Sessions {
			checkChildren(rt, trace, rs, r.Notation)
		}
	})
}

// TestReplayDoesNotNeedTimes: without them the same items are skipped. Which of
// several equal copies is whose twin cannot be told then.
func TestReplayDoesNotNeedTimes(t *testing.T) {
	times := regexp.MustCompile(` at=\d+`)
	check(t, func(rt *rapid.T) {
		r := treetest.Programs().Draw(rt, "program").Render(true)
		notation := times.ReplaceAllString(r.Notation, "")
		leaked := map[int]bool{}
		for _, l := range r.Leaks {
			leaked[l.Item] = true
		}
		for _, rs := range replay.TraceStored(treetest.Tree(t, notation)).Sessions {
			for i, step := range rs.Steps {
				if root := rs.Session.Parent == ""; (step.Action == replay.Skip) != (root && leaked[i]) {
					rt.Fatalf("%s.%d: %v\n%s", rs.Session.ID, i, step.Action, notation)
				}
			}
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
		tree := treetest.Wild().Draw(rt, "tree")
		trace := replay.TraceStored(tree)
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
