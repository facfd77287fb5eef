package sqlite

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// DeclareDerived implements table.Editor.
func (e *Edit) DeclareDerived(ctx context.Context, of string, columns ...string) error {
	stored, err := e.db.readColumns(ctx)
	if err != nil || len(columns) == 0 {
		return err
	}
	if e.guard.derived == nil {
		e.guard.derived = map[string]derived{}
	}
	e.guard.derived[of] = derived{columns: stored[of], names: columns}
	return nil
}

// derived are the columns of a table that the database keeps by itself.
type derived struct{ columns, names []string }

// keptChange is what the database changed in a row by itself.
type keptChange struct {
	rowKey
	before, after table.Image
}

// changeOf is an update that changes derived columns only. Of a text the driver tells no
// more than what is before a NUL.
func (d derived) changeOf(u *modernc.SQLitePreUpdateData) (c keptChange, ok bool) {
	if u.Op != lib.SQLITE_UPDATE || u.OldRowID != u.NewRowID || u.Count() != len(d.columns) {
		return c, false
	}
	was, is := make([]any, len(d.columns)), make([]any, len(d.columns))
	if u.Old(was...) != nil || u.New(is...) != nil {
		return c, false
	}
	c.before, c.after = imageOf(d.columns, was), imageOf(d.columns, is)
	for _, name := range d.columns {
		switch {
		case table.SameValue(c.before[name], c.after[name]):
			delete(c.before, name)
			delete(c.after, name)
		case !slices.Contains(d.names, name):
			return c, false
		}
	}
	return c, true
}

// withoutDerived are the columns of an image that the database does not keep by itself.
func (g *guard) withoutDerived(of string, m table.Image) table.Image {
	d, ok := g.derived[of]
	if !ok || m == nil {
		return m
	}
	m = maps.Clone(m)
	for _, c := range d.names {
		delete(m, c)
	}
	return m
}

// recordKept logs what the database changed by itself with a statement. A row that was
// inserted is read afterwards.
func (e *Edit) recordKept(met *rowKey, op int32) {
	for _, c := range e.guard.kept {
		if met != nil && op == lib.SQLITE_INSERT && c.rowKey == *met {
			continue
		}
		e.log.addChange(c.rowKey, c.before, c.after)
		if first := e.guard.first; first != nil {
			first[c.rowKey] = mergedImage(c.before, first[c.rowKey])
		}
	}
	e.guard.kept = nil
}

// restoreDerived gives rows the values of derived columns that they had before the changes
// which were taken back, or where these do not tell them, before that. No update can: the
// triggers would change them again. They do not hear of a row that replaces another one but
// as of a new row, and what they change then is restored in the next round.
func (e *Edit) restoreDerived(ctx context.Context, rows []table.RowChange) error {
	told := map[rowKey]table.Image{}
	for _, c := range rows {
		if d, ok := e.guard.derived[c.Table]; ok {
			image := table.Image{}
			for _, name := range d.names {
				if v, ok := c.Before[name]; ok {
					image[name] = v
				}
			}
			told[keyOf(c)] = image
		}
	}
	for range 4 {
		targets := maps.Clone(e.guard.first)
		for key, image := range told {
			targets[key] = mergedImage(targets[key], image)
		}
		keys := slices.SortedFunc(maps.Keys(targets), func(a, b rowKey) int {
			return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.row, b.row))
		})
		settled := true
		for _, key := range keys {
			changed, err := e.replaceRow(ctx, key, targets[key])
			if err != nil {
				return err
			}
			settled = settled && !changed
		}
		if settled {
			return nil
		}
	}
	return problem.New(problem.RolledBack, afterRefusal, "%s was not restored: its triggers change what is restored", e.db.File.Path)
}

// replaceRow gives a row these values by putting another row in its place, if it is there and
// has others.
func (e *Edit) replaceRow(ctx context.Context, key rowKey, values table.Image) (changed bool, err error) {
	t, err := e.loadShape(ctx, key.table)
	if err != nil {
		return false, err
	}
	before, err := e.readStored(ctx, key, t.columns)
	if err != nil || before == nil {
		return false, err
	}
	// Before the values are compared: those of a clock are often the same in a Trial, which
	// takes no second.
	if ok, err := e.canReplace(ctx, key.table); !ok || err != nil {
		return false, err
	}
	row := mergedImage(before, values)
	if row.Equal(before) {
		return false, nil
	}
	names, args := []string{t.rowid}, []any{key.row}
	for _, f := range row.Fields() {
		names, args = append(names, Quoted(f.Name)), append(args, f.Value)
	}
	s, err := e.prepareStatement(ctx, "insert or replace into "+Quoted(key.table)+"("+strings.Join(names, ", ")+") values(?"+strings.Repeat(", ?", len(names)-1)+")")
	if err != nil {
		return false, err
	}
	e.guard.replacing = &key
	_, err = s.ExecContext(ctx, args...)
	e.guard.replacing = nil
	if err == nil {
		err = e.strayError()
	}
	if err == nil {
		err = e.recordRow(ctx, key, before, t.columns)
	}
	e.recordKept(nil, lib.SQLITE_UPDATE)
	return true, err
}

// canReplace reports whether rows of a table can be replaced. In a Trial foreign keys are
// enforced, and would take the rows along that name one: there it is left out, and the real
// undo could only fail at what somebody's trigger does with a new row.
func (e *Edit) canReplace(ctx context.Context, of string) (bool, error) {
	if !e.trying {
		return true, nil
	}
	keys, err := e.foreignKeys(ctx)
	if err != nil || !slices.ContainsFunc(keys, func(k ForeignKey) bool { return strings.EqualFold(k.Parent, of) }) {
		return err == nil, err
	}
	triggers, err := e.db.Triggers(ctx)
	if err == nil && slices.ContainsFunc(triggers, func(t session.Trigger) bool {
		return strings.EqualFold(t.Table, of) && strings.HasSuffix(t.When, "insert")
	}) {
		err = problem.New(problem.RolledBack, addedRules, "%s was not changed: a trigger that hears of new rows of %s would keep an undo from being exact", e.db.File.Path, of)
	}
	return false, err
}
