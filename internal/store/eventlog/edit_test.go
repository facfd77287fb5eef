package eventlog_test

import (
	"context"
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
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/storetest"
	"github.com/sessctl/sessctl/internal/store/table"
)

func (f form) reread(_ context.Context, _ table.Reader, _ table.Schema) (session.Store, *eventlog.Layout, error) {
	return session.Store{Keys: session.Keys{Renumbers: f.number}}, f.layout(), nil
}

// begin opens a database for repair, in a transaction.
func (f form) begin(t tester, path string) store.Editor {
	t.Helper()
	e, err := eventlog.Edit(context.Background(), storetest.Source(path), f.reread)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	if err := e.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	return e
}

// finishEdit commits and closes, and gives the journal.
func finishEdit(t tester, e store.Editor) []byte {
	t.Helper()
	journal, err := e.Journal()
	if err == nil {
		err = e.Commit(context.Background())
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return journal
}

// inTransaction reads sessions as the transaction sees them, with bodies.
func inTransaction(t tester, e store.Editor, ids ...string) *session.Tree {
	t.Helper()
	st, err := e.Read(context.Background(), ids)
	if err != nil {
		t.Fatal(err)
	}
	tree := &session.Tree{Sessions: sessionsOf(t, st, true)}
	if len(tree.Sessions) != len(ids) {
		t.Fatalf("%d sessions were read, not %d", len(tree.Sessions), len(ids))
	}
	return tree
}

// edited is a copy of a session with its items changed, each of which is at a
// position behind the one before it.
func edited(s *session.Session, change func(items []session.Item) []session.Item) *session.Session {
	c := *s
	c.Items = change(slices.Clone(s.Items))
	was := map[string]int{}
	for i := range s.Items {
		was[s.Items[i].Key] = i
	}
	last, place := int64(-1), -1
	for i := range c.Items {
		it := &c.Items[i]
		at, stored := was[it.Key]
		if !stored || at < place || it.Position <= last {
			it.Position = last + 1
		}
		last, place = it.Position, max(place, at)
	}
	for i := range c.Items { // as reading will find them
		for n := range c.Items[i].Results {
			c.Items[i].Results = slices.Clone(c.Items[i].Results)
			c.Items[i].Results[n].Pending = false
		}
	}
	finish(&c)
	return &c
}

func newResult(call string) session.Item {
	return session.Item{
		Key: "new", Role: session.Tool, Body: &session.Body{},
		Results: []session.Result{{CallID: call, Text: "none", Digest: session.DigestOf("none")}},
	}
}

// partOf takes a result out of an item, as the repair does.
func partOf(it *session.Item, nth int) session.Item {
	part := *it
	part.Key += fmt.Sprint("#results/", nth)
	part.Role, part.Calls, part.Results, part.Body = session.Tool, nil, []session.Result{it.Results[nth]}, &session.Body{}
	part.Text, part.Flags, part.Own().Branch = 0, 0, ""
	it.Results = slices.Delete(slices.Clone(it.Results), nth, nth+1)
	return part
}

// different says how a session that was read differs from the one that was
// meant. Where records are numbered, positions are only an order.
func different(want, got *session.Session, numbered bool) string {
	plain := func(s *session.Session) *session.Session {
		c := *s
		c.Faults, c.Items = nil, slices.Clone(s.Items)
		for i := range c.Items {
			it := &c.Items[i]
			body := *it.Body
			body.Raw = nil
			it.Body, it.Own().Table, it.Meaning = &body, "", 0
			if i < len(want.Items) && (want.Items[i].Table() == "" || strings.Contains(want.Items[i].Key, "#results/")) {
				it.Key = ""
			}
			if numbered {
				it.Position = 0
			}
			if len(it.Results) == 0 {
				it.Results = nil
			}
		}
		return &c
	}
	return cmp.Diff(plain(want), plain(got))
}

// writes makes a change of the session s and holds that it reads as meant, that
// the sums changed, and that undo gives the old dump.
func (f form) writes(t tester, path string, change func(s *session.Session) *store.Change) {
	t.Helper()
	before, ctx := storetest.Dump(t, path), context.Background()
	e := f.begin(t, path)
	s := inTransaction(t, e, "s").Root()
	c := change(s)
	if err := e.Write(ctx, c); err != nil {
		t.Fatal(err)
	}
	if diff := different(c.After.Root(), inTransaction(t, e, "s").Root(), f.number); diff != "" {
		t.Errorf("the session is not as planned: %s", diff)
	}
	journal := finishEdit(t, e)
	events := func(dump []string) []string {
		return slices.DeleteFunc(slices.Clone(dump), func(row string) bool { return !strings.HasPrefix(row, "lines ") })
	}
	version := "0" // every change of an event changes the session's own row
	if !slices.Equal(events(before), events(storetest.Dump(t, path))) {
		version = "1"
	}
	db := openSQL(t, path)
	if got := lines(t, db, "select cast(version as text) from talks order by rowid limit 1"); !slices.Equal(got, []string{version}) {
		t.Errorf("the session is of version %s, want %s", got, version)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	e = f.begin(t, path)
	if err := e.Revert(ctx, journal); err != nil {
		t.Fatal(err)
	}
	finishEdit(t, e)
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Errorf("undo leaves %s", diff)
	}
}

// session is a session s of five lines and a neighbour.
func (f form) session(t tester, folder string) string {
	columns, values, other := "", "", ""
	if f.scoped {
		columns, values, other = "app, user, ", "'a', 'u', ", "'a', 'v', "
	}
	statements := []string{
		"insert into talks(" + columns + "id, note) values(" + values + "'s', 'n'), (" + other + "'other', 'n')",
	}
	for i, text := range []string{
		`'user', x'', '{"text":"do"}'`, `'assistant', 1.0, '{"text":"well","calls":["c1","c2"]}'`, `'tool', null, '{"results":[{"call":"c1","text":"one"},{"call":"c2","text":"two"}]}'`,
		`'assistant', '1', '{"calls":["c3"]}'`, `'user', 5, '{"text":"and?"}'`,
	} {
		for id, owner := range map[string]string{"s": values, "other": other} {
			at := i*20 + len(id)
			statements = append(statements, fmt.Sprintf("insert into lines(%stalk, id, at, role, extra, said) values(%s'%s', '%s-%d', %d, %s)", columns, owner, id, id, i, at, text))
		}
	}
	slices.Sort(statements[1:])
	return f.make(t, folder, statements...)
}

func TestWrite(t *testing.T) {
	cases := []struct {
		name   string
		change func(items []session.Item) []session.Item
		sets   []session.Edit
	}{
		{"nothing", func(items []session.Item) []session.Item { return items }, nil},
		{"a new event in the middle", func(items []session.Item) []session.Item { return slices.Insert(items, 4, newResult("c3")) }, nil},
		{"a new event at the end", func(items []session.Item) []session.Item { return append(items, newResult("c3")) }, nil},
		{"a new event at the start", func(items []session.Item) []session.Item { return slices.Insert(items, 0, newResult("c3")) }, nil},
		{"two for one call", func(items []session.Item) []session.Item {
			return slices.Insert(items, 4, newResult("c3"), newResult("c3"))
		}, nil},
		{"an event leaves", func(items []session.Item) []session.Item { return slices.Delete(items, 2, 3) }, nil},
		{"all but one leave", func(items []session.Item) []session.Item { return items[4:] }, nil},
		{"two change places", func(items []session.Item) []session.Item {
			items[0], items[1] = items[1], items[0]
			return items
		}, nil},
		{"the last one goes first", func(items []session.Item) []session.Item { return append(items[4:5:5], items[:4]...) }, nil},
		{"what an event says", func(items []session.Item) []session.Item {
			items[3].Calls = []session.Call{{ID: "c4", Args: "{}"}}
			items[4].Own().Branch = "p.a"
			items[0].Flags |= session.Archived
			return items
		}, nil},
		{"a changed event gets a new number", func(items []session.Item) []session.Item {
			items[3].Calls = []session.Call{{ID: "c4", Args: "{}"}}
			return slices.Insert(items, 3, newResult("c1"))
		}, nil},
		{"a result of several becomes an event", func(items []session.Item) []session.Item {
			part := partOf(&items[2], 1)
			return slices.Insert(items, 4, part)
		}, nil},
		{"both results become events", func(items []session.Item) []session.Item {
			second := partOf(&items[2], 1)
			first := partOf(&items[2], 0)
			return slices.Insert(slices.Delete(items, 2, 3), 2, second, first)
		}, nil},
		{"a result leaves for the receipt, another answers to a new id", func(items []session.Item) []session.Item {
			partOf(&items[2], 0)
			items[2].Results[0].CallID = "c9"
			return items
		}, nil},
		{"what no column holds", func(items []session.Item) []session.Item {
			body := *items[0].Body
			body.Raw = nil
			items[0].Body = &body
			return items
		}, nil},
		{"columns that the model does not hold", func(items []session.Item) []session.Item { return items }, []session.Edit{
			{Op: session.Set, Ref: session.Ref{Session: "s", Table: session.TableSessions, Key: "s"}, Field: "note", Value: new("n")},
			{Op: session.Set, Ref: session.Ref{Session: "s", Table: "lines", Key: "s-1"}, Field: "extra", Value: new("7")},
		}},
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			path := f.session(t, t.TempDir())
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					f.writes(t, path, func(s *session.Session) *store.Change {
						sets := slices.Clone(c.sets)
						for i := range sets {
							if r := &sets[i].Ref; f.scoped && f.extend == nil && r.Table == "lines" {
								r.Key = "s/" + r.Key
							}
						}
						after := edited(s, c.change)
						return &store.Change{Before: &session.Tree{Sessions: []*session.Session{s}}, After: &session.Tree{Sessions: []*session.Session{after}}, Sets: sets}
					})
				})
			}
		})
	}
}

