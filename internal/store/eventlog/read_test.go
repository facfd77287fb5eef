package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/session"
)

// line is an insert of a line into a database of scoped talks.
func line(id, app, user, talk string, at int, text string) string {
	return fmt.Sprintf(`insert into lines(id, app, user, talk, at, role, said) values(%s, '%s', '%s', '%s', %d, 'user', '{"text":"%s"}')`,
		id, app, user, talk, at, text)
}

func talk(app, user, id string) string {
	return fmt.Sprintf("insert into talks(app, user, id, note) values('%s', '%s', '%s', 'a note')", app, user, id)
}

// keysOf are the keys of the items of each session, in order.
func keysOf(sessions []*session.Session) map[string][]string {
	keys := map[string][]string{}
	for _, s := range sessions {
		keys[s.ID] = []string{}
		for i := range s.Items {
			keys[s.ID] = append(keys[s.ID], s.Items[i].Key)
		}
	}
	return keys
}

// Order is that of places, then of ties (here the row that came last goes first),
// and ids of sessions and keys of events are unique in the store.
func TestOrderAndNames(t *testing.T) {
	cases := []struct {
		name string
		form form
		make []string
		want map[string][]string
	}{
		{"order and ties", timed, []string{
			talk("a", "u", "s"),
			line("'late'", "a", "u", "s", 9, "x"), line("'one'", "a", "u", "s", 5, "x"), line("'two'", "a", "u", "s", 5, "x"), line("'early'", "a", "u", "s", -3, "x"),
		}, map[string][]string{"s": {"s/early", "s/two", "s/one", "s/late"}}},
		{"several sessions share an id", timed, []string{
			talk("a", "u", "s"), talk("a", "v", "s"), talk("a", "u", "t"),
			line("'1'", "a", "u", "s", 1, "x"), line("'1'", "a", "v", "s", 1, "x"), line("'1'", "a", "u", "t", 1, "x"),
		}, map[string][]string{"a/u/s": {"a/u/s/1"}, "a/v/s": {"a/v/s/1"}, "t": {"t/1"}}},
		{"an id is like the path of another session", timed, []string{
			talk("a", "u", "s"), talk("a", "v", "s"), talk("b", "w", "a/u/s"),
		}, map[string][]string{"a/u/s": {}, "a/v/s": {}, "b/w/a/u/s": {}}},
		{"paths are alike, too", timed, []string{talk("a/b", "c", "s"), talk("a", "b/c", "s")}, map[string][]string{"a/b/c/s#1": {}, "a/b/c/s#2": {}}},
		{"no id at all", timed, []string{talk("a", "u", "")}, map[string][]string{"a/u/": {}}},
		{"events without an id, and two with the same", loose, []string{
			talk("a", "u", "s"), talk("a", "u", "t"),
			line("null", "a", "u", "s", 1, "x"), line("'1'", "a", "u", "s", 2, "x"), line("'1'", "a", "u", "s", 3, "x"), line("'1'", "a", "u", "t", 3, "x"),
		}, map[string][]string{"s": {"s/#1", "s/1#2", "s/1#3"}, "t": {"t/1"}}},
		{"an index over some of the events", loose, []string{
			talk("a", "u", "s"), "create unique index some on lines(id, app, user, talk) where role = 'tool'",
			line("'1'", "a", "u", "s", 2, "x"), line("'1'", "a", "u", "s", 3, "x"),
		}, map[string][]string{"s": {"s/1#1", "s/1#2"}}},
		{"keys that are no text", loose, []string{
			"insert into talks(app, user, id, note) values('a', 'u', x'7374', 'n'), ('a', 'u', 7, 'n')", talk("a", "u", "t"),
			"insert into lines(id, app, user, talk, at) values(1, 'a', 'u', x'7374', 1), (x'61', 'a', 'u', 7, 1), ('1', 'a', 'u', 't', 1), ('1', 'a', 'u', 'gone', 1)",
		}, map[string][]string{"st": {"st/1"}, "7": {"7/a"}, "t": {"t/1"}}},
		{"ids that are unique by themselves", free, []string{
			"insert into talks(id) values('s')", "insert into lines(at, id, talk) values(7, 'b', 's'), (6, 'a', 's')",
		}, map[string][]string{"s": {"a", "b"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := c.form.make(t, t.TempDir(), c.make...)
			whole := sessionsOf(t, c.form.reading(t, path, false), true)
			if diff := cmp.Diff(c.want, keysOf(whole)); diff != "" {
				t.Error(diff)
			}
			for _, s := range whole {
				alone := c.form.reading(t, path, false, s.ID)
				if diff := cmp.Diff([]*session.Session{s}, sessionsOf(t, alone, true)); diff != "" || len(alone.Facts().Faults) > 0 {
					t.Errorf("read alone: %s, faults %v", diff, alone.Facts().Faults)
				}
			}
			path = c.form.make(t, t.TempDir(), append(slices.Clip(c.make), "vacuum")...)
			if diff := cmp.Diff(c.want, keysOf(sessionsOf(t, c.form.reading(t, path, false), false))); diff != "" {
				t.Errorf("after a vacuum: %s", diff)
			}
		})
	}
}

// Events of a session that does not exist are a fault of the store, which explains
// their broken foreign keys.
func TestOrphans(t *testing.T) {
	path := timed.make(t, t.TempDir(),
		talk("a", "u", "s"), line("'1'", "a", "u", "s", 1, "x"), line("'2'", "a", "v", "s", 1, "x"), line("'3'", "a", "v", "s", 2, "x"), line("'4'", "b", "u", "t", 1, "x"),
		"insert into lines(id, app, user, talk, at) values('5', 'a', 'u', x'73', 2)") // of s for a reader, and not for a foreign key
	st := timed.reading(t, path, true)
	want := []session.Fault{
		{Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: "a/v/s", Table: "lines", Key: "a/v/s/2"}, Count: 2, Detail: `lines has 2 rows, from row 2 on, of session "a/v/s", which does not exist`},
		{Kind: session.OrphanRecord, Item: -1, Ref: session.Ref{Session: "b/u/t", Table: "lines", Key: "b/u/t/4"}, Count: 1, Detail: `lines has 1 row, from row 4 on, of session "b/u/t", which does not exist`},
		{Kind: session.ForeignKey, Item: -1, Deep: true, Ref: session.Ref{Table: "lines", Key: "5"}, Detail: "points to a row of talks that does not exist"},
	}
	if diff := cmp.Diff(want, st.Facts().Faults); diff != "" {
		t.Error(diff)
	}
	if got := keysOf(sessionsOf(t, st, false)); len(got) != 1 || len(got["s"]) != 2 {
		t.Errorf("got %v", got)
	}
	if faults := timed.reading(t, path, false, "s").Facts().Faults; len(faults) > 0 {
		t.Errorf("reading one session reports %v", faults)
	}
}

