package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

func TestTrees(t *testing.T) {
	u := func(ids ...string) (list []string) {
		for _, id := range ids {
			list = append(list, talk("a", "u", id))
		}
		return list
	}
	cases := []struct {
		name string
		make []string
		want string
	}{
		{"no links", append(u("p", "c"), line("'1'", "a", "u", "p", 1, "x")), "p | c"},
		{"one", append(u("p", "c", "x"), asked("u", "p", "1", 1, "c")), "p(c) c | x"},
		{"the child came first", append(u("x", "c", "p"), asked("u", "p", "1", 1, "c")), "x | p(c) c"},
		{"a chain", append(u("p", "c", "g"), asked("u", "c", "1", 1, "g"), asked("u", "p", "2", 1, "c")), "p(c) c(g) g"},
		{"several children", append(u("p", "c", "x", "d"), asked("u", "p", "1", 1, "d", "c"), asked("u", "p", "2", 2, "d")), "p(c,d) c d | x"},
		{"a batch into one talk", append(u("p", "c"), asked("u", "p", "1", 1, "c", "c", "c")), "p(c) c"},
		{"two talks name one", append(u("a", "b", "c"), asked("u", "b", "1", 1, "c"), asked("u", "a", "2", 2, "c")), "a(c) c b"},
		{"two talks name two, one of them both", append(u("a", "b", "c", "d"), asked("u", "b", "1", 1, "c", "d"), asked("u", "a", "2", 2, "c")), "a(c) c b(d) d"},
		{"a cycle", append(u("p", "c"), asked("u", "p", "1", 1, "c"), asked("u", "c", "2", 1, "p")), "p(c) c"},
		{"itself", append(u("p"), asked("u", "p", "1", 1, "p")), "p"},
		{"a talk that does not exist", append(u("p"), asked("u", "p", "1", 1, "gone")), "p"},
		{"a call names it", append(u("p", "c"), spoken("u", "p", "1", 1, "assistant", said{Calls: []string{"k"}, Asks: map[string]string{"k": "c"}})), "p(c) c"},
		{"one id under two owners", append(u("p", "c"), talk("a", "v", "c"), talk("a", "v", "q"), asked("u", "p", "1", 1, "c"), asked("v", "q", "2", 1, "c")),
			"p(a/u/c) a/u/c | q(a/v/c) a/v/c"},
		{"another owner's", append(u("p"), talk("a", "v", "c"), asked("u", "p", "1", 1, "c")), "p | c"},
		{"a child without lines and a line that is broken", append(u("p", "c"), asked("u", "p", "1", 1, "c"), "insert into lines(id, app, user, talk, at, said) values('2', 'a', 'u', 'c', 1, '{')"), "p(c) c"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := linked.make(t, t.TempDir(), c.make...)
			st := linked.reading(t, path, false)
			trees := treesOf(t, st, true)
			if got := shown(trees); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if diff := cmp.Diff(trees, treesOf(t, st, true)); diff != "" {
				t.Errorf("the second time: %s", diff)
			}
			closed(t, trees)
			for _, tree := range trees {
				var ids []string
				for _, s := range tree.Sessions {
					ids = append(ids, s.ID)
				}
				if diff := cmp.Diff([]*session.Tree{tree}, treesOf(t, linked.reading(t, path, false, ids...), true)); diff != "" {
					t.Errorf("read alone: %s", diff)
				}
			}
		})
	}
}

// closed holds that no item names a session of another tree.
func closed(t tester, trees []*session.Tree) {
	t.Helper()
	in := map[string]*session.Tree{}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			in[s.ID] = tree
		}
	}
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			for _, child := range childNames(s) {
				if other := in[child]; other != nil && other != tree {
					t.Errorf("%s names %s, which is in another tree", s.ID, child)
				}
			}
		}
	}
}

// childNames are the sessions that the items of a session name, in order.
func childNames(s *session.Session) (ids []string) {
	for i := range s.Items {
		for _, r := range s.Items[i].Results {
			ids = append(ids, r.Child)
		}
		for _, c := range s.Items[i].Calls {
			if c.Delegation != nil {
				ids = append(ids, c.Delegation.Child)
			}
		}
	}
	return ids
}