// Any change of any session reads as meant, and can be undone.
func TestWriteProperty(t *testing.T) {
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom(forms).Draw(rt, "form")
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		f.writes(rt, f.session(rt, folder), func(s *session.Session) *store.Change {
			after := edited(s, func(items []session.Item) []session.Item {
				for range rapid.IntRange(0, 5).Draw(rt, "edits") {
					items = randomEdit(rt, items)
				}
				if len(items) == 0 {
					return slices.Clone(s.Items)
				}
				return items
			})
			return &store.Change{Before: &session.Tree{Sessions: []*session.Session{s}}, After: &session.Tree{Sessions: []*session.Session{after}}}
		})
	})
}

// randomEdit changes a list of items in one way that a repair knows.
func randomEdit(t *rapid.T, items []session.Item) []session.Item {
	if len(items) == 0 {
		return items
	}
	n, to := rapid.IntRange(0, len(items)-1).Draw(t, "item"), rapid.IntRange(0, len(items)).Draw(t, "to")
	it := &items[n]
	switch rapid.SampledFrom([]string{"new", "leave", "move", "archive", "branch", "call", "part"}).Draw(t, "edit") {
	case "new":
		return slices.Insert(items, to, newResult("c3"))
	case "leave":
		return slices.Delete(items, n, n+1)
	case "move":
		moved := *it
		return slices.Insert(slices.Delete(items, n, n+1), min(to, len(items)-1), moved)
	case "archive":
		if it.Table() != "" && !strings.Contains(it.Key, "#results/") {
			it.Flags ^= session.Archived
		}
	case "branch":
		if !strings.Contains(it.Key, "#results/") {
			it.Own().Branch = "p.b"
		}
	case "call":
		if len(it.Calls) > 0 {
			it.Calls = slices.Clone(it.Calls)
			it.Calls[0].ID = "c7"
		}
	case "part":
		if len(it.Results) == 2 { // the first edit of the item: the numbers are those of what is stored
			return slices.Insert(items, to, partOf(it, rapid.IntRange(0, 1).Draw(t, "nth")))
		}
	}
	return items
}

