package eventlog_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// collapsed is a talk p with a call to three errands that one talk w did, whose lines
// interleave, and a neighbour.
func collapsed(t tester, folder string) string {
	statements := []string{
		talk("a", "u", "p"), talk("a", "u", "w"), talk("a", "u", "x"), line("'x-0'", "a", "u", "x", 1, "x"),
		spoken("u", "p", "p-0", 1, "assistant", said{Calls: []string{"c0", "c1", "c2"}, Asks: map[string]string{"c0": "w", "c1": "w", "c2": "w"}}),
		asked("u", "p", "p-1", 90, "w", "w", "w"),
	}
	for turn := range 2 {
		for i := range 3 {
			statements = append(statements, spoken("u", "w", fmt.Sprintf("w-%d-%d", i, turn), 10+turn*10+i, "user", said{Text: fmt.Sprint(i, turn)}))
		}
	}
	for i := range 3 {
		statements = append(statements, fmt.Sprintf("insert into errands values('e%d', 'w', 'u', 'done')", i))
	}
	return linked.make(t, folder, statements...)
}

// copyTree is a tree that can be changed.
func copyTree(tree *session.Tree) *session.Tree {
	c := &session.Tree{}
	for _, s := range tree.Sessions {
		one := *s
		one.Items, one.Runs = slices.Clone(s.Items), slices.Clone(s.Runs)
		for i := range one.Items {
			it := &one.Items[i]
			it.Results, it.Calls = slices.Clone(it.Results), slices.Clone(it.Calls)
			for n := range it.Calls {
				if d := it.Calls[n].Delegation; d != nil {
					copied := *d
					it.Calls[n].Delegation = &copied
				}
			}
		}
		c.Sessions = append(c.Sessions, &one)
	}
	return c
}

// split gives the second and third errand of a collapsed tree talks of their own.
func split(before *session.Tree) *store.Change {
	after := copyTree(before)
	p, w := after.Session("p"), after.Session("w")
	c := &store.Change{Before: before, After: after, Split: map[string]string{}}
	for i := 1; i < 3; i++ {
		id := fmt.Sprint("w", i)
		s := &session.Session{ID: id, Title: "errand " + id, Runs: []session.Run{w.Runs[1]}}
		w.Runs = slices.Delete(w.Runs, 1, 2)
		prefix := fmt.Sprintf("w-%d-", i)
		moves := func(it session.Item) bool { return strings.HasPrefix(path.Base(it.Key), prefix) }
		for _, it := range w.Items {
			if moves(it) {
				s.Items = append(s.Items, it)
			}
		}
		w.Items = slices.DeleteFunc(w.Items, moves)
		p.Items[0].Calls[i].Delegation.Child, p.Items[1].Results[i].Child = id, id
		after.Sessions, c.Split[id] = append(after.Sessions, s), "w"
	}
	return c
}

// unlike says how a tree that was read differs from the one that was meant.
func unlike(want, got *session.Tree, numbered bool) string {
	var all []string
	read := map[string]*session.Session{}
	for _, s := range got.Sessions {
		read[s.ID] = s
	}
	for _, s := range want.Sessions {
		if read[s.ID] == nil {
			all = append(all, s.ID+" is missing")
			continue
		}
		is, now := *s, *read[s.ID]
		is.Children, now.Children = nil, nil
		if diff := different(&is, &now, numbered); diff != "" {
			all = append(all, s.ID+": "+diff)
		}
	}
	if len(read) != len(want.Sessions) {
		all = append(all, fmt.Sprint(len(read), " sessions"))
	}
	return strings.Join(all, "\n")
}

// A session is split: rows of its own, events, runs and references go where they were
// meant to, and undo takes everything back.
func TestSplit(t *testing.T) {
	path := collapsed(t, t.TempDir())
	dump, ids := storetest.Dump(t, path), []string{"p", "w", "w1", "w2", "x"}
	e := linked.begin(t, path)
	st, err := e.Read(t.Context(), []string{"p", "w"})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := e.Sums(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	c := split(treesOf(t, st, true)[0])
	if err := e.Write(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if st, err = e.Read(t.Context(), []string{"p", "w", "w1", "w2"}); err != nil {
		t.Fatal(err)
	}
	trees := treesOf(t, st, true)
	if got, want := shown(trees), "p(w,w1,w2) w w1 w2"; got != want {
		t.Errorf("the trees are %q, want %q", got, want)
	}
	if diff := unlike(c.After, trees[0], false); diff != "" {
		t.Errorf("not as planned: %s", diff)
	}
	now, err := e.Sums(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for id, same := range map[string]bool{"p": false, "w": false, "w1": false, "w2": false, "x": true} {
		if (sums[id].Record == now[id].Record) != same {
			t.Errorf("the sum of %s: same is %t", id, !same)
		}
	}
	if sums["w1"].Record != "" || now["w1"].Record == "" {
		t.Errorf("the sums of w1 were %q and are %q", sums["w1"].Record, now["w1"].Record)
	}
	for _, id := range []string{"w1", "w2"} { // what moved is what it was, by the same key
		for key, sum := range now[id].Items {
			if sums["w"].Items[key] != sum || len(now[id].Items) != 2 {
				t.Errorf("%s in %s says something else", key, id)
			}
		}
	}
	journal := finishEdit(t, e)
	db := openSQL(t, path)
	for _, q := range []struct {
		query string
		want  []string
	}{
		{"select concat(id, ' ', talk, ' ', user) from errands order by id", []string{"e0 w u", "e1 w1 u", "e2 w2 u"}},
		// A new row is as it was made; every other changes with its events.
		{"select concat_ws(' ', app, user, id, note, version) from talks order by id", []string{
			"a u p a note 1", "a u w a note 1", "a u w1 errand w1 0", "a u w2 errand w2 0", "a u x a note 0",
		}},
		{"select group_concat(id, ' ' order by at) from lines where talk like 'w%' group by talk order by talk", []string{
			"w-0-0 w-0-1", "w-1-0 w-1-1", "w-2-0 w-2-1",
		}},
		{"select json_extract(said, '$.results[0].from', '$.results[1].from', '$.results[2].from') from lines where id = 'p-1'", []string{`["w","w1","w2"]`}},
	} {
		if diff := cmp.Diff(q.want, lines(t, db, q.query)); diff != "" {
			t.Errorf("%s: %s", q.query, diff)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	undone(t, linked, path, journal, dump)
}

// undone takes a repair back and holds that everything is as it was.
func undone(t tester, f form, path string, journal []byte, dump []string) {
	t.Helper()
	e := f.begin(t, path)
	if err := e.Revert(context.Background(), journal); err != nil {
		t.Fatal(err)
	}
	finishEdit(t, e)
	if diff := cmp.Diff(dump, storetest.Dump(t, path)); diff != "" {
		t.Errorf("undo leaves %s", diff)
	}
}
