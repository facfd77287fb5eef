package forest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/forest"
)

// heads reads sessions written as "ID<PARENT:REF,REF"; parent and references
// may be left out.
func heads(text string) []forest.Head {
	var list []forest.Head
	for word := range strings.FieldsSeq(text) {
		link, refs, _ := strings.Cut(word, ":")
		id, parent, _ := strings.Cut(link, "<")
		s := &session.Session{ID: id, Parent: parent}
		for ref := range strings.SplitSeq(refs, ",") {
			if ref != "" {
				s.Items = append(s.Items, session.Item{Kind: session.SubSession, Shared: &session.Shared{Child: ref}})
			}
		}
		list = append(list, forest.HeadOf(s))
	}
	return list
}

// show writes trees as their sessions in order, each with its children:
// "P(C) C | X".
func show(trees []*session.Tree) string {
	var out []string
	for _, t := range trees {
		var words []string
		for _, s := range t.Sessions {
			word := s.ID
			var children []string
			for _, c := range s.Children {
				children = append(children, c.ID)
			}
			if children != nil {
				word += "(" + strings.Join(children, ",") + ")"
			}
			words = append(words, word)
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, " | ")
}

func TestGroup(t *testing.T) {
	tests := []struct {
		name, heads, want string
		loops             []string // "session: detail"
	}{
		{name: "no sessions"},
		{name: "alone", heads: "A B", want: "A | B"},
		{name: "recorded parent", heads: "C<P P", want: "P(C) C"},
		{name: "parent that does not exist", heads: "C<X", want: "C"},
		{name: "reference only", heads: "P:C C", want: "P(C) C"},
		{name: "reference to nothing", heads: "P:X", want: "P"},
		{name: "parent is gone, a reference is left", heads: "P:C C<X", want: "P(C) C"},
		{name: "first referrer", heads: "A:C B:C C", want: "A(C) C B"},
		{name: "recorded parent before referrer", heads: "A:C B C<B", want: "A B(C) C"},
		{name: "siblings in stored order", heads: "P:C2,C1 C1<P C2<P", want: "P(C1,C2) C1 C2"},
		{name: "depth first", heads: "D<B A B<A C<A", want: "A(B,C) B(D) D C"},
		{name: "two trees", heads: "A B C<A D<B", want: "A(C) C | B(D) D"},
		{name: "own parent", heads: "P<P C<P", want: "P(C) C", loops: []string{"P: P → P"}},
		{name: "loop of two", heads: "P<C C<P", want: "P(C) C", loops: []string{"P: P → C → P"}},
		{name: "loop of three", heads: "A<C B<A C<B", want: "A(B) B(C) C", loops: []string{"A: A → C → B → A"}},
		{name: "loop with a tail", heads: "T<B A<B B<A", want: "A(B) B(T) T", loops: []string{"A: A → B → A"}},
		{name: "two loops", heads: "A<B B<A C<D D<C", want: "A(B) B | C(D) D",
			loops: []string{"A: A → B → A", "C: C → D → C"}},
		{name: "a session outside refers into a loop", heads: "A<B B<A R:B", want: "R A(B) B",
			loops: []string{"A: A → B → A"}},
		{name: "reference to itself", heads: "A:A", want: "A"},
		{name: "references in a loop", heads: "A:B B:A", want: "A(B) B"},
		{name: "reference against a recorded link", heads: "A<B:B B", want: "B(A) A"},
		{name: "doubled id", heads: "A A C<A", want: "A(C) C | A"},
		{name: "long loop", heads: "A<B B<C C<D D<E E<F F<G G<H H<I I<J J<A",
			want:  "A(J) J(I) I(H) H(G) G(F) F(E) E(D) D(C) C(B) B",
			loops: []string{"A: A → B → C → D → E → F → G → H → … → A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trees := forest.GroupHeads(heads(tt.heads))
			if got := show(trees); got != tt.want {
				t.Errorf("trees %q, want %q", got, tt.want)
			}
			if diff := cmp.Diff(tt.loops, loops(t, trees)); diff != "" {
				t.Errorf("loops (-want +got):\n%s", diff)
			}
		})
	}
}

func loops(t *testing.T, trees []*session.Tree) []string {
	var list []string
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for _, f := range s.Faults {
				if f.Kind != session.ParentCycle || f.Item != -1 || f.Ref != s.Ref() {
					t.Errorf("session %s has the fault %+v", s.ID, f)
				}
				list = append(list, s.ID+": "+f.Detail)
			}
		}
	}
	return list
}

