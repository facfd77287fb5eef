package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

func TestRevertRefuses(t *testing.T) {
	tests := []struct{ name, since, want string }{
		{"changed", "update session_items set position = 9 where id = 2", "row 2 of session_items changed after the repair"},
		{"gone", "delete from session_items where id = 2", "row 2 of session_items was deleted after the repair"},
		{"back", "insert into session_items(id, session_id, position) values(3, 'a', 0)", "row 3 of session_items was added again after the repair"},
		{"depends", "insert into session_items(session_id, position) values('c', 0)", "row 4 of session_items was added or changed after the repair"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path, ctx := agentStore(t, "wal"), t.Context()
			e := begun(t, path)
			_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "c"}})
			ok(t, err)
			ok(t, e.Update(ctx, "session_items", 2, []table.FieldChange{{Name: "position", Old: int64(1), New: int64(2)}}))
			ok(t, e.Delete(ctx, "session_items", 3))
			changes, err := e.Changes()
			ok(t, err)
			ok(t, errors.Join(e.Commit(ctx), e.Close()))
			create(t, path, "pragma foreign_keys=1", test.since)
			before := dump(t, path)

			e = begun(t, path)
			err = e.RevertChanges(ctx, changes)
			isProblem(t, err, problem.Busy, test.want)
			isProblem(t, e.Commit(ctx), problem.Busy, test.want)
			ok(t, e.Close())
			if after := dump(t, path); after != before {
				t.Errorf("%s, want %s", after, before)
			}
		})
	}
}

// Rows that gave their unique values to each other take them back.
func TestRevertOfARing(t *testing.T) {
	path, ctx := agentStore(t, "wal"), t.Context()
	create(t, path, "create table names(name text unique, of integer)", "insert into names values('b', 1), ('c', 2), ('a', 3)")
	e := begun(t, path)
	changes := []table.RowChange{
		{Table: "names", Row: 1, Before: table.Image{"name": "a"}, After: table.Image{"name": "b"}},
		{Table: "names", Row: 2, Before: table.Image{"name": "b"}, After: table.Image{"name": "c"}},
		{Table: "names", Row: 3, Before: table.Image{"name": "c"}, After: table.Image{"name": "a"}},
	}
	ok(t, e.RevertChanges(ctx, changes))
	ok(t, errors.Join(e.Commit(ctx), e.Close()))
	if got := dump(t, path); !strings.Contains(got, "names 1: 'a', 61, text, 1, 31, integer\nnames 2: 'b', 62, text, 2, 32, integer\nnames 3: 'c', 63, text, 3, 33") {
		t.Error(got)
	}
}

// What an older row refers to may be gone since.
func TestRevertWithoutParent(t *testing.T) {
	path, ctx := agentStore(t, "wal"), t.Context()
	e := begun(t, path)
	ok(t, e.Delete(ctx, "session_items", 3))
	changes, err := e.Changes()
	ok(t, err)
	ok(t, errors.Join(e.Commit(ctx), e.Close()))
	create(t, path, "delete from sessions where id = 'b'")
	e = begun(t, path)
	isProblem(t, e.RevertChanges(ctx, changes), problem.Busy, "was deleted after the repair")
	isProblem(t, e.Commit(ctx), problem.Busy, "was deleted after the repair")
}

// A row whose foreign key led nowhere before it changed comes back as it was.
func TestRevertOfALooseRow(t *testing.T) {
	for _, change := range []func(e *Edit) error{
		func(e *Edit) error { return e.Delete(t.Context(), "session_items", 3) },
		func(e *Edit) error {
			return e.Update(t.Context(), "session_items", 3, []table.FieldChange{{Name: "position", Old: int64(0), New: int64(1)}, {Name: "subsession_id", Old: "gone", New: nil}})
		},
	} {
		path, ctx := agentStore(t, "wal"), t.Context()
		create(t, path, "pragma foreign_keys=0", "update session_items set subsession_id = 'gone' where id = 3")
		before := dump(t, path)
		e := begun(t, path)
		ok(t, change(e))
		changes, err := e.Changes()
		ok(t, err)
		ok(t, errors.Join(e.Commit(ctx), e.Close()))
		e = begun(t, path)
		ok(t, e.RevertChanges(ctx, throughJSON(t, changes)))
		ok(t, errors.Join(e.Commit(ctx), e.Close()))
		if after := dump(t, path); after != before {
			t.Errorf("%s, want %s", after, before)
		}
	}
}