// A number is never given out twice, not even that of an event that is gone.
func TestNumbersGoOn(t *testing.T) {
	path := counted.session(t, t.TempDir())
	run(t, path, "delete from lines where at > 60")
	e := counted.begin(t, path)
	s := inTransaction(t, e, "s").Root()
	after := edited(s, func(items []session.Item) []session.Item { return append(items, newResult("c3")) })
	change := &store.Change{Before: &session.Tree{Sessions: []*session.Session{s}}, After: &session.Tree{Sessions: []*session.Session{after}}}
	if err := e.Write(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	items := inTransaction(t, e, "s").Root().Items
	if got, highest := items[len(items)-1].Position, int64(4*20+len("other")); got != highest+1 {
		t.Errorf("the new event has number %d, and %d was given out before", got, highest)
	}
}

// The same plan makes the same store.
func TestWriteIsDeterministic(t *testing.T) {
	for _, f := range forms {
		var dumps [2][]string
		for i := range dumps {
			path := f.session(t, t.TempDir())
			for range 2 { // the second time the ids of the first are taken
				e := f.begin(t, path)
				s := inTransaction(t, e, "s").Root()
				after := edited(s, func(items []session.Item) []session.Item {
					return slices.Insert(items, 1, newResult("c3"), newResult("c3"), newResult("c1"))
				})
				change := &store.Change{Before: &session.Tree{Sessions: []*session.Session{s}}, After: &session.Tree{Sessions: []*session.Session{after}}}
				if err := e.Write(t.Context(), change); err != nil {
					t.Fatal(err)
				}
				finishEdit(t, e)
			}
			if keys := keysOf(sessionsOf(t, f.reading(t, path, false), false))["s"]; len(keys) != 11 || slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(k, "#") }) {
				t.Errorf("%s: the keys are %v", f.name, keys)
			}
			dumps[i] = storetest.Dump(t, path)
		}
		if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
			t.Errorf("%s: %s", f.name, diff)
		}
	}
}

