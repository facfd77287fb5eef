package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
)

// Selection are some columns (SQL expressions) of the rows of a table for which
// a condition holds.
type Selection struct {
	Table   string // as the schema spells it
	RowID   string // as DB.RowID gives it
	Columns []string
	Where   string
	inOrder bool // of the rowids, whatever indexes there are
}

// ScanRows hands the rows of a selection to fn, in the order in which SQLite
// visits them: that of an index, where the condition has one. Values live as
// long as those of Scan. Damage ends it.
func (db *DB) ScanRows(ctx context.Context, s Selection, fn func(rowid int64, row []driver.Value) error, args ...any) error {
	call := "{scan}(" + strings.Join(append([]string{s.RowID}, s.Columns...), ", ") + ")"
	// An aggregate function sees exactly the rows that the condition leaves,
	// whatever the order in which conditions are tested.
	from := Quoted(s.Table)
	if s.inOrder {
		from += " not indexed"
	}
	return db.Scan(ctx, "select count("+call+") from "+from+" where "+s.Where, func(row []driver.Value) error {
		return fn(row[0].(int64), row[1:])
	}, args...)
}

// maxSalvage bounds the rows that are tried one by one.
const maxSalvage = 10_000

// Salvage tries the rows that SQLite refused one by one: of a row whose long
// value lies on a damaged page, the columns before that can still be read. It
// returns the ranges in which try found nothing, and all others.
func Salvage(lost []Range, try func(rowid int64) (bool, error)) ([]Range, error) {
	var rest []Range
	tried := int64(0)
	for _, l := range lost {
		if size := l.To - l.From; !l.Refused || size < 0 || size >= maxSalvage-tried { // the first when From is far below 0
			rest = append(rest, l)
			continue
		}
		tried += l.To - l.From + 1
		for id := l.From; id <= l.To; id++ {
			found, err := try(id)
			if err != nil {
				return nil, err
			}
			if found {
				continue
			}
			if n := len(rest); n > 0 && rest[n-1].To == id-1 && rest[n-1].Refused {
				rest[n-1].To, rest[n-1].Most = id, rest[n-1].Most+1
			} else {
				rest = append(rest, Range{From: id, To: id, Most: 1, Refused: true})
			}
		}
	}
	return rest, nil
}

// Readable sorts the errors of a read that a Salvage tries: damage and a missing
// row are none.
func Readable(err error) (bool, error) {
	if IsCorrupt(err) || errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// QuotedAll are names as SQL spells them, whatever characters they have.
func QuotedAll(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = Quoted(name)
	}
	return list
}
