package treetest

import (
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/session"
)

// Wild draws trees that no runtime would write: random items with ids from a
// tiny alphabet. Children form no circle, because grouping makes none.
func Wild() *rapid.Generator[*session.Tree] {
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
			it.Time = Start.Add(time.Duration(small.Draw(t, "time")) * time.Second)
		}
		return it
	})
	return rapid.Custom(func(t *rapid.T) *session.Tree {
		tree := &session.Tree{}
		rows := 0
		for i, id := range []string{"A", "B", "C", "D"}[:rapid.IntRange(1, 4).Draw(t, "sessions")] {
			s := &session.Session{ID: id, Parent: ids.Draw(t, "parent"), Task: digests.Draw(t, "task"), Items: rapid.SliceOfN(items, 0, 8).Draw(t, "items")}
			if i > 0 && rapid.Bool().Draw(t, "below") {
				above := tree.Sessions[rapid.IntRange(0, i-1).Draw(t, "above")]
				above.Children = append(above.Children, s)
			}
			for n := range s.Items {
				rows++
				s.Items[n].Table, s.Items[n].Key, s.Items[n].Body = "items", strconv.Itoa(rows), &session.Body{}
			}
			tree.Sessions = append(tree.Sessions, s)
		}
		return tree
	})
}
