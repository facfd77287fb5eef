package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	lib "modernc.org/sqlite/lib"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Insert adds a row and returns its rowid.
func (e *Edit) Insert(ctx context.Context, into string, row []table.Field) (table.Place, error) {
	if err := e.checkReady(); err != nil {
		return 0, err
	}
	rowid, err := e.insertRow(ctx, into, nil, row)
	return table.Place(rowid), e.rememberError(err)
}

// Update changes columns of a row. Unless each of them holds exactly its old
// value, nothing is changed and the error is a problem of class RolledBack.
func (e *Edit) Update(ctx context.Context, of string, at table.Place, fields []table.FieldChange) error {
	if err := e.checkReady(); err != nil {
		return err
	}
	return e.rememberError(e.updateRow(ctx, rowKey{of, int64(at)}, fields))
}

// Delete removes a row, which must exist. Rows that refer to it must be gone
// or refer elsewhere before: what SQLite would change besides is refused.
func (e *Edit) Delete(ctx context.Context, from string, at table.Place) error {
	if err := e.checkReady(); err != nil {
		return err
	}
	return e.rememberError(e.deleteRow(ctx, rowKey{from, int64(at)}))
}

// Lock implements table.Editor: Begin has locked the database.
func (e *Edit) Lock(context.Context, table.Selection, ...string) error { return nil }

// ReserveNumbers implements table.Writer. Numbers are never left to SQLite, which may use those
// of deleted rows again; a repair that put other rows in the place of such could not be
// undone row by row. An AUTOINCREMENT table remembers the highest that it ever had.
func (e *Edit) ReserveNumbers(ctx context.Context, of, name string, count int) ([]int64, error) {
	if err := e.checkReady(); err != nil {
		return nil, err
	}
	var highest sql.NullInt64
	err := e.db.QueryRow(ctx, "select cast(max("+Quoted(name)+") as integer) from "+Quoted(of)).Scan(&highest)
	if err != nil {
		return nil, e.explainError(err)
	}
	remembered, err := e.readSequence(ctx, of)
	seq, _ := remembered["seq"].(int64)
	for key, c := range e.log.rows { // one that left in this transaction, too
		was, _ := column.Int(c.Before[name])
		if name == table.RowPlace {
			was = key.row
		}
		if key.table == of {
			seq = max(seq, was)
		}
	}
	numbers, last := make([]int64, count), max(highest.Int64, seq, 0)
	if last > math.MaxInt64-int64(count) { // where SQLite adds no row either
		return nil, problem.New(problem.RolledBack, "Nothing was changed. Give the rows with the highest numbers lower ones: until then, the runtime cannot add many rows either.",
			"table %s has too few numbers left for the rows that are added: they end at %d", of, int64(math.MaxInt64))
	}
	for i := range numbers {
		numbers[i] = last + 1 + int64(i)
	}
	return numbers, e.explainError(err)
}

// insertRow adds a row under the given rowid, or under one that SQLite chooses.
func (e *Edit) insertRow(ctx context.Context, of string, rowid *int64, row []table.Field) (int64, error) {
	t, err := e.loadShape(ctx, of)
	if err != nil {
		return 0, err
	}
	var names []string
	var args []any
	if rowid != nil {
		names, args = append(names, t.rowid), append(args, *rowid)
	}
	for _, f := range row {
		if err := t.checkColumn(e, f.Name); err != nil && f.Name != table.RowPlace {
			return 0, err
		}
		names, args = append(names, Quoted(f.Name)), append(args, f.Value)
	}
	values := " default values"
	if len(names) > 0 {
		values = "(" + strings.Join(names, ", ") + ") values(?" + strings.Repeat(", ?", len(names)-1) + ")"
	}
	before, err := e.readSequence(ctx, of)
	if err != nil {
		return 0, err
	}
	awaited, err := e.isAwaited(ctx, of, row)
	if err != nil {
		return 0, err
	}
	key, err := e.execOnRow(ctx, change{lib.SQLITE_INSERT, rowKey{table: of}}, "insert into "+Quoted(of)+values, args...)
	if err != nil {
		return 0, err
	}
	if err := e.recordRow(ctx, key, nil, t.columns); err != nil {
		return 0, err
	}
	if c := e.log.rows[key]; awaited && c.Before == nil {
		c.Loose = true
	}
	after, err := e.readSequence(ctx, of)
	if err == nil && !before.Equal(after) {
		e.log.addSequence(of, before, after)
	}
	return key.row, err
}

