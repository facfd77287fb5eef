package dockeragent

import (
	"context"
	"database/sql"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// salvageSession reads the id of a session, which stands before everything
// long. Without it the items of the session would belong to nobody.
func salvageSession(ctx context.Context, db *sqlite.DB, sc *schema, rowid int64) (*session.Session, error) {
	var id sql.NullString
	found, err := sqlite.Readable(db.QueryRow(ctx, "select id from sessions where "+sc.rowid[tableSessions]+" = ?", rowid).Scan(&id))
	if !found || !id.Valid {
		return nil, err
	}
	s := &session.Session{ID: id.String}
	s.Faults = []session.Fault{{
		Kind: session.StoreDamaged, Item: -1, Ref: s.Ref(),
		Detail: "only the id of the session can be read: the rest of its row lies on a damaged page of the file",
	}}
	return s, nil
}

// salvageItem keeps the place of an item whose record cannot be read.
func (st *agentStore) salvageItem(ctx context.Context, p *part, rowid int64) (bool, error) {
	var id, kind sql.NullString
	var position sql.NullInt64
	row := st.db.QueryRow(ctx, "select session_id, position, item_type from session_items where "+st.schema.rowid[tableItems]+" = ?", rowid)
	found, err := sqlite.Readable(row.Scan(&id, &position, &kind))
	if !found {
		return false, err
	}
	number := st.number(id.String)
	it := p.reset(rowKey(rowid), position.Int64)
	it.Kind = session.Other
	p.faults[number] = append(p.faults[number], session.Fault{
		Kind: session.StoreDamaged, Ref: session.Ref{Table: tableItems, Key: it.Key},
		Detail: "the item (" + kind.String + ") cannot be read: it lies on a damaged page of the file",
	})
	p.log.Add(number, it)
	return true, nil
}
