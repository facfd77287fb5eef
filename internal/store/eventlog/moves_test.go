package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/store/table"
)

// moving are forms whose events can go to another session. All but the last number
// them.
func moving() []form {
	list := []form{counted, rowNumbered, free, linked}
	for i := range list[:3] {
		list[i].extend = func(l *eventlog.Layout) { l.OneID, l.Write.Create = true, createPlain }
	}
	return list
}

func createPlain(s *session.Session, _ eventlog.Row) ([]table.Field, error) {
	return []table.Field{{Name: "id", Value: s.ID}, {Name: "note", Value: s.Title}}, nil
}

// isStored reports whether an item is a stored one, whole.
func isStored(it session.Item) bool {
	return it.Table() != "" && !strings.Contains(it.Key, "#results/")
}

// randomMove changes lists of items, between which items may move. Every list that has
// a new item keeps a stored one beside it.
func randomMove(t *rapid.T, lists [][]session.Item) {
	index := rapid.IntRange(0, len(lists)-1)
	from, to := &lists[index.Draw(t, "from")], &lists[index.Draw(t, "to")]
	place := rapid.IntRange(0, len(*to)).Draw(t, "place")
	stored := 0
	for _, it := range *from {
		if isStored(it) {
			stored++
		}
	}
	if stored < 2 {
		return
	}
	n := rapid.IntRange(0, len(*from)-1).Draw(t, "item")
	it := (*from)[n]
	switch rapid.SampledFrom([]string{"new", "move", "part", "archive"}).Draw(t, "edit") {
	case "new":
		*from = slices.Insert(slices.Clone(*from), n, newResult("c3"))
	case "move":
		if isStored(it) && from != to {
			*from = slices.Delete(slices.Clone(*from), n, n+1)
			*to = slices.Insert(slices.Clone(*to), place, it)
		}
	case "part":
		if len(it.Results) == 2 && from != to {
			part := partOf(&(*from)[n], rapid.IntRange(0, 1).Draw(t, "nth"))
			*to = slices.Insert(slices.Clone(*to), place, part)
		}
	case "archive":
		if isStored(it) {
			(*from)[n].Flags ^= session.Archived
		}
	}
}

// randomChange is a change of some sessions, and perhaps splits another one off.
func randomChange(t *rapid.T, before *session.Tree) *store.Change {
	c := &store.Change{Before: before, After: &session.Tree{}, Split: map[string]string{}}
	was := copyTree(before).Sessions
	if rapid.Bool().Draw(t, "split") {
		was = append(was, &session.Session{ID: "new", Title: "new"})
		c.Split["new"] = "s"
	}
	lists := make([][]session.Item, len(was))
	for i, s := range was {
		lists[i] = slices.Clone(s.Items)
	}
	for range rapid.IntRange(1, 8).Draw(t, "edits") {
		randomMove(t, lists)
	}
	for i, s := range was {
		c.After.Sessions = append(c.After.Sessions, edited(s, func([]session.Item) []session.Item { return lists[i] }))
	}
	return c
}

// readAll reads sessions in a transaction as one tree.
func readAll(t tester, e store.Editor, ids ...string) *session.Tree {
	t.Helper()
	st, err := e.Read(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	all := &session.Tree{}
	for _, tree := range treesOf(t, st, true) {
		all.Sessions = append(all.Sessions, tree.Sessions...)
	}
	return all
}

// Wherever events go, they read as meant, keep their keys, and come back.
func TestMovesProperty(t *testing.T) {
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom(moving()).Draw(rt, "form")
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := f.session(rt, folder)
		dump := storetest.Dump(rt, path)
		e := f.begin(rt, path)
		c := randomChange(rt, readAll(rt, e, "s", "other"))
		if err := e.Write(t.Context(), c); err != nil {
			rt.Fatal(err)
		}
		if diff := unlike(c.After, readAll(rt, e, "s", "other", "new"), f.number); diff != "" {
			rt.Errorf("not as planned: %s", diff)
		}
		undone(rt, f, path, finishEdit(rt, e), dump)
	})
}

