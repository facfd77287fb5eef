package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// describe writes a comparison in a line for each session, field and item.
func describe(tree *diff.Tree) string {
	if tree == nil {
		return "equal"
	}
	var lines []string
	for i := range tree.Sessions {
		s := &tree.Sessions[i]
		line := string(s.Change) + " " + s.ID()
		if s.From != "" {
			line += " from " + s.From
		}
		if s.Left > 0 {
			line += fmt.Sprintf(" left %d", s.Left)
		}
		lines = append(lines, line)
		for _, f := range s.Fields {
			lines = append(lines, fmt.Sprintf("  %s %q %q", f.Name, f.A, f.B))
		}
		for _, it := range s.Items {
			line := "  " + string(it.Change)
			for _, p := range []*diff.Record{it.A, it.B} {
				if p != nil {
					line += fmt.Sprintf(" %s.%d", p.Session, p.Item)
				}
			}
			if it.Twin != nil {
				line += fmt.Sprintf(" twin %s.%d", it.Twin.Session, it.Twin.Item)
			}
			lines = append(lines, strings.Join(append([]string{line}, it.Differences...), " "))
		}
	}
	return strings.Join(lines, "\n")
}

const before = `
P "Fix the build"
  user "please"
  root "I ask" T1>worker(do it)
  worker "doing"
  worker "done"
  sub C
  root <T1 "done"
C<P "Transferred task"
  system(do it)
  worker "doing"
  worker "done"
`

func TestTrees(t *testing.T) {
	tests := []struct {
		name  string
		keyed bool // records are the same by their keys, which count through the notation
		b     string
		want  string
	}{
		{"equal", false, before, "equal"},
		{"a leak that was removed", false, `
P "Fix the build"
  user "please"
  root "I ask" T1>worker(do it)
  sub C
  root <T1 "done"
C<P "Transferred task"
  system(do it)
  worker "doing"
  worker "done"
`, "changed P\n  gone P.2 twin C.1\n  gone P.3 twin C.2"},
		{"a title and a time", false, strings.Replace(strings.Replace(before, "Fix the build", "Mend it", 1), `"please"`, `"please" at=5`, 1),
			"changed P\n  title \"Fix the build\" \"Mend it\"\n  changed P.0 P.0 time"},
		{"another text in its place", false, strings.Replace(before, `"I ask"`, `"I beg"`, 1), "changed P\n  changed P.1 P.1 text"},
		{"another text by key", true, strings.Replace(before, `"I ask"`, `"I beg"`, 1), "changed P\n  changed P.1 P.1 text"},
		{"archived", false, strings.Replace(before, `"please"`, `"please" archived`, 1), "changed P\n  changed P.0 P.0 archived"},
		{"a new order", false, strings.Replace(before, "  worker \"doing\"\n  worker \"done\"\n  sub C\n", "  sub C\n  worker \"doing\"\n  worker \"done\"\n", 1),
			"changed P\n  moved P.4 P.2"},
		{"more at the end", true, before + "  worker \"more\"\n", "changed C\n  added C.3"},
		{"more from a person is no copy", true, before + "  user \"please\"\n", "changed C\n  added C.3"},
		{"a new leak", true, before + "  root \"I ask\" T1>worker(do it)\n", "changed C\n  added C.3 twin P.1"},
		{"a session that was split", false, `
P "Fix the build"
  user "please"
  root "I ask" T1>worker(do it)
  sub C
  sub D
  root <T1 "done"
C<P "Transferred task"
  system(do it)
  worker "doing"
  worker "done"
D<P
  worker "doing"
  worker "done"
`, "changed P left 2\n  added P.3\nadded D from P\n  moved P.2 D.0\n  moved P.3 D.1"},
		{"a session that is gone", false, `
P "Fix the build"
  user "please"
  root "I ask" T1>worker(do it)
  worker "doing"
  worker "done"
  root <T1 "done"
`, "changed P\n  gone P.4\ngone C\n  gone C.0\n  gone C.1 twin P.2\n  gone C.2 twin P.3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, tally := diff.CompareTrees(treetest.Trees(t, before), treetest.Trees(t, tt.b), diff.Form{Keyed: tt.keyed, Alike: true}, diff.Sums{})
			if d := cmp.Diff(tt.want, describe(tree)); d != "" {
				t.Error(d)
			}
			counts := tally.Items
			if n := counts.Gone + counts.Moved + counts.Changed + counts.Equal; n != 9 {
				t.Errorf("%d items of the first store are accounted for, not 9: %+v", n, counts)
			}
		})
	}
}

// A summary keeps its tail where an item before it goes: the number changes, its meaning
// does not.
func TestAKeptTailIsComparedByWhatItBeginsWith(t *testing.T) {
	const long = "P\n  user \"a\"\n  user \"b\"\n  user \"c\"\n  summary \"s\" kept=2\n"
	a := treetest.Trees(t, long)
	for _, tt := range []struct{ b, want string }{
		{"P\n  user \"b\"\n  user \"c\"\n  summary \"s\" kept=1\n", "changed P\n  gone P.0"},
		{"P\n  user \"a\"\n  user \"b\"\n  user \"c\"\n  summary \"s\" kept=1\n", "changed P\n  changed P.3 P.3 kept_from"},
	} {
		tree, _ := diff.CompareTrees(a, treetest.Trees(t, tt.b), diff.Form{Alike: true}, diff.Sums{})
		if d := cmp.Diff(tt.want, describe(tree)); d != "" {
			t.Error(d)
		}
	}
}