// damage destroys the page of a kind (of dbstat) that a table has first.
func damage(t *testing.T, path, table, kind string) {
	t.Helper()
	db := openSQL(t, path)
	var page, size int64
	err := db.QueryRow("select min(pageno), max(pgsize) from dbstat where name = ? and pagetype = ?", table, kind).Scan(&page, &size)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[(page-1)*size : page*size])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A damaged page costs what stands on it and nothing else: an event whose key can
// be read keeps its place.
func TestDamagedPages(t *testing.T) {
	const events = 300
	long := strings.Repeat("a long text ", 1000)
	make := []string{talk("a", "u", "s"), talk("a", "u", "t"), "update talks set note = '" + long + "' where id = 's'"}
	for i := range events {
		text := "short"
		if i == 100 {
			text = long
		}
		make = append(make, line(fmt.Sprint("'", i, "'"), "a", "u", "s", i, text))
	}
	make = append(make, line("'1'", "a", "u", "t", 1, "x"))
	late := timed // its places stand behind the texts
	late.schema = strings.Replace(strings.Replace(timed.schema, "at integer, ", "", 1), "said text,", "said text, at integer,", 1)
	readForm := func(t *testing.T, f form, table, kind string) (st []session.Fault, s, other *session.Session) {
		path := f.make(t, t.TempDir(), make...)
		damage(t, path, table, kind)
		opened := f.reading(t, path, false)
		list := sessionsOf(t, opened, true)
		if len(list) != 2 {
			t.Fatalf("%d sessions are left", len(list))
		}
		return opened.Facts().Faults, list[0], list[1]
	}
	read := func(t *testing.T, table, kind string) (st []session.Fault, s, other *session.Session) {
		return readForm(t, timed, table, kind)
	}
	torn := func(faults []session.Fault) bool { // the row as a whole is told, besides the event or the session
		return len(faults) == 1 && faults[0].Kind == session.StoreDamaged && strings.Contains(faults[0].Detail, "cannot be read to the end")
	}
	t.Run("the text of an event and its place", func(t *testing.T) {
		faults, s, _ := readForm(t, late, "lines", "overflow")
		if len(faults) > 0 || len(s.Items) != events {
			t.Fatalf("%d events, faults %v", len(s.Items), faults)
		}
		n := slices.IndexFunc(s.Items, func(it session.Item) bool { return it.Key == "s/100" })
		if n != 0 || s.Items[n].Kind != session.Other || s.Items[n].Position != 0 || len(s.Faults) != 1 || s.Faults[0].Item != n {
			t.Errorf("the event is item %d, faults %v", n, s.Faults)
		}
	})
	t.Run("the text of an event", func(t *testing.T) {
		faults, s, other := read(t, "lines", "overflow")
		if !torn(faults) || len(s.Items) != events || len(other.Items) != 1 {
			t.Fatalf("%d and %d events, faults %v", len(s.Items), len(other.Items), faults)
		}
		it := s.Items[100]
		if it.Key != "s/100" || it.Kind != session.Other || it.Position != 100 || it.Body == nil {
			t.Errorf("the event is %+v", it)
		}
		if len(s.Faults) != 1 || s.Faults[0].Kind != session.StoreDamaged || s.Faults[0].Item != 100 || s.Faults[0].Ref != s.ItemRef(100) {
			t.Errorf("its faults are %+v", s.Faults)
		}
	})
	t.Run("a page of events", func(t *testing.T) {
		faults, s, other := read(t, "lines", "leaf")
		if len(faults) != 1 || faults[0].Kind != session.StoreDamaged || len(s.Items) == 0 || len(s.Items) == events || len(other.Items) != 1 {
			t.Errorf("%d and %d events, faults %v", len(s.Items), len(other.Items), faults)
		}
	})
	t.Run("the row of a session", func(t *testing.T) {
		faults, s, other := read(t, "talks", "overflow")
		if !torn(faults) || len(s.Items) != events || len(other.Items) != 1 || s.ID != "s" {
			t.Fatalf("session %s, %d and %d events, faults %v", s.ID, len(s.Items), len(other.Items), faults)
		}
		if len(s.Faults) != 1 || s.Faults[0].Kind != session.StoreDamaged || s.Faults[0].Item != -1 {
			t.Errorf("its faults are %+v", s.Faults)
		}
	})
}