// A run that goes to another session changes both, and nothing else.
func TestRunMoves(t *testing.T) {
	path := collapsed(t, t.TempDir())
	dump := storetest.Dump(t, path)
	e := linked.begin(t, path)
	before := readAll(t, e, "p", "w")
	c := &store.Change{Before: before, After: copyTree(before)}
	p, w := c.After.Session("p"), c.After.Session("w")
	p.Runs, w.Runs = w.Runs[2:], w.Runs[:2]
	if err := e.Write(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := unlike(c.After, readAll(t, e, "p", "w"), false); diff != "" {
		t.Errorf("not as planned: %s", diff)
	}
	journal := finishEdit(t, e)
	db := openSQL(t, path)
	if diff := cmp.Diff([]string{"p1", "w1", "x0"}, lines(t, db, "select id || version from talks order by id")); diff != "" {
		t.Errorf("versions: %s", diff)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	undone(t, linked, path, journal, dump)
}

// A new event beside one that moved belongs to the session that both are in now.
func TestNewEventBesideMovedOne(t *testing.T) {
	path := collapsed(t, t.TempDir())
	e := linked.begin(t, path)
	c := split(readAll(t, e, "p", "w"))
	s := c.After.Session("w2")
	added := newResult("c9")
	added.Position = s.Items[1].Position + 1
	s.Items = append(s.Items, added)
	if err := e.Write(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := unlike(c.After, readAll(t, e, "p", "w", "w1", "w2"), false); diff != "" {
		t.Errorf("not as planned: %s", diff)
	}
}

func TestSplitRefused(t *testing.T) {
	plain := func(l *eventlog.Layout) {
		link(l)
		l.Write.Create = nil
	}
	scoped := func(l *eventlog.Layout) {
		link(l)
		l.OneID = false
	}
	renamed := func(id string) func(*store.Change) {
		return func(c *store.Change) {
			c.After.Session("w1").ID = id
			c.Split[id] = "w"
		}
	}
	cases := []struct {
		name   string
		extend func(*eventlog.Layout)
		change func(c *store.Change)
		want   string
	}{
		{"a store that makes no sessions", plain, func(*store.Change) {}, "cannot add a session like that"},
		{"ids that mean something within a session only", scoped, func(*store.Change) {}, "was not in it before"},
		{"nothing says what it is split from", link, func(c *store.Change) { clear(c.Split) }, "cannot add a session like that"},
		{"split from what does not exist", link, func(c *store.Change) { c.Split["w1"] = "gone" }, "cannot add a session like that"},
		{"split from what is new itself", link, func(c *store.Change) { c.Split["w1"] = "w2" }, "cannot add a session like that"},
		{"an id that is taken", link, renamed("x"), "already has a session with that id"},
		{"an id that several have", link, renamed("twice"), "already has a session with that id"},
		{"a moved event that says something else now", link, func(c *store.Change) { c.Before.Session("w").Items[1].Meaning++ }, "changed after the repair was planned"},
		{"a moved event that stays as well", link, func(c *store.Change) {
			c.After.Session("w").Items = append(c.After.Session("w").Items, c.After.Session("w1").Items[0])
		}, "twice"},
	}
	path := collapsed(t, t.TempDir())
	run(t, path, talk("a", "u", "twice"), talk("a", "v", "twice"))
	dump := storetest.Dump(t, path)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := linked
			f.extend = c.extend
			e := f.begin(t, path)
			change := split(readAll(t, e, "p", "w"))
			c.change(change)
			err := e.Write(t.Context(), change)
			if problem.ClassOf(err) != problem.RolledBack || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("got %v", err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(dump, storetest.Dump(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is stored of a session in other tables belongs to its sum.
func TestSumsCoverWhatIsBeside(t *testing.T) {
	read := func(statements ...string) map[string]store.Sum {
		path := collapsed(t, t.TempDir())
		run(t, path, statements...)
		sums, err := linked.reading(t, path, false).(store.Summer).Sums(t.Context(), []string{"p", "w", "gone"})
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	was, now := read(), read("update errands set state = 'failed' where id = 'e1'")
	if was["w"].Record == now["w"].Record || was["p"].Record != now["p"].Record || now["gone"].Record != "" {
		t.Errorf("the sums were %v and are %v", was, now)
	}
	if diff := cmp.Diff(was["w"].Items, now["w"].Items); diff != "" {
		t.Errorf("of events: %s", diff)
	}
}

// TestWriteStops ends a change while its first event is composed: no other one is.
func TestWriteStops(t *testing.T) {
	f := timed
	path := f.session(t, t.TempDir())
	stored := storetest.Dump(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	composed := 0
	e, err := eventlog.Edit(t.Context(), storetest.Source(path), func(_ context.Context, db table.Reader, stored table.Schema) (session.Store, *eventlog.Layout, error) {
		facts, layout, err := f.reread(t.Context(), db, stored)
		update := layout.Write.Update
		layout.Write.Update = func(row *docedit.Row, c *change.Item) error {
			composed++
			cancel()
			return update(row, c)
		}
		return facts, layout, err
	})
	if err == nil {
		err = e.Begin(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	before := inTransaction(t, e, "s")
	after := edited(before.Sessions[0], func(items []session.Item) []session.Item {
		for i := range items {
			items[i].Own().Branch += ".elsewhere"
		}
		return items
	})
	err = e.Write(ctx, &store.Change{Before: before, After: &session.Tree{Sessions: []*session.Session{after}}})
	if !errors.Is(err, context.Canceled) || composed != 1 || len(after.Items) < 2 {
		t.Errorf("%d of %d events were composed: %v", composed, len(after.Items), err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stored, storetest.Dump(t, path)); diff != "" {
		t.Error(diff)
	}
}