func (e *Edit) updateRow(ctx context.Context, key rowKey, fields []table.FieldChange) error {
	t, err := e.loadShape(ctx, key.table)
	if err != nil || len(fields) == 0 {
		return err
	}
	var names, sets []string
	var args []any
	for _, f := range fields {
		if err := t.checkColumn(e, f.Name); err != nil {
			return err
		}
		names, sets, args = append(names, f.Name), append(sets, Quoted(f.Name)+" = ?"), append(args, f.New)
	}
	if done, err := e.updateNumbers(ctx, t, key, fields, sets, args); done || err != nil {
		return err
	}
	before, err := e.readStored(ctx, key, names)
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(key, "it does not exist")
	}
	for _, f := range fields {
		if !table.SameValue(before[f.Name], f.Old) {
			return e.notAsPlanned(key, f.Name+" holds another value")
		}
	}
	loose, err := e.isLoose(ctx, key, names)
	if err != nil {
		return err
	}
	_, err = e.execOnRow(ctx, change{lib.SQLITE_UPDATE, key},
		"update "+Quoted(key.table)+" set "+strings.Join(sets, ", ")+" where "+t.rowid+" = ?", append(args, key.row)...)
	if err == nil {
		err = e.recordRow(ctx, key, before, names)
	}
	if loose {
		e.log.markLoose(key)
	}
	return err
}

// updateNumbers is update in one statement, for integers that become other
// integers: positions, of which a repair changes tens of thousands. A column that
// holds one as an integer keeps the next one as it is, so that nothing need be
// read back. It is not done when the row holds something else.
func (e *Edit) updateNumbers(ctx context.Context, t tableShape, key rowKey, fields []table.FieldChange, sets []string, args []any) (done bool, err error) {
	before, after := make(table.Image, len(fields)), make(table.Image, len(fields))
	where := " where " + t.rowid + " = ?"
	args = append(slices.Clip(args), key.row)
	for _, f := range fields {
		old, wasInt := f.Old.(int64)
		now, isInt := f.New.(int64)
		if !wasInt || !isInt {
			return false, nil
		}
		before[f.Name], after[f.Name] = old, now
		where += " and typeof(" + Quoted(f.Name) + ") = 'integer' and " + Quoted(f.Name) + " = ?"
		args = append(args, old)
	}
	_, err = e.execOnRow(ctx, change{lib.SQLITE_UPDATE, key}, "update "+Quoted(key.table)+" set "+strings.Join(sets, ", ")+where, args...)
	if err != nil && e.guard.met == nil && problem.ClassOf(err) == problem.RolledBack {
		return false, nil // no such row: the other way says what is there
	}
	if err != nil {
		return false, err
	}
	e.log.addChange(key, before, after)
	return true, nil
}

// recordRow logs a row as it is stored now. A `returning` clause would not do: it
// shows the 0 of a REAL column as an integer.
func (e *Edit) recordRow(ctx context.Context, key rowKey, before table.Image, columns []string) error {
	after, err := e.readStored(ctx, key, columns)
	if err == nil {
		e.log.addChange(key, before, after)
	}
	return err
}

func (e *Edit) deleteRow(ctx context.Context, key rowKey) error {
	t, err := e.loadShape(ctx, key.table)
	if err != nil {
		return err
	}
	before, err := e.readStored(ctx, key, t.columns)
	if err != nil {
		return err
	}
	if before == nil {
		return e.notAsPlanned(key, "it does not exist")
	}
	return e.deleteKnownRow(ctx, key, before)
}

// deleteKnownRow deletes a row, which the log shall show as it was before.
func (e *Edit) deleteKnownRow(ctx context.Context, key rowKey, before table.Image) error {
	t, err := e.loadShape(ctx, key.table)
	if err != nil {
		return err
	}
	loose, err := e.isLoose(ctx, key, nil)
	if err != nil {
		return err
	}
	_, err = e.execOnRow(ctx, change{lib.SQLITE_DELETE, key}, "delete from "+Quoted(key.table)+" where "+t.rowid+" = ?", key.row)
	if err == nil {
		e.log.addChange(key, before, nil)
	}
	if loose {
		e.log.markLoose(key)
	}
	return err
}

func (e *Edit) notAsPlanned(key rowKey, why string) error {
	return problem.New(problem.RolledBack, "check the store again",
		"%s was not changed: %s is not what the plan was made for: %s", e.db.File.Path, key, why)
}

// foreignKeys reads the foreign keys of all tables. One whose parent table is missing,
// or has other columns, binds nothing.
func (e *Edit) foreignKeys(ctx context.Context) ([]ForeignKey, error) {
	if e.keys != nil {
		return e.keys, nil
	}
	tables, err := e.db.readColumns(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := e.db.ForeignKeys(ctx)
	if err != nil {
		return nil, err
	}
	e.keys = slices.DeleteFunc(append([]ForeignKey{}, keys...), func(k ForeignKey) bool {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(tables)), func(t string) bool { return strings.EqualFold(t, k.Parent) })
		return !known || slices.Contains(k.To, "")
	})
	return e.keys, nil
}