// What cannot be written as meant is refused, and nothing changes.
func TestRefused(t *testing.T) {
	same := func(items []session.Item) []session.Item { return items }
	cases := []struct {
		name   string
		change func(c *store.Change)
		want   string
	}{
		{"a row that says something else now", func(c *store.Change) {
			c.Before.Root().Items[3].Meaning++
			c.After.Root().Items[3].Own().Branch = "p"
		}, "changed after the repair was planned"},
		{"an event that is gone", func(c *store.Change) {
			c.Before.Root().Items[3].Key += "?"
			c.After.Root().Items[3] = c.Before.Root().Items[3]
			c.After.Root().Items[3].Own().Branch = "p"
		}, "changed after the repair was planned"},
		{"an event of nowhere", func(c *store.Change) { c.After.Root().Items[3].Key += "?" }, "was not in it before"},
		{"a session that goes", func(c *store.Change) { c.After.Sessions = nil }, "which deletes none"},
		{"a session that comes", func(c *store.Change) {
			c.After.Sessions = append(c.After.Sessions, &session.Session{ID: "more"})
			c.Split = map[string]string{"more": "s"}
		}, "cannot add a session like that"},
		{"an event that stands twice", func(c *store.Change) {
			c.After.Root().Items = append(c.After.Root().Items, c.After.Root().Items[3])
		}, "twice"},
		{"runs in a store that has none", func(c *store.Change) { c.After.Root().Runs = []session.Run{{ID: "r"}} }, "this store has none"},
		{"results that were not there", func(c *store.Change) {
			c.After.Root().Items[0].Results = []session.Result{{CallID: "c"}}
		}, "did not have before"},
		{"an edit that no column can hold", func(c *store.Change) { c.Sets = []session.Edit{{Op: session.Move}} }, "cannot make the change"},
	}
	path := timed.session(t, t.TempDir())
	before := storetest.Dump(t, path)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := timed.begin(t, path)
			s := inTransaction(t, e, "s").Root()
			change := &store.Change{Before: &session.Tree{Sessions: []*session.Session{s}}, After: &session.Tree{Sessions: []*session.Session{edited(s, same)}}}
			c.change(change)
			err := e.Write(t.Context(), change)
			if err == nil || problem.ClassOf(err) != problem.RolledBack || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, err := eventlog.Edit(t.Context(), storetest.Source(path), func(context.Context, table.Reader, table.Schema) (session.Store, *eventlog.Layout, error) {
		return session.Store{Condition: session.Condition{ReadOnly: "it is newer"}}, timed.layout(), nil
	})
	if problem.ClassOf(err) != problem.Unreadable || !strings.Contains(err.Error(), "it is newer") {
		t.Errorf("a store that is only read: %v", err)
	}
}
