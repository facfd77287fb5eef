package dockeragent

import (
	"context"
	"database/sql/driver"
	"encoding/json"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// idList are the ids of sessions. A query takes them as one parameter, in JSON:
// see amongIDs.
type idList []string

// amongIDs is the condition that a column is one of the ids of a parameter. It
// uses an index of the column where there is one.
const amongIDs = " in (select value from json_each(?))"

// parameter is the list as a query takes it.
func (ids idList) parameter() string {
	list, _ := json.Marshal([]string(ids)) // never fails on strings
	return string(list)
}

// ownerColumn is the column that says which session a row belongs to.
var ownerColumn = map[string]string{tableSessions: "id", tableItems: "session_id"}

// scan hands the rows of these sessions to fn, in the order in which an index
// has them; for a nil list all rows, in row order and over damage, as ScanTable
// does.
func (ids idList) scan(ctx context.Context, db *sqlite.DB, sc *schema, table string, columns []string,
	fn func(rowid int64, values []driver.Value) error,
) ([]sqlite.Range, error) {
	if ids == nil {
		return db.ScanTable(ctx, table, columns, fn)
	}
	return nil, scanRows(ctx, db, sc, table, ownerColumn[table], columns, ids.parameter(), fn)
}

// scanRows hands the rows of a table to fn whose column key is one of the
// values of a JSON list. Values live as long as those of DB.Scan.
func scanRows(ctx context.Context, db *sqlite.DB, sc *schema, table, key string, columns []string, list string,
	fn func(rowid int64, values []driver.Value) error,
) error {
	where := sqlite.Selection{Table: table, RowID: sc.rowid[table], Columns: columns, Where: key + amongIDs}
	return db.ScanRows(ctx, where, fn, list)
}

// readSubset reads some sessions, which should be whole trees, and nothing
// about the rest of the store.
func readSubset(ctx context.Context, db *sqlite.DB, path string, bytes int64, sessions []string) (*agentStore, error) {
	st, err := newStore(ctx, db, path, bytes)
	if err != nil {
		return nil, err
	}
	st.only = append(idList{}, sessions...)
	if err := st.readTables(ctx); err != nil {
		return nil, err
	}
	if err := st.readColumn(ctx, false); err != nil {
		return nil, err
	}
	st.group()
	return st, nil
}