func isProblem(t *testing.T, err error, class problem.Class, text string) {
	t.Helper()
	if problem.ClassOf(err) != class || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v (class %d), want %q (class %d)", err, problem.ClassOf(err), text, class)
	}
}

func TestEditRefusesWhatIsNotRecorded(t *testing.T) {
	ctx := context.Background()
	tests := []struct {
		name  string
		setup string
		do    func(e *Edit) error
		want  string
	}{
		{"cascade", "select 1", func(e *Edit) error { return e.Delete(ctx, "sessions", 2) }, "would also change row 3 of session_items"},
		{"set null", "update session_items set subsession_id = 'b' where id = 1; delete from session_items where id = 3",
			func(e *Edit) error { return e.Delete(ctx, "sessions", 2) }, "would also change row 1 of session_items"},
		{"trigger", "create trigger r after update on session_items begin update sessions set title = 'x' where id = 'a'; end",
			func(e *Edit) error {
				return e.Update(ctx, "session_items", 1, []table.FieldChange{{Name: "position", Old: int64(0), New: int64(1)}})
			}, "would also change row 1 of sessions"},
		{"trigger on the row itself", "create trigger r after insert on sessions begin update sessions set title = 'x' where id = new.id; end",
			func(e *Edit) error {
				_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "z"}})
				return err
			}, "would also change row 3 of sessions"},
		{"trigger on the sequences", "create trigger r after delete on session_items begin update sqlite_sequence set seq = 99; end",
			func(e *Edit) error { return e.Delete(ctx, "session_items", 1) }, "of sqlite_sequence"},
		{"statement of another", "select 1", func(e *Edit) error {
			rows, err := e.DB().Query(ctx, "update sessions set title = 'x' where id = 'b'")
			if err == nil {
				err = rows.Close()
			}
			return err
		}, "would also change row 2 of sessions"},
		{"ignored", "create trigger r before delete on session_items begin select raise(ignore); end",
			func(e *Edit) error { return e.Delete(ctx, "session_items", 1) }, "ignored a change of session_items"},
		{"another value", "select 1", func(e *Edit) error {
			return e.Update(ctx, "session_items", 1, []table.FieldChange{{Name: "message_json", Old: "[]", New: "x"}})
		}, "message_json holds another value"},
		{"another type", "select 1", func(e *Edit) error {
			return e.Update(ctx, "session_items", 1, []table.FieldChange{{Name: "position", Old: 0.0, New: int64(2)}})
		}, "position holds another value"},
		{"no row", "select 1", func(e *Edit) error { return e.Delete(ctx, "session_items", 99) }, "row 99 of session_items"},
		{"no column", "select 1", func(e *Edit) error {
			return e.Update(ctx, "sessions", 1, []table.FieldChange{{Name: "nope", Old: "nope", New: "x"}})
		}, "no column nope"},
		{"no table", "select 1", func(e *Edit) error { return e.Delete(ctx, "nope", 1) }, "no table nope"},
		{"new rowid", "select 1", func(e *Edit) error {
			return e.Update(ctx, "session_items", 1, []table.FieldChange{{Name: "id", Old: int64(1), New: int64(50)}})
		}, "row 1 of session_items"},
		{"no number left", "update session_items set id = 9223372036854775807 where id = 1", func(e *Edit) error {
			_, err := e.Insert(ctx, "session_items", []table.Field{{Name: "session_id", Value: "a"}, {Name: "position", Value: int64(9)}})
			return err
		}, "a row of session_items has the largest possible number"},
		{"constraint", "select 1", func(e *Edit) error {
			_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "a"}})
			return err
		}, "refused the change"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := agentStore(t, "wal")
			create(t, path, test.setup)
			before := dump(t, path)
			e := begun(t, path)
			_, err := e.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: "first"}, {Name: "title", Value: "t"}})
			if test.name != "trigger on the row itself" {
				ok(t, err)
			}
			if err == nil {
				err = test.do(e)
			}
			isProblemOrNil(t, err, test.want)
			isProblem(t, e.Commit(ctx), problem.RolledBack, test.want)
			ok(t, e.Close())
			if after := dump(t, path); after != before {
				t.Errorf("%s, want %s", after, before)
			}
		})
	}
}

func isProblemOrNil(t *testing.T, err error, want string) {
	t.Helper()
	if err != nil {
		isProblem(t, err, problem.RolledBack, want)
	}
}
