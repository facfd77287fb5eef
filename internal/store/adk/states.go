package adk

import (
	"context"
	"errors"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// sharedStates are queries for the states of applications and users that are no JSON
// object. Each is merged with the state of every session of its application or user
// (1.6), so that none of them loads.
var sharedStates = []struct{ table, query string }{
	{"app_states", `select app_name from app_states not indexed where `},
	{"user_states", `select app_name || '/' || user_id from user_states not indexed where `},
}

// sharedStateFaults reports such states. A table that is missing or has other columns
// is none of ADK's.
func sharedStateFaults(ctx context.Context, db *sqlite.DB, s schema) (faults []session.Fault, err error) {
	const broken = `case when json_valid(state) then json_type(state) not in ('object', 'null') else state is not null end`
	for _, shared := range sharedStates {
		if !s.has(shared.table, "app_name", "state") {
			continue
		}
		keys, err := texts(ctx, db, shared.query+broken)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			faults = append(faults, session.Fault{
				Kind: session.BadMetadata, Item: -1, Ref: session.Ref{Table: shared.table, Key: key}, Field: "state",
				Detail: "it is no JSON object, so that no session that shares it loads",
			})
		}
	}
	return faults, nil
}

// texts are the values of a query for one column, without those that are NULL. A damaged page
// ends them, which is told in any case.
func texts(ctx context.Context, db *sqlite.DB, query string) (list []string, err error) {
	rows, err := db.Query(ctx, query)
	if err != nil {
		_, err = sqlite.Readable(err)
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text *string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if text != nil {
			list = append(list, *text)
		}
	}
	_, err = sqlite.Readable(rows.Err())
	return list, err
}