// isLoose reports whether a foreign key of a row leads nowhere, of those that have one of
// the columns; nil for all columns.
func (e *Edit) isLoose(ctx context.Context, key rowKey, columns []string) (bool, error) {
	keys, err := e.foreignKeys(ctx)
	if err != nil {
		return false, err
	}
	var where []string
	for _, k := range keys {
		if k.From != key.table || columns != nil && !slices.ContainsFunc(k.Columns, func(c string) bool { return slices.Contains(columns, c) }) {
			continue
		}
		var set, same []string
		for i := range k.Columns {
			set = append(set, "c."+Quoted(k.Columns[i])+" is not null")
			same = append(same, "p."+Quoted(k.To[i])+" = c."+Quoted(k.Columns[i]))
		}
		where = append(where, strings.Join(set, " and ")+" and not exists(select 1 from "+Quoted(k.Parent)+" p where "+strings.Join(same, " and ")+")")
	}
	if where == nil {
		return false, nil
	}
	t, err := e.loadShape(ctx, key.table)
	if err != nil {
		return false, err
	}
	s, err := e.prepareStatement(ctx, "select 1 from "+Quoted(key.table)+" c where c."+t.rowid+" = ? and ("+strings.Join(where, " or ")+")")
	if err != nil {
		return false, err
	}
	found, err := firstRow(s.QueryContext(ctx, key.row))(1)
	return found != nil, err
}

// DisableForeignKeys begins a transaction in which nothing was changed yet again without foreign
// keys, which would refuse rows that were loose before the repair, too. A Revert does
// this, and tests itself what foreign keys are there for.
func (e *Edit) DisableForeignKeys(ctx context.Context) error {
	if e.reverting || e.trying || len(e.log.rows)+len(e.log.sequences) > 0 {
		return nil
	}
	version, err := e.Version(ctx)
	if err != nil {
		return err
	}
	if err := e.Rollback(); err != nil {
		return err
	}
	if _, err := e.db.conn.ExecContext(ctx, "pragma foreign_keys = off"); err != nil {
		return err
	}
	if err := e.beginImmediate(ctx); err != nil {
		return err
	}
	e.reverting = true
	now, err := e.Version(ctx)
	if err == nil && now != version {
		err = movedError(e.db.File.Path)
	}
	return err
}

// verifyReferences makes sure of what foreign keys are there for, when changes have been taken
// back: nothing names a row that is gone, and no row that is back names nothing, but
// for those that did before.
func (e *Edit) verifyReferences(ctx context.Context, rows []table.RowChange) error {
	keys, err := e.foreignKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := e.verifyUnreferenced(ctx, k, rows); err != nil {
			return err
		}
	}
	for _, c := range rows {
		key := keyOf(c)
		if c.Before == nil {
			continue
		}
		var columns []string // that changed; all where the row was gone
		for name := range c.After {
			columns = append(columns, name)
		}
		slices.Sort(columns)
		loose, err := e.isLoose(ctx, key, columns)
		if err != nil {
			return err
		}
		if loose && !c.Loose && !awaits(keys, c, rows) {
			return e.parentGone(nil)
		}
	}
	return nil
}

