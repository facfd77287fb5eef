package eventlog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// tallied is a form whose database counts the lines of a talk, and the changes of every row.
var tallied = form{
	name: "counting triggers", scoped: true,
	schema: strings.NewReplacer("note text,", "note text, count integer not null default 0, changes integer not null default 0,",
		"role text,", "role text, changes integer not null default 0,").Replace(timed.schema) + `;
		create trigger added after insert on lines begin update talks set count = count + 1 where (app, user, id) = (new.app, new.user, new.talk); end;
		create trigger gone after delete on lines begin update talks set count = count - 1 where (app, user, id) = (old.app, old.user, old.talk); end;
		create trigger talked after update on talks begin update talks set changes = changes + 1 where rowid = new.rowid; end;
		create trigger said after update on lines begin update lines set changes = changes + 1 where rowid = new.rowid; end`,
	extend: func(l *eventlog.Layout) {
		l.Sessions.Columns = append(slices.Clone(l.Sessions.Columns), "count", "changes")
		l.Events.Columns = append(slices.Clone(l.Events.Columns), "changes")
		l.Sessions.Derived, l.Events.Derived = []string{"count", "changes"}, []string{"changes"}
		l.Triggers = []string{"added", "gone", "talked", "said"}
	},
}

// keptTalk is a talk of three lines, the change of its first one, a line less and one more.
func keptTalk(t *testing.T, f form, change func(path string)) (path string, _ store.Editor, _ error) {
	t.Helper()
	path = f.make(t, t.TempDir(), talk("a", "u", "s"),
		line("'1'", "a", "u", "s", 1, "x"), line("'2'", "a", "u", "s", 2, "y"), line("'3'", "a", "u", "s", 3, "z"))
	change(path)
	e := f.begin(t, path)
	before := inTransaction(t, e, "s")
	after := edited(before.Sessions[0], func(items []session.Item) []session.Item {
		items[0].Own().Branch = "elsewhere"
		return append(slices.Delete(items, 1, 2), newResult("c"), newResult("d"))
	})
	return path, e, e.Write(t.Context(), &store.Change{Before: before, After: &session.Tree{Sessions: []*session.Session{after}}})
}

// What triggers keep is no obstacle to a repair: it changes with the rows, no digest has it,
// and undo gives it back, too, whatever it became since.
func TestDerivedColumns(t *testing.T) {
	var was []string
	path, e, err := keptTalk(t, tallied, func(path string) { was = storetest.Dump(t, path) })
	if err != nil {
		t.Fatal(err)
	}
	sums, err := e.Sums(t.Context(), []string{"s"})
	if err != nil {
		t.Fatal(err)
	}
	journal := finishEdit(t, e)
	db := openSQL(t, path)
	if got := lines(t, db, "select count || ' ' || (changes > 0) from talks union all select changes || '' from lines where id = '1'"); !slices.Equal(got, []string{"4 1", "1"}) {
		t.Errorf("the database keeps %q", got)
	}
	if _, err := db.Exec("update talks set changes = 99"); err != nil {
		t.Fatal(err)
	}
	undo := tallied.begin(t, path)
	now, err := undo.Sums(t.Context(), []string{"s"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums, now); diff != "" {
		t.Errorf("a counter is in the digests: %s", diff)
	}
	if err := undo.Revert(t.Context(), journal); err != nil {
		t.Fatal(err)
	}
	finishEdit(t, undo)
	if diff := cmp.Diff(was, storetest.Dump(t, path)); diff != "" {
		t.Errorf("after undo: %s", diff)
	}
}

// A trigger that changes more than the declared columns is refused as ever, in whatever row.
func TestDerivedColumnsOnly(t *testing.T) {
	undeclared := tallied
	undeclared.extend = func(l *eventlog.Layout) {
		tallied.extend(l)
		l.Sessions.Derived = []string{"count"}
	}
	for name, c := range map[string]struct {
		form    form
		trigger string
	}{
		"a column that was not declared": {undeclared, "select 1"},
		"another column besides":         {tallied, "create trigger more after insert on lines begin update talks set count = 0, note = 'x'; end"},
		"another table":                  {tallied, "create trigger more after insert on lines begin insert into talks(app, user, id) values('a', 'u', new.id); end"},
	} {
		t.Run(name, func(t *testing.T) {
			var dump []string
			path, e, err := keptTalk(t, c.form, func(path string) {
				run(t, path, c.trigger)
				dump = storetest.Dump(t, path)
			})
			if err == nil {
				err = e.Commit(t.Context())
			}
			if problem.ClassOf(err) != problem.RolledBack || !strings.Contains(err.Error(), "would also change") {
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