// randomTalks writes a random database.
func randomTalks(t *rapid.T, f form, folder string) string {
	talks := rapid.IntRange(1, 4).Draw(t, "talks")
	var statements []string
	name := func(n int) string { // users 0 and 1 have talks with the same ids
		if f.scoped {
			n /= 2
		}
		return fmt.Sprint("s", n)
	}
	where := func(n int) (columns, values string) {
		if f.scoped {
			return "app, user, ", fmt.Sprintf("'a', 'u%d', ", n%2)
		}
		return "", ""
	}
	for n := range talks {
		columns, values := where(n)
		statements = append(statements, fmt.Sprintf("insert into talks(%sid, note) values(%s'%s', 'note %d')", columns, values, name(n), n))
	}
	count := rapid.IntRange(0, 25).Draw(t, "lines")
	for i := range count {
		n := rapid.IntRange(0, talks-1).Draw(t, "talk")
		columns, values := where(n)
		at := strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "at"))
		if f.number {
			at = strconv.Itoa(i*2 + 1)
		}
		text := rapid.SampledFrom([]string{
			`{"text":"hello"}`, `{"calls":["c1"]}`, `{"text":"so","calls":["c1","c2"]}`, `{"results":[{"call":"c1","text":"one"}]}`,
			`{"results":[{"call":"c1","text":"one"},{"call":"c2","text":"two"},{"call":"c3","text":"two"}]}`, ` {"text":"spaced"} `, `{`,
		}).Draw(t, "said")
		role := map[bool]string{true: "tool", false: "assistant"}[strings.Contains(text, "results")]
		extra := rapid.SampledFrom([]string{"null", "x''", "x'00ff'", "1", "1.0", "'1'", "cast(x'ff' as text)", "9007199254740993"}).Draw(t, "extra")
		branch := rapid.SampledFrom([]string{"null", "'p.a'", "''"}).Draw(t, "branch")
		statements = append(statements, fmt.Sprintf(
			"insert into lines(%stalk, id, at, role, branch, archived, extra, said) values(%s'%s', 'e%d', %s, '%s', %s, %d, %s, '%s')",
			columns, values, name(n), i, at, role, branch, i%3/2, extra, text))
	}
	return f.make(t, folder, statements...)
}