// A store that was written anew has other records under the same keys.
func TestKeysThatMeanOtherRecordsAreNotTrusted(t *testing.T) {
	b := "P \"Fix the build\"\n  user \"first of all\"\n" + strings.TrimPrefix(before, "\nP \"Fix the build\"\n")
	tree, _ := diff.CompareTrees(treetest.Trees(t, before), treetest.Trees(t, b), diff.Form{Keyed: true, Alike: true}, diff.Sums{})
	if d := cmp.Diff("changed P\n  added P.0", describe(tree)); d != "" {
		t.Error(d)
	}
}

// One time for all, as a copying program writes it, says nothing of which record is which.
func TestATimeAloneDoesNotMakeKeysTrusted(t *testing.T) {
	const a = "P\n  user \"a\" at=5\n  user \"b\" at=5\n  user \"c\" at=5\n  root \"d\" at=5\n"
	const b = "P\n  user \"new\" at=5\n  user \"a\" at=5\n  user \"b\" at=5\n  user \"c\" at=5\n  root \"d\" at=5\n"
	tree, _ := diff.CompareTrees(treetest.Trees(t, a), treetest.Trees(t, b), diff.Form{Keyed: true, Alike: true}, diff.Sums{})
	if d := cmp.Diff("changed P\n  added P.0", describe(tree)); d != "" {
		t.Error(d)
	}
}

// Two items that changed places: the same one has moved, whichever store comes first.
func TestTiesAreBrokenWhicheverStoreComesFirst(t *testing.T) {
	const a, b = "P\n  user \"a\"\n  user \"b\"\n", "P\n  user \"b\"\n  user \"a\"\n"
	for _, keyed := range []bool{false, true} {
		form := diff.Form{Keyed: keyed, Alike: true}
		there, _ := diff.CompareTrees(treetest.Trees(t, a), treetest.Trees(t, b), form, diff.Sums{})
		back, _ := diff.CompareTrees(treetest.Trees(t, b), treetest.Trees(t, a), form, diff.Sums{})
		if d := cmp.Diff(pairs(there, false), pairs(back, true)); d != "" {
			t.Error(d)
		}
	}
}

func forms(t *rapid.T) diff.Form {
	return diff.Form{Keyed: rapid.Bool().Draw(t, "keyed"), Alike: rapid.Bool().Draw(t, "alike")}
}

func TestNothingDiffersFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := treetest.Wild().Draw(t, "tree")
		found, tally := diff.CompareTrees([]*session.Tree{tree}, []*session.Tree{tree}, forms(t), diff.Sums{})
		if found != nil || tally.Items.Equal != tree.Items() || tally.Sessions.Equal != len(tree.Sessions) {
			t.Fatalf("%s\n%+v", describe(found), tally)
		}
	})
}

// pairs are the items that moved or changed, with both of their places.
func pairs(tree *diff.Tree, turned bool) map[string]diff.Change {
	list := map[string]diff.Change{}
	if tree == nil {
		return list
	}
	for i := range tree.Sessions {
		for _, it := range tree.Sessions[i].Items {
			if it.A == nil || it.B == nil {
				continue
			}
			if turned {
				it.A, it.B = it.B, it.A
			}
			list[fmt.Sprint(*it.A, *it.B)] = it.Change
		}
	}
	return list
}

// TestDifferencesAreMirrored exchanges the stores: what was added is gone, what moved and
// changed still does, and every item is accounted for.
func TestDifferencesAreMirrored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, form := treetest.Wild().Draw(t, "a"), treetest.Wild().Draw(t, "b"), forms(t)
		there, forth := diff.CompareTrees([]*session.Tree{a}, []*session.Tree{b}, form, diff.Sums{})
		back, mirror := diff.CompareTrees([]*session.Tree{b}, []*session.Tree{a}, form, diff.Sums{})
		for _, c := range []struct{ forth, back diff.Counts }{{forth.Sessions, mirror.Sessions}, {forth.Items, mirror.Items}} {
			c.back.Added, c.back.Gone = c.back.Gone, c.back.Added
			if c.forth != c.back {
				t.Fatalf("%+v and %+v\nA to B:\n%s\nB to A:\n%s", c.forth, c.back, describe(there), describe(back))
			}
		}
		if d := cmp.Diff(pairs(there, false), pairs(back, true)); d != "" {
			t.Fatalf("other items moved or changed when the stores change places:\n%s", d)
		}
		if n := forth.Items; n.Gone+n.Moved+n.Changed+n.Equal != a.Items() || n.Added+n.Moved+n.Changed+n.Equal != b.Items() {
			t.Fatalf("%+v for %d and %d items", n, a.Items(), b.Items())
		}
	})
}