// verifyUnreferenced makes sure that no row names by a key one that has gone. Where it can, one query
// asks for all of them: without an index each one goes over a whole table.
func (e *Edit) verifyUnreferenced(ctx context.Context, k ForeignKey, rows []table.RowChange) error {
	var gone [][]table.Value
	for _, c := range rows {
		key := make([]table.Value, len(k.Columns))
		for i := range key {
			key[i] = c.After[k.To[i]]
		}
		if c.Before == nil && !c.Loose && strings.EqualFold(k.Parent, c.Table) && !slices.Contains(key, nil) {
			gone = append(gone, key)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if all, ok := parameterOf(gone); ok {
		return e.unnamedBy(ctx, k, keyCondition(k.Columns), all)
	}
	for _, key := range gone {
		args := make([]any, len(key))
		for i := range key {
			args[i] = key[i]
		}
		if err := e.unnamedBy(ctx, k, strings.Join(QuotedAll(k.Columns), " = ? and ")+" = ?", args...); err != nil {
			return err
		}
	}
	return nil
}

func (e *Edit) unnamedBy(ctx context.Context, k ForeignKey, where string, args ...any) error {
	t, err := e.loadShape(ctx, k.From)
	if err != nil {
		return err
	}
	s, err := e.prepareStatement(ctx, "select "+t.rowid+" from "+Quoted(k.From)+" where "+where+" limit 1")
	if err != nil {
		return err
	}
	found, err := firstRow(s.QueryContext(ctx, args...))(1)
	if err != nil || found == nil {
		return err
	}
	return e.dependentError(rowKey{k.From, found[0].(int64)})
}

// dependentError is the problem with a row that needs one that would go.
func (e *Edit) dependentError(on rowKey) error {
	return problem.New(problem.Busy, afterRefusal, "%s was not changed: %s was added or changed after the repair, and needs a record that undo would remove", e.db.File.Path, on)
}

// parentGone is the problem with a row that came back and needs one that is gone.
func (e *Edit) parentGone(err error) error {
	return &problem.Error{
		Class: problem.Busy, Next: afterRefusal, Err: err,
		What: e.db.File.Path + " cannot be restored: a record that one of the old records belongs to was deleted after the repair",
	}
}

func movedError(path string) error {
	return &problem.Error{
		Class: problem.Busy,
		What:  path + " changed after it was backed up: another process wrote to it",
		Next:  "close the program that uses it and try again; nothing was changed",
		Err:   table.ErrMoved,
	}
}

// heldError is the problem with a database that another process has open.
func heldError(path string, w Writer) error {
	who := w.Name
	if who == "" {
		who = "another process"
	}
	return problem.New(problem.Busy, "close "+who+" and try again; nothing was changed",
		"%s is in use by %s", path, who)
}

// inCopy is what to do about a database that cannot be changed where it is.
func inCopy(path string) string {
	return "repair a copy: sessctl repair " + shell.Path(path) + " --output COPY"
}

// afterRefusal is what to do when changes cannot be taken back.
const afterRefusal = "nothing was changed; to go back all the same, restore the backup: what was written since is lost then"

func notWritable(path, part string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return diskFullError(path, filepath.Dir(path), err)
	}
	return &problem.Error{
		Class: problem.Unreadable,
		What:  path + " cannot be changed: " + part + " is not writable (" + problem.Reason(err) + ")",
		Next:  inCopy(path),
		Err:   err,
	}
}

func diskFullError(path, folder string, err error) error {
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: path + " was not changed: the disk is full",
		Next: "free some space in " + folder + " and try again",
	}
}

// addedRules is what to do about a database with rules of its own.
const addedRules = "if somebody added a trigger, a foreign key or another rule to it, remove that during the repair"

// explainError turns an error of a write into a problem for people. Nothing that
// the transaction did remains after any of them.
func (e *Edit) explainError(err error) error {
	if err == nil || problem.ClassOf(err) != 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	path, p := e.db.File.Path, &problem.Error{Class: problem.Unreadable, Err: err}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_INTERRUPT: // only the end of a context interrupts
		return context.Canceled
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return busyError(path, e.probeOthers(), err)
	case lib.SQLITE_FULL:
		if table := e.exhaustedTable(); table != "" {
			p.Class, p.Next = problem.RolledBack, "give that row a smaller number in a copy, and repair the copy"
			p.What = path + " was not changed: a row of " + table + " has the largest possible number, so no row can be added"
			return p
		}
		return diskFullError(path, filepath.Dir(e.db.File.real), err)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN, lib.SQLITE_IOERR:
		if moved := e.Replaced(); moved != nil {
			return moved
		}
		p.What = path + " was not changed: it cannot be written (" + err.Error() + ")"
		p.Next = "check the disk and the permissions of the file and its folder; or " + inCopy(path)
	case lib.SQLITE_CONSTRAINT:
		p.Class, p.Next = problem.RolledBack, addedRules
		p.What = path + " was not changed: the database refused the change (" + err.Error() + ")"
	default:
		return e.db.Explain(err)
	}
	return p
}

// exhaustedTable names a table that counts its rows (AUTOINCREMENT) and has reached the last
// number, for which SQLite reports a full disk; "" if every table has numbers left.
func (e *Edit) exhaustedTable() string {
	ctx := context.Background() // of the write that failed nothing is known but its error
	rows, err := e.db.Query(ctx, "select name from sqlite_sequence")
	if err != nil {
		return ""
	}
	var tables []string
	for rows.Next() {
		var name string
		if rows.Scan(&name) == nil {
			tables = append(tables, name)
		}
	}
	if errors.Join(rows.Err(), rows.Close()) != nil {
		return ""
	}
	for _, table := range tables {
		var last int64
		if e.db.QueryRow(ctx, "select max(rowid) from "+Quoted(table)).Scan(&last) == nil && last == math.MaxInt64 {
			return table
		}
	}
	return ""
}

func isConstraint(err error) bool { return codeOf(err)&0xff == lib.SQLITE_CONSTRAINT }