func TestReadProperties(t *testing.T) {
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom(forms).Draw(rt, "form")
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		path := randomTalks(rt, f, folder)
		st := f.reading(rt, path, false)
		outlines, filled := sessionsOf(rt, st, false), sessionsOf(rt, st, true)
		bodies := cmp.Options{
			cmpopts.IgnoreFields(session.Item{}, "Body"), cmpopts.IgnoreFields(session.Call{}, "Args"), cmpopts.IgnoreFields(session.Result{}, "Text"),
		}
		if diff := cmp.Diff(outlines, filled, bodies); diff != "" {
			rt.Errorf("Fill changed the outlines: %s", diff)
		}
		var some []*session.Session
		ids := []string{"no such session"}
		for _, s := range filled {
			for i := range s.Items {
				if it := &s.Items[i]; it.Body == nil || len(it.Calls) > 0 && it.Calls[0].Args == "" {
					rt.Errorf("%s was not filled", it.Key)
				}
			}
			if rapid.Bool().Draw(rt, "read") {
				some, ids = append(some, s), append(ids, s.ID)
			}
		}
		if diff := cmp.Diff(some, sessionsOf(rt, f.reading(rt, path, false, ids...), true)); diff != "" {
			rt.Errorf("reading some sessions: %s", diff)
		}
		part := &session.Tree{}
		for _, s := range outlines {
			c := *s
			c.Items = slices.DeleteFunc(slices.Clone(s.Items), func(session.Item) bool { return rapid.Bool().Draw(rt, "left out") })
			part.Sessions = append(part.Sessions, &c)
		}
		if err := st.Fill(t.Context(), part); err != nil {
			rt.Errorf("filling a part of the items: %v", err)
		}
	})
}

// An item that cannot be found again is no item without a text.
func TestFillOfWhatIsGone(t *testing.T) {
	st := timed.reading(t, timed.make(t, t.TempDir(), talk("a", "u", "s"), line("'1'", "a", "u", "s", 1, "x")), false)
	for _, change := range []func(s *session.Session){
		func(s *session.Session) { s.Items[0].Key += "?" },
		func(s *session.Session) { s.ID += "?" },
	} {
		s := sessionsOf(t, st, false)[0]
		change(s)
		if err := st.Fill(t.Context(), &session.Tree{Sessions: []*session.Session{s}}); err == nil {
			t.Error("no error")
		}
	}
}

func TestCancelled(t *testing.T) {
	st := timed.reading(t, timed.make(t, t.TempDir(), talk("a", "u", "s"), line("'1'", "a", "u", "s", 1, "x")), false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tree, err := range st.Trees(ctx) {
		if !errors.Is(err, context.Canceled) || tree != nil {
			t.Errorf("got %v, %v", tree, err)
		}
	}
}
