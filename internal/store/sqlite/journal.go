package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/store/table"
)

// sequenceTable holds the highest rowid that each AUTOINCREMENT table ever
// had, in its columns name and seq (fileformat2, section 2.6.2).
const sequenceTable = "sqlite_sequence"

// imageOf pairs columns with what was read of them. The driver reads an empty
// blob as a nil slice, which it would write as NULL.
func imageOf(columns []string, values []any) table.Image {
	m := make(table.Image, len(columns))
	for i, c := range columns {
		if b, ok := values[i].([]byte); ok && b == nil {
			values[i] = []byte{}
		}
		m[c] = values[i]
	}
	return m
}

// changeLog collects changes, one for each row.
type changeLog struct {
	rows map[rowKey]*table.RowChange
	// sequences are changes of sqlite_sequence, by the table they count for.
	sequences map[string]*table.RowChange
}

func newChangeLog() changeLog {
	return changeLog{rows: map[rowKey]*table.RowChange{}, sequences: map[string]*table.RowChange{}}
}

// addChange takes in that a row went from before to after, which are whole rows when
// the other is nil, else the same columns of it.
func (l *changeLog) addChange(key rowKey, before, after table.Image) {
	c, known := l.rows[key]
	switch {
	case !known:
		l.rows[key] = &table.RowChange{Table: key.table, Row: table.Place(key.row), Before: before, After: after}
	case after == nil && c.Before == nil:
		delete(l.rows, key)
	case after == nil: // the columns that had not changed before are as they were
		c.Before, c.After = mergedImage(before, c.Before), nil
	case c.Before == nil || before == nil:
		c.After = mergedImage(c.After, after)
	default:
		c.Before, c.After = mergedImage(before, c.Before), mergedImage(c.After, after)
	}
}

// markLoose notes that a foreign key of a row led nowhere before it changed.
func (l *changeLog) markLoose(key rowKey) {
	if c := l.rows[key]; c != nil && c.Before != nil {
		c.Loose = true
	}
}

// addSequence takes in that the sequence of a table changed.
func (l *changeLog) addSequence(of string, before, after table.Image) {
	if c, known := l.sequences[of]; known {
		before = c.Before
	}
	l.sequences[of] = &table.RowChange{Table: sequenceTable, Before: before, After: after}
}

// mergedImage is an image with the columns of both; those of the second count.
func mergedImage(a, b table.Image) table.Image {
	m := make(table.Image, max(len(a), len(b)))
	for _, image := range []table.Image{a, b} {
		for c, v := range image {
			m[c] = v
		}
	}
	return m
}

// netChanges are the changes that remain, ordered by table and row. Sequences come
// last, ordered by the table that they count for.
func (l *changeLog) netChanges() []table.RowChange {
	var rows, sequences []table.RowChange
	for _, c := range l.rows {
		rows = appendNet(rows, *c)
	}
	for _, c := range l.sequences {
		sequences = appendNet(sequences, *c)
	}
	slices.SortFunc(rows, func(a, b table.RowChange) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Row, b.Row))
	})
	slices.SortFunc(sequences, func(a, b table.RowChange) int { return cmp.Compare(sequenceOf(a), sequenceOf(b)) })
	return append(rows, sequences...)
}

// appendNet appends a change without the columns that are what they were.
func appendNet(list []table.RowChange, c table.RowChange) []table.RowChange {
	if c.Table == sequenceTable {
		if c.Before.Equal(c.After) {
			return list
		}
		return append(list, c)
	}
	if c.Before == nil || c.After == nil {
		return append(list, c)
	}
	before, after := table.Image{}, table.Image{}
	for column, v := range c.After {
		if !table.SameValue(v, c.Before[column]) {
			before[column], after[column] = c.Before[column], v
		}
	}
	if len(after) == 0 {
		return list
	}
	c.Before, c.After = before, after
	return append(list, c)
}

