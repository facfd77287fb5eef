package sqlite

import (
	"context"

	"github.com/sessctl/sessctl/internal/store/table"
)

// sequence is what sqlite_sequence says of a table, nil when it says nothing:
// the table is not AUTOINCREMENT, or never had a row.
func (e *Edit) sequence(ctx context.Context, table string) (table.Image, error) {
	if ok, err := e.hasSequences(ctx); err != nil || !ok {
		return nil, err
	}
	s, err := e.prepare(ctx, "select +name, +seq from "+sequenceTable+" where name = ?")
	if err != nil {
		return nil, err
	}
	values, err := one(s.QueryContext(ctx, table))(2)
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
	s, err := e.prepare(ctx, "select 1 from sqlite_schema where name = '"+sequenceTable+"'")
	if err != nil {
		return false, err
	}
	found, err := one(s.QueryContext(ctx))(1)
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
	now, err := e.sequence(ctx, table)
	if err != nil || !now.Equal(c.After) {
		return false, err
	}
	t, err := e.shape(ctx, table)
	if err != nil {
		return false, err
	}
	var higher bool
	err = e.db.QueryRow(ctx, "select exists(select 1 from "+Quoted(table)+" where "+t.rowid+" > ?)", now["seq"]).Scan(&higher)
	return !higher, err
}

// setSequence makes sqlite_sequence say of a table what the image does.
func (e *Edit) setSequence(ctx context.Context, table string, target table.Image) error {
	now, err := e.sequence(ctx, table)
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
