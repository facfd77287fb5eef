package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestFixesMakeWhatAHealthyRuntimeWouldHaveStored makes the default repairs of
// leaky trees and holds the result against the healthy ones: the sessions that
// these have are the same, and what they lack is in sessions of its own. Times
// are unique in a program, and so they name items.
func TestFixesMakeWhatAHealthyRuntimeWouldHaveStored(t *testing.T) {
	store := &session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}
	check(t, func(rt *rapid.T) {
		program := treetest.Programs().Draw(rt, "program").Sequential()
		leaky, healthy := program.Render(true), treetest.Tree(t, program.Render(false).Notation)
		stored := treetest.Tree(t, leaky.Notation)
		leaked := rowsOf(stored.Session("C0"), leaky.Leaks)
		after, plan := repaired(rt, store, stored)
		for _, f := range plan.Findings {
			alike := f.Rule.ID == "SC708" // answers of a program are alike, so two sessions may begin alike
			if f.Severity > rules.Info && !f.Rule.Wire && !alike {
				rt.Errorf("%s is left: %s\n%s\n%s", f.Rule.ID, f.Message, leaky.Notation, dump(after.Sessions))
			}
		}
		for _, s := range healthy.Sessions {
			if want, got := times(s), times(after.Session(s.ID)); want != got {
				rt.Errorf("session %s should hold %s, holds %s\n%s\n%s", s.ID, want, got, leaky.Notation, dump(after.Sessions))
			}
		}
		checkHomes(rt, after, healthy, leaky, leaked)
	})
}

// A message that may be the caller's own stays; what it asked for leaves with a
// reference behind it.
func TestWhatAnUndecidableMessageAskedForIsMoved(t *testing.T) {
	stored := treetest.Tree(t, `
P
  user
  root T1>worker(do it)
  worker "one"
  root "mine?" T2>beta(more)
  beta "two"
  user`)
	after, plan := repaired(t, &session.Store{Writer: session.WriterDead, Children: session.Children{ChildrenClosed: true}}, stored)
	beta := holder(after, stored.Root().ItemRef(4))
	if len(plan.Trees) != 1 || beta == nil || beta.ID == "P" || holder(after, stored.Root().ItemRef(3)).ID != "P" {
		t.Errorf("%d trees planned:\n%s", len(plan.Trees), dump(after.Sessions))
	}
}

// checkHomes makes sure that the items without a copy are in sessions that the
// repair created, in the order in which they were said. What one child said is in
// one of them; where only a part leaked that cannot always be told.
func checkHomes(t *rapid.T, after *session.Tree, healthy *session.Tree, leaky treetest.Rendered, rows []session.Ref) {
	homes := map[string]string{}
	for n, l := range leaky.Leaks {
		if l.Twin != "" {
			continue
		}
		s := holder(after, rows[n])
		if s == nil || healthy.Session(s.ID) != nil {
			t.Fatalf("item %d of the root is not in a session of its own\n%s\n%s", l.Item, leaky.Notation, dump(after.Sessions))
		}
		if home, known := homes[l.Home]; known && home != s.ID && leaky.Whole {
			t.Errorf("session %s was torn apart\n%s\n%s", l.Home, leaky.Notation, dump(after.Sessions))
		}
		homes[l.Home] = s.ID
	}
	for _, s := range after.Sessions {
		if healthy.Session(s.ID) == nil && !slices.IsSorted(strings.Fields(times(s))) {
			t.Errorf("session %s is out of order\n%s\n%s", s.ID, leaky.Notation, dump(after.Sessions))
		}
	}
}

// holder is the session that has an item, nil when none has.
func holder(tree *session.Tree, item session.Ref) *session.Session {
	for _, s := range tree.Sessions {
		if slices.ContainsFunc(s.Items, func(it session.Item) bool { return it.Table() == item.Table && it.Key == item.Key }) {
			return s
		}
	}
	return nil
}

// rowsOf are the records of the leaked items, which they keep.
func rowsOf(root *session.Session, leaks []treetest.Leak) []session.Ref {
	rows := make([]session.Ref, len(leaks))
	for n, l := range leaks {
		rows[n] = root.ItemRef(l.Item)
	}
	return rows
}

// times lists the times of the items that were stored, which name them.
func times(s *session.Session) string {
	var list []string
	for i := range s.Items {
		if t := s.Items[i].Time; !t.IsZero() && s.Items[i].Table() != "" {
			list = append(list, fmt.Sprintf("%03.0f", t.Sub(treetest.Start).Seconds()))
		}
	}
	return strings.Join(list, " ")
}

func dump(sessions []*session.Session) string {
	text := ""
	for _, s := range sessions {
		text += fmt.Sprintf("%s below %q:", s.ID, s.Parent)
		for i := range s.Items {
			it := &s.Items[i]
			text += fmt.Sprintf(" [%s %s%s", it.Role, it.Agent(), it.Child())
			for _, c := range it.Calls {
				text += " call " + c.ID
			}
			for _, r := range it.Results {
				text += " result " + r.CallID
			}
			if !it.Time.IsZero() {
				text += fmt.Sprintf(" at=%0.f", it.Time.Sub(treetest.Start).Seconds())
			}
			text += "]"
		}
		text += "\n"
	}
	return text
}