// sequenceOf is the table whose sequence changed.
func sequenceOf(c table.RowChange) string {
	image := c.After
	if image == nil {
		image = c.Before
	}
	name, _ := image["name"].(string)
	return name
}

// Changes are the changes since Begin, one for each row that is not what it
// was, in an order that depends on them alone.
func (e *Edit) Changes() ([]table.RowChange, error) {
	if e.failed != nil {
		return nil, e.failed
	}
	return e.log.netChanges(), nil
}

// Journal are the changes since Begin as table.EncodeChanges writes them.
func (e *Edit) Journal() ([]byte, error) {
	changes, err := e.Changes()
	if err != nil {
		return nil, err
	}
	return table.EncodeChanges(changes)
}

// Revert takes back what a journal tells, if that is about these tables only.
func (e *Edit) Revert(ctx context.Context, journal []byte, tables ...string) error {
	changes, err := table.DecodeChanges(journal)
	if err == nil {
		err = VerifyTables(changes, tables...)
	}
	if err != nil {
		return err
	}
	return e.RevertChanges(ctx, changes)
}

// RevertChanges takes changes back in the open transaction, so that the rows and the
// sequences are what they were. Its error is a problem of class Busy when a
// row is not what the changes made of it, or when rows that came since depend
// on one that would go.
func (e *Edit) RevertChanges(ctx context.Context, changes []table.RowChange) error {
	if err := e.checkReady(); err != nil {
		return err
	}
	if err := e.DisableForeignKeys(ctx); err != nil {
		return e.rememberError(err)
	}
	e.reverting, e.guard.first = true, map[rowKey]table.Image{}
	err := e.takeBackChanges(ctx, changes)
	if p, ok := errors.AsType[*problem.Error](err); ok && errors.Is(err, errStray) && !e.trying { // a trigger that came since
		p.Class, p.Next = problem.Busy, "nothing was changed; remove the trigger during the undo"
	}
	return e.rememberError(err)
}

