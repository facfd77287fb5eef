package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// mostIndexed is how many rows are looked up one by one.
const mostIndexed = 20_000

// IndexedRows are the rows of a table with one of the keys of a JSON list, in the order of their
// rowids, as each of some indexes has them. A damaged index hides rows, so the indexes have
// to agree, the pages of the rows have to be sound, and no row nearby, where those of one key
// mostly are, may have such a key, too. The error says what is not so, or that there are so
// many rows that reading all of the table is faster.
func (db *DB) IndexedRows(ctx context.Context, table, key, list string, indexes ...string) (rows []int64, err error) {
	rowid, err := db.RowID(ctx, table)
	if err != nil {
		return nil, err
	}
	where := key + " in (select value from json_each(?))"
	for n, index := range indexes {
		var found []int64
		err := db.Scan(ctx, "select count({scan}("+rowid+")) from "+table+" indexed by "+index+" where "+where, func(row []driver.Value) error {
			found = append(found, row[0].(int64))
			return nil
		}, list)
		if err != nil {
			return nil, err
		}
		slices.Sort(found)
		if n > 0 && !slices.Equal(rows, found) {
			return nil, fmt.Errorf("the indexes %s and %s do not agree", indexes[n-1], index)
		}
		rows = found
		if len(rows) > mostIndexed {
			return nil, fmt.Errorf("more than %d rows of %s belong to it", mostIndexed, table)
		}
	}
	if sound, err := db.areRowsSound(ctx, table, rows); err != nil || !sound {
		return nil, errors.Join(err, fmt.Errorf("a page of %s is damaged", table))
	}
	const near = 16
	var around []int64
	next := int64(math.MinInt64)
	for _, row := range rows {
		for next = max(next, row-near); next <= row+near; next++ {
			around = append(around, next)
		}
	}
	numbers, _ := json.Marshal(around) // never fails on numbers
	var there int
	err = db.QueryRow(ctx, "select count(*) from "+table+" not indexed where "+rowid+" in (select value from json_each(?)) and "+where, string(numbers), list).Scan(&there)
	if err == nil && there != len(rows) {
		err = fmt.Errorf("the indexes of %s do not have all of its rows", table)
	}
	return rows, err
}