// An id means a session of the same owner, and is called as that one is.
func TestChildNames(t *testing.T) {
	path := linked.make(t, t.TempDir(),
		talk("a", "u", "p"), talk("a", "u", "c"), talk("a", "v", "c"), talk("a", "v", "theirs"), talk("a", "u", "own"),
		spoken("u", "p", "1", 1, "tool", said{
			Calls: []string{"k"}, Asks: map[string]string{"k": "c"},
			Results: []answer{{From: "c"}, {From: "own"}, {From: "gone"}, {From: "theirs"}, {From: ""}},
		}))
	p := treesOf(t, linked.reading(t, path, false), false)[0].Root()
	if diff := cmp.Diff([]string{"a/u/c", "own", "gone", "a/u/theirs", "", "a/u/c"}, childNames(p)); diff != "" {
		t.Error(diff)
	}
}

// Whatever the links are, a tree is what they connect.
func TestTreesProperty(t *testing.T) {
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		count := rapid.IntRange(1, 8).Draw(rt, "talks")
		user := func(n int) string { return fmt.Sprint("u", n%2) }
		id := func(n int) string { return fmt.Sprint("s", n/2) } // each under two users
		set := make([]int, count)
		var statements []string
		for n := range set {
			set[n] = n
			statements = append(statements, talk("a", user(n), id(n)))
		}
		for i := range rapid.IntRange(0, 10).Draw(rt, "links") {
			from, to := rapid.IntRange(0, count-1).Draw(rt, "from"), rapid.IntRange(0, count+2).Draw(rt, "to")
			statements = append(statements, asked(user(from), id(from), fmt.Sprint("l", i), i%3, id(to)))
			if to = to/2*2 + from%2; to >= count {
				continue
			}
			joined, with := set[to], set[from]
			for n := range set {
				if set[n] == joined {
					set[n] = with
				}
			}
		}
		path := linked.make(rt, folder, statements...)
		trees := treesOf(rt, linked.reading(rt, path, false), false)
		closed(rt, trees)
		slices.Sort(set)
		if want := len(slices.Compact(set)); len(trees) != want {
			rt.Errorf("%d trees, want %d: %s", len(trees), want, shown(trees))
		}
		sessions := 0
		for _, tree := range trees {
			sessions += len(tree.Sessions)
		}
		if sessions != count {
			rt.Errorf("%d sessions, want %d", sessions, count)
		}
	})
}

// Trees are read when their turn comes, and small ones together.
func TestTreesAreReadBitByBit(t *testing.T) {
	const trees, events = 40, 100
	var statements []string
	for i := range trees {
		p, c := fmt.Sprint("p", i), fmt.Sprint("c", i)
		statements = append(statements, talk("a", "u", p), talk("a", "u", c), asked("u", p, p, 1, c),
			fmt.Sprintf("with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) insert into lines(id, app, user, talk, at, said) "+
				"select '%s' || '-' || i, 'a', 'u', '%s', i, '{}' from n", events-1, c, c))
	}
	path := linked.make(t, t.TempDir(), statements...)
	var decoded atomic.Int64
	counting := linked
	counting.extend = func(l *eventlog.Layout) {
		link(l)
		item := l.Item
		l.Item = func(row eventlog.Row, it *session.Item, body bool) []session.Fault {
			decoded.Add(1)
			return item(row, it, body)
		}
	}
	st := counting.reading(t, path, false)
	read := 0
	for tree, err := range st.Trees(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if read += tree.Items(); decoded.Load() > int64(read+2*1000+events) {
			t.Fatalf("%d events were decoded when %d had been yielded", decoded.Load(), read)
		}
	}
	if read != trees*events || decoded.Load() != int64(read) {
		t.Errorf("%d events were yielded, %d decoded", read, decoded.Load())
	}
}