func (e *Edit) takeBackChanges(ctx context.Context, changes []table.RowChange) error {
	var rows []table.RowChange
	sequences := map[string]table.Image{} // what they are to be, by table
	for _, c := range changes {
		if c.Table == sequenceTable {
			continue
		}
		rows = append(rows, c)
		err := e.asLeft(ctx, c)
		if err == nil {
			sequences[c.Table], err = e.readSequence(ctx, c.Table)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range changes {
		if c.Table != sequenceTable {
			continue
		}
		same, err := e.sequenceAsLeft(ctx, c)
		if err != nil {
			return err
		}
		if same {
			sequences[sequenceOf(c)] = c.Before
		}
	}
	// Rows come back in an order that foreign keys know nothing of. This ends
	// with the transaction.
	if _, err := e.db.conn.ExecContext(ctx, "pragma defer_foreign_keys = on"); err != nil {
		return err
	}
	if err := e.takeBack(ctx, rows); err != nil {
		return err
	}
	if err := e.verifyReferences(ctx, rows); err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(sequences)) {
		if err := e.setSequence(ctx, table, sequences[table]); err != nil {
			return err
		}
	}
	if err := e.restoreDerived(ctx, rows); err != nil {
		return err
	}
	return e.asBefore(ctx, rows)
}

// asBefore reads the rows again, and makes sure that they are what they were before
// the changes: rows that came back in all of their columns.
func (e *Edit) asBefore(ctx context.Context, rows []table.RowChange) error {
	for _, c := range rows {
		key := keyOf(c)
		t, err := e.loadShape(ctx, c.Table)
		if err != nil {
			return err
		}
		columns := t.columns
		if c.Before != nil && c.After != nil {
			columns = slices.Sorted(maps.Keys(c.Before))
		}
		now, err := e.readStored(ctx, key, columns)
		if err != nil {
			return err
		}
		before := c.Before
		if e.trying { // see canReplace
			now, before = e.guard.withoutDerived(c.Table, now), e.guard.withoutDerived(c.Table, before)
		}
		if !now.Equal(before) {
			return problem.New(problem.RolledBack, afterRefusal, "%s was not restored: %s is not what it was before", e.db.File.Path, key)
		}
	}
	return nil
}

// VerifyTables makes sure that changes are of these tables only: a journal comes from a
// file, and must not reach anything that no repair writes.
func VerifyTables(changes []table.RowChange, tables ...string) error {
	for _, c := range changes {
		table := c.Table
		if table == sequenceTable {
			table = sequenceOf(c)
		}
		if !slices.Contains(tables, table) {
			return problem.New(problem.Busy, afterRefusal, "nothing was restored: the receipt names the table %q, which a repair of such a store never changes", table)
		}
	}
	return nil
}

// asLeft tests that a row is what the change made of it.
func (e *Edit) asLeft(ctx context.Context, c table.RowChange) error {
	key := keyOf(c)
	t, err := e.loadShape(ctx, c.Table)
	if err != nil {
		return err
	}
	columns := t.columns
	if c.After != nil {
		columns = nil
		for name := range c.After {
			if err := t.checkColumn(e, name); err != nil {
				return err
			}
			columns = append(columns, name)
		}
	}
	slices.Sort(columns)
	now, err := e.readStored(ctx, key, columns)
	if err != nil || e.guard.withoutDerived(c.Table, now).Equal(e.guard.withoutDerived(c.Table, c.After)) {
		return err
	}
	how := "changed after the repair"
	switch {
	case now == nil:
		how = "was deleted after the repair"
	case c.After == nil:
		how = "was added again after the repair"
	}
	return problem.New(problem.Busy, afterRefusal,
		"%s cannot be restored: %s %s", e.db.File.Path, key, how)
}

// takeBack takes back changes of rows. Rows that were removed come back and
// values are restored before rows go that were added: what SQLite does to rows
// that refer to those must find none. A row whose unique value is still taken
// waits for the next round. Where all wait for each other, one is taken out of the way.
func (e *Edit) takeBack(ctx context.Context, rows []table.RowChange) error {
	pending := slices.Clone(rows)
	slices.Reverse(pending)
	slices.SortStableFunc(pending, func(a, b table.RowChange) int { return revertPhase(a) - revertPhase(b) })
	for _, c := range pending {
		if c.Before == nil {
			e.guard.leaving[keyOf(c)] = true
		}
	}
	for len(pending) > 0 {
		var later []table.RowChange
		var cause error
		for _, c := range pending {
			err := e.takeBackRow(ctx, c)
			if isConstraint(err) {
				later, cause = append(later, c), err
			} else if err != nil {
				return err
			}
		}
		if len(later) == len(pending) {
			freed, err := e.makeWay(ctx, later)
			if err != nil {
				return err
			}
			if freed {
				pending = later
				continue
			}
			return &problem.Error{
				Class: problem.Busy, Err: cause,
				What: fmt.Sprintf("%s cannot be restored: the place of %s is taken (%s)", e.db.File.Path,
					keyOf(later[0]), cause),
				Next: afterRefusal,
			}
		}
		pending = later
	}
	return nil
}

// makeWay removes the first of some changed rows, and has it come back as one that was removed.
func (e *Edit) makeWay(ctx context.Context, rows []table.RowChange) (done bool, err error) {
	n := slices.IndexFunc(rows, func(c table.RowChange) bool { return revertPhase(c) == 1 })
	if n < 0 {
		return false, nil
	}
	c := &rows[n]
	t, err := e.loadShape(ctx, c.Table)
	if err != nil {
		return false, err
	}
	row, err := e.readStored(ctx, keyOf(*c), t.columns)
	if err != nil {
		return false, err
	}
	if err := e.deleteKnownRow(ctx, keyOf(*c), row); err != nil {
		return false, err
	}
	row = maps.Clone(row)
	maps.Copy(row, c.Before)
	c.Before, c.After = row, nil
	return true, nil
}

// revertPhase orders the ways in which rows are taken back.
func revertPhase(c table.RowChange) int {
	switch {
	case c.After == nil:
		return 0
	case c.Before != nil:
		return 1
	}
	return 2
}

func (e *Edit) takeBackRow(ctx context.Context, c table.RowChange) error {
	key := keyOf(c)
	switch {
	case c.After == nil:
		_, err := e.insertRow(ctx, c.Table, &key.row, c.Before.Fields())
		return err
	case c.Before != nil:
		var fields []table.FieldChange
		for _, f := range e.guard.withoutDerived(c.Table, c.After).Fields() {
			fields = append(fields, table.FieldChange{Name: f.Name, Old: f.Value, New: c.Before[f.Name]})
		}
		return e.updateRow(ctx, key, fields)
	}
	now, err := e.readStored(ctx, key, nil)
	if err != nil {
		return err
	}
	if now == nil { // it went with the row that it belonged to
		e.log.addChange(key, c.After, nil)
		return nil
	}
	// The foreign keys of rows that have gone may have changed this one.
	return e.deleteKnownRow(ctx, key, c.After)
}

// readSequence reads what sqlite_sequence says of a table, nil when it says nothing:
// the table is not AUTOINCREMENT, or never had a row.
func (e *Edit) readSequence(ctx context.Context, table string) (table.Image, error) {
	if ok, err := e.hasSequences(ctx); err != nil || !ok {
		return nil, err
	}
	s, err := e.prepareStatement(ctx, "select +name, +seq from "+sequenceTable+" where name = ?")
	if err != nil {
		return nil, err
	}
	values, err := firstRow(s.QueryContext(ctx, table))(2)
	if err != nil || values == nil {
		return nil, err
	}
	return imageOf([]string{"name", "seq"}, values), nil
}

// hasSequences reports whether any table of the database is AUTOINCREMENT.
func (e *Edit) hasSequences(ctx context.Context) (bool, error) {
	if _, ok := e.tables[sequenceTable]; ok {
		return true, nil
	}
	s, err := e.prepareStatement(ctx, "select 1 from sqlite_schema where name = '"+sequenceTable+"'")
	if err != nil {
		return false, err
	}
	found, err := firstRow(s.QueryContext(ctx))(1)
	if found == nil || err != nil {
		return false, err
	}
	e.tables[sequenceTable] = tableShape{name: sequenceTable, rowid: "rowid", columns: []string{"name", "seq"}}
	return true, nil
}

// sequenceAsLeft reports whether a sequence is what the change made of it, with
// no row behind it. Elsewhere rows were added since, so it stays.
func (e *Edit) sequenceAsLeft(ctx context.Context, c table.RowChange) (bool, error) {
	table := sequenceOf(c)
	now, err := e.readSequence(ctx, table)
	if err != nil || !now.Equal(c.After) {
		return false, err
	}
	t, err := e.loadShape(ctx, table)
	if err != nil {
		return false, err
	}
	var higher bool
	err = e.db.QueryRow(ctx, "select exists(select 1 from "+Quoted(table)+" where "+t.rowid+" > ?)", now["seq"]).Scan(&higher)
	return !higher, err
}

// setSequence makes sqlite_sequence say of a table what the image does.
func (e *Edit) setSequence(ctx context.Context, table string, target table.Image) error {
	now, err := e.readSequence(ctx, table)
	if err != nil || now.Equal(target) {
		return err
	}
	e.guard.sequences = true
	defer func() { e.guard.sequences = false }()
	switch {
	case target == nil:
		_, err = e.db.conn.ExecContext(ctx, "delete from "+sequenceTable+" where name = ?", table)
	case now == nil:
		_, err = e.db.conn.ExecContext(ctx, "insert into "+sequenceTable+"(name, seq) values(?, ?)", table, target["seq"])
	default:
		_, err = e.db.conn.ExecContext(ctx, "update "+sequenceTable+" set seq = ? where name = ?", target["seq"], table)
	}
	if err == nil {
		e.log.addSequence(table, now, target)
	}
	return err
}
