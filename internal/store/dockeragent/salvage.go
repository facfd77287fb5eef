package dockeragent

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// maxSalvage bounds the rows that are tried one by one.
const maxSalvage = 10_000

// salvage tries the rows of damaged ranges one by one: of a row whose long
// value lies on a damaged page, the columns before that can still be read. It
// returns the ranges in which try found nothing.
func salvage(lost []sqlite.Range, try func(rowid int64) (bool, error)) ([]sqlite.Range, error) {
	var rest []sqlite.Range
	tried := int64(0)
	for _, l := range lost {
		if size := l.To - l.From; size < 0 || size >= maxSalvage-tried { // the first when From is far below 0
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
			if n := len(rest); n > 0 && rest[n-1].To == id-1 {
				rest[n-1].To = id
			} else {
				rest = append(rest, sqlite.Range{From: id, To: id})
			}
		}
	}
	return rest, nil
}

// readable sorts the errors of a try: damage and a missing row are none.
func readable(err error) (bool, error) {
	if sqlite.IsCorrupt(err) || errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// salvageSession reads the id of a session, which stands before everything
// long. Without it the items of the session would belong to nobody.
func salvageSession(ctx context.Context, db *sqlite.DB, sc *schema, rowid int64) (*session.Session, error) {
	var id sql.NullString
	found, err := readable(db.QueryRow(ctx, "select id from sessions where "+sc.rowid[tableSessions]+" = ?", rowid).Scan(&id))
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
	found, err := readable(row.Scan(&id, &position, &kind))
	if !found {
		return false, err
	}
	number := st.number(id.String)
	it := p.reset(tableItems, rowKey(rowid), position.Int64)
	it.Kind = session.Other
	p.faults[number] = append(p.faults[number], session.Fault{
		Kind: session.StoreDamaged, Ref: session.Ref{Table: tableItems, Key: it.Key},
		Detail: "the item (" + kind.String + ") cannot be read: it lies on a damaged page of the file",
	})
	p.log.Add(number, it)
	return true, nil
}
