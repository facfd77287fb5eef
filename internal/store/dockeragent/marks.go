package dockeragent

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// marksOf counts the items of each session by an index that has their rows and positions, so that no page
// of the table is read. nil where there is no such index.
func marksOf(ctx context.Context, src *store.Source) (map[string]string, error) {
	db := sqlite.FromReader(src.DB)
	if db == nil {
		return nil, nil
	}
	marks := map[string]string{}
	err := db.Scan(ctx, `select count({scan}(id, n, last, row)) from (
		select id, 0 as n, 0 as last, 0 as row from sessions indexed by sqlite_autoindex_sessions_1
		union all select session_id, count(*), max(position), max(rowid)
			from session_items indexed by idx_session_items_session group by session_id)`, func(v []driver.Value) error {
		id := strings.Clone(column.View(v[0]))
		marks[id] += fmt.Sprint(v[1], v[2], v[3])
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return nil, nil // an older schema, or a damaged one: the check tells
	}
	return marks, err
}