// Whatever the links are, every session is in one tree, links stay within
// trees, and parents come before their children.
func TestGroupAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "sessions")
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, n).Draw(t, "id")) })
		list := make([]forest.Head, n)
		for i := range list {
			s := &session.Session{ID: fmt.Sprint(i), Parent: rapid.OneOf(id, rapid.Just("")).Draw(t, "parent")}
			list[i] = forest.Head{Session: s, Refs: rapid.SliceOfN(id, 0, 3).Draw(t, "refs")}
		}
		checkTrees(t, list, forest.GroupHeads(list))
	})
}

func checkTrees(t *rapid.T, list []forest.Head, trees []*session.Tree) {
	tree, place := map[string]int{}, map[string]int{}
	total, children := 0, 0
	for i, tr := range trees {
		for _, s := range tr.Sessions {
			tree[s.ID], place[s.ID] = i, total
			total++
		}
	}
	if total != len(list) || len(tree) != len(list) {
		t.Fatalf("%d sessions in trees, of %d", total, len(list))
	}
	for _, h := range list {
		for _, id := range append(slices.Clone(h.Refs), h.Session.Parent) {
			if other, ok := tree[id]; ok && other != tree[h.Session.ID] {
				t.Fatalf("%s and %s are linked and in two trees", h.Session.ID, id)
			}
		}
		for _, c := range h.Session.Children {
			children++
			if place[c.ID] <= place[h.Session.ID] {
				t.Fatalf("child %s comes before its parent %s", c.ID, h.Session.ID)
			}
		}
	}
	if roots := total - children; roots < len(trees) {
		t.Fatalf("%d roots in %d trees", roots, len(trees))
	}
	if n := components(list); n != len(trees) {
		t.Fatalf("%d trees, but %d sets of linked sessions", len(trees), n)
	}
}

// components counts the sets of linked sessions by spreading the smallest label
// until nothing changes.
func components(list []forest.Head) int {
	label := map[string]int{}
	for i, h := range list {
		label[h.Session.ID] = i
	}
	for changed := true; changed; {
		changed = false
		for _, h := range list {
			for _, id := range append(slices.Clone(h.Refs), h.Session.Parent) {
				a, b := label[h.Session.ID], label[h.Session.ID]
				if other, ok := label[id]; ok {
					b = other
				}
				if a != b {
					label[h.Session.ID], label[id], changed = min(a, b), min(a, b), true
				}
			}
		}
	}
	distinct := map[int]bool{}
	for _, l := range label {
		distinct[l] = true
	}
	return len(distinct)
}

func TestGroupIsDeep(t *testing.T) {
	const n = 200_000
	list := make([]forest.Head, n)
	for i := range list {
		list[i] = forest.Head{Session: &session.Session{ID: fmt.Sprint(i), Parent: fmt.Sprint(i + 1)}}
	}
	trees := forest.GroupHeads(list)
	if len(trees) != 1 || len(trees[0].Sessions) != n || trees[0].Root().ID != fmt.Sprint(n-1) {
		t.Errorf("%d trees", len(trees))
	}
}

func TestMarkDangling(t *testing.T) {
	s := &session.Session{Items: []session.Item{
		{Kind: session.SubSession, Shared: &session.Shared{Child: "here"}},
		{Kind: session.SubSession, Shared: &session.Shared{Child: "gone"}},
		{Kind: session.Message},
	}}
	forest.MarkDangling(s, func(id string) bool { return id == "here" })
	for i, want := range []session.Flags{0, session.Dangling | session.Skipped, 0} {
		if s.Items[i].Flags != want {
			t.Errorf("item %d has the flags %b, want %b", i, s.Items[i].Flags, want)
		}
	}
}

// BenchmarkGroup reports the time of one session: it does not depend on n.
func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ids := make([]string, n)
			for i := range ids {
				ids[i] = fmt.Sprint(i)
			}
			for b.Loop() {
				list := make([]forest.Head, n)
				for i := range list {
					s := &session.Session{ID: ids[i]}
					if i%5 != 0 {
						s.Parent = ids[i-i%5]
					}
					list[i] = forest.Head{Session: s}
				}
				forest.GroupHeads(list)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/session")
		})
	}
}