// What Prepare reads is there before sessions are, and what it cannot read ends
// everything.
func TestPrepare(t *testing.T) {
	broken := errors.New("no table errands")
	path := linked.make(t, t.TempDir(), talk("a", "u", "s"), "insert into errands values('e', 's', 'u', 'done')")
	if got := treesOf(t, linked.reading(t, path, false), false)[0].Root().Runs; len(got) != 1 || got[0].ID != "e" {
		t.Errorf("the runs are %v", got)
	}
	failing := linked
	failing.extend = func(l *eventlog.Layout) {
		l.Prepare = func(context.Context, table.Reader, [][]table.Value) error { return broken }
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := (eventlog.Open{DB: db.Reader(), Layout: failing.layout()}).Store(t.Context()); !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	e := failing.begin(t, path)
	if _, err := e.Read(t.Context(), []string{"s"}); !errors.Is(err, broken) {
		t.Errorf("reading for a repair: %v", err)
	}
	if _, err := e.Sums(t.Context(), []string{"s"}); !errors.Is(err, broken) {
		t.Errorf("digests: %v", err)
	}
	none := &session.Tree{}
	if err := e.Write(t.Context(), &store.Change{Before: none, After: none}); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

// A tree that lost a line in memory hangs together as it does when it is read without.
func TestRelatedTreesProperty(t *testing.T) {
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		folder := func() string {
			path, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				rt.Fatal(err)
			}
			return path
		}
		count := rapid.IntRange(2, 7).Draw(rt, "talks")
		var statements []string
		for n := range count {
			statements = append(statements, talk("a", "u", fmt.Sprint("s", n)))
		}
		links := rapid.IntRange(1, 10).Draw(rt, "links")
		for i := range links {
			from, to := rapid.IntRange(0, count-1).Draw(rt, "from"), rapid.IntRange(0, count-1).Draw(rt, "to")
			statements = append(statements, asked("u", fmt.Sprint("s", from), fmt.Sprint("l", i), i, fmt.Sprint("s", to)))
		}
		at := rapid.IntRange(0, links-1).Draw(rt, "gone")
		gone := fmt.Sprint("l", at)
		st := linked.reading(rt, linked.make(rt, folder(), statements...), false)
		without := linked.make(rt, folder(), slices.Delete(slices.Clone(statements), count+at, count+at+1)...)
		now := treesOf(rt, linked.reading(rt, without, false), false)
		for _, tree := range treesOf(rt, st, false) {
			after, want := copyTree(tree), &session.Tree{}
			for _, s := range after.Sessions {
				s.Items = slices.DeleteFunc(s.Items, func(it session.Item) bool { return filepath.Base(it.Key) == gone })
			}
			slices.Reverse(after.Sessions)
			st.(store.Relater).Relate(after)
			for _, part := range now {
				if tree.Session(part.Root().ID) != nil {
					want.Sessions = append(want.Sessions, part.Sessions...)
				}
			}
			if got, want := shown([]*session.Tree{after}), shown([]*session.Tree{want}); got != want {
				rt.Errorf("without %s %q becomes %q, and is read as %q", gone, shown([]*session.Tree{tree}), got, want)
			}
		}
	})
}

// A change that leaves nobody who names a talk is refused while it is planned, also where
// what the talk names holds the tree together.
func TestTheLastNamingStays(t *testing.T) {
	path := linked.make(t, t.TempDir(),
		talk("a", "u", "p"), talk("a", "u", "b"), talk("a", "u", "c"),
		asked("u", "p", "p1", 1, "b"), asked("u", "p", "p2", 2, "c"), asked("u", "b", "b1", 1, "c"))
	st := linked.reading(t, path, false)
	before := treesOf(t, st, true)[0]
	for gone, refused := range map[string]bool{"p1": true, "p2": false, "b1": false} {
		after := copyTree(before)
		for _, s := range after.Sessions {
			s.Items = slices.DeleteFunc(s.Items, func(it session.Item) bool { return filepath.Base(it.Key) == gone })
		}
		err := st.(store.Rehearser).Rehearse(t.Context(), &store.Change{Before: before, After: after})
		if (err != nil) != refused {
			t.Errorf("without %s: %v", gone, err)
		}
	}
}
