package sqlite

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/table"
)

// values are what SQLite can store.
func values() *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Int64().AsAny(),
		rapid.Float64().AsAny(),
		rapid.SampledFrom([]any{math.Inf(1), math.Inf(-1), "", []byte{}, "\x00", "\xff", "a\u2028<&>\ufffd", 1.0, int64(1), "1"}),
		rapid.String().AsAny(),
		rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) }).AsAny(),
		rapid.Custom(func(t *rapid.T) []byte { return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "blob")...) }).AsAny(),
	)
}

func TestImageJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		image := table.Image(rapid.MapOf(rapid.String(), values()).Draw(t, "image"))
		if rapid.Bool().Draw(t, "gone") {
			image = nil
		}
		change := table.RowChange{Table: "t", Row: table.Place(rapid.Int64().Draw(t, "row")), After: image}
		again := throughJSON(t, []table.RowChange{change})[0]
		if !again.After.Equal(image) || again.Before != nil || again.Row != change.Row {
			t.Fatalf("%#v came back as %#v", change, again)
		}
	})
}

// Whatever was changed, undo makes it what it was.
func TestRevertProperty(t *testing.T) {
	templates := map[string][]byte{}
	for _, mode := range modes {
		b, err := os.ReadFile(agentStore(t, mode))
		ok(t, err)
		templates[mode] = b
	}
	campaign.Checks(t, 50, 2000)
	rapid.Check(t, func(r *rapid.T) {
		path := filepath.Join(t.TempDir(), "session.db")
		ok(t, os.WriteFile(path, templates[rapid.SampledFrom(modes).Draw(r, "mode")], 0o600))
		if rapid.Bool().Draw(r, "sequence deleted by hand") {
			create(t, path, "delete from sqlite_sequence")
		}
		before := dump(t, path)
		e := begun(t, path)
		w := editWalk{Edit: e, T: t}
		for i := range rapid.IntRange(0, 25).Draw(r, "steps") {
			w.step(r, i)
		}
		changes, err := e.Changes()
		ok(t, err)
		ok(t, errors.Join(e.Commit(t.Context()), e.Close()))
		changed := dump(t, path)
		if (changed == before) != (len(changes) == 0) {
			r.Fatalf("%d changes from\n%s\nto\n%s", len(changes), before, changed)
		}

		e = begun(t, path)
		ok(t, e.RevertChanges(t.Context(), throughJSON(r, changes)))
		back, err := e.Changes()
		ok(t, err)
		ok(t, errors.Join(e.Commit(t.Context()), e.Close()))
		if after := dump(t, path); after != before {
			r.Fatalf("after the undo:\n%s\nbefore:\n%s\nchanges: %v", after, before, changes)
		}

		e = begun(t, path) // the undo of the undo
		ok(t, e.RevertChanges(t.Context(), throughJSON(r, back)))
		ok(t, errors.Join(e.Commit(t.Context()), e.Close()))
		if after := dump(t, path); after != changed {
			r.Fatalf("after the undo of the undo:\n%s\nchanged:\n%s\nchanges: %v", after, changed, back)
		}
	})
}

// editWalk makes changes that the foreign keys allow.
type editWalk struct {
	*Edit
	*testing.T
}

func (w editWalk) step(r *rapid.T, n int) {
	ctx := w.Context()
	switch rapid.IntRange(0, 5).Draw(r, "step") {
	case 0:
		_, err := w.Insert(ctx, "sessions", []table.Field{{Name: "id", Value: fmt.Sprint("s", n)}, {Name: "title", Value: values().Draw(r, "title")},
			{Name: "parent_id", Value: w.session(r, true)}})
		ok(w.T, err)
	case 1:
		if session := w.session(r, false); session != nil {
			_, err := w.Insert(ctx, "session_items", []table.Field{{Name: "session_id", Value: session}, {Name: "position", Value: int64(n)}, {Name: "subsession_id", Value: w.session(r, true)}})
			ok(w.T, err)
		}
	case 2:
		w.change(r, "session_items", table.Field{Name: "session_id", Value: w.session(r, false)}, table.Field{Name: "subsession_id", Value: w.session(r, true)},
			table.Field{Name: "extra", Value: values().Draw(r, "extra")})
	case 3:
		w.change(r, "sessions", table.Field{Name: "parent_id", Value: w.session(r, true)}, table.Field{Name: "created", Value: values().Draw(r, "created")})
	case 4:
		if row, found := w.row(r, "session_items", "true"); found {
			ok(w.T, w.Delete(ctx, "session_items", table.Place(row)))
		}
	case 5:
		row, found := w.row(r, "sessions", "not exists(select 1 from session_items i where sessions.id in (i.session_id, i.subsession_id)) "+
			"and not exists(select 1 from sessions c where c.parent_id = sessions.id)")
		if found {
			ok(w.T, w.Delete(ctx, "sessions", table.Place(row)))
		}
	}
}

func (w editWalk) change(r *rapid.T, of string, fields ...table.Field) {
	row, found := w.row(r, of, "true")
	if !found {
		return
	}
	var changes []table.FieldChange
	for _, f := range fields {
		old, err := w.readStored(w.Context(), rowKey{of, row}, []string{f.Name})
		ok(w.T, err)
		changes = append(changes, table.FieldChange{Name: f.Name, Old: old[f.Name], New: f.Value})
	}
	ok(w.T, w.Update(w.Context(), of, table.Place(row), changes))
}

// row draws one of the rows for which a condition holds.
func (w editWalk) row(r *rapid.T, table, condition string) (int64, bool) {
	rows, err := w.DB().Query(w.Context(), "select rowid from "+table+" where "+condition+" order by rowid")
	ok(w.T, err)
	var ids []int64
	for rows.Next() {
		var id int64
		ok(w.T, rows.Scan(&id))
		ids = append(ids, id)
	}
	ok(w.T, errors.Join(rows.Err(), rows.Close()))
	if len(ids) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(ids).Draw(r, "row"), true
}

// session draws the id of a session, or none.
func (w editWalk) session(r *rapid.T, optional bool) any {
	row, found := w.row(r, "sessions", "true")
	if !found || optional && rapid.Bool().Draw(r, "none") {
		return nil
	}
	var id string
	ok(w.T, w.DB().QueryRow(w.Context(), "select id from sessions where rowid = ?", row).Scan(&id))
	return id
}
