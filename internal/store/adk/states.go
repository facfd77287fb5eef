package adk

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/table"
)

// sharedStates are the tables of the states of applications and users, with their keys.
// Each state is merged with that of every session of its application or user (1.6), so
// that none of them loads if it is no JSON object.
var sharedStates = []struct {
	table string
	key   []string
}{
	{"app_states", []string{"app_name"}},
	{"user_states", []string{"app_name", "user_id"}},
}

// sharedStateFaults reports such states. A table that is missing or has other columns
// is none of ADK's. A damaged page ends one, which is told in any case.
func sharedStateFaults(ctx context.Context, db table.Reader, s table.Schema) (faults []session.Fault, err error) {
	for _, shared := range sharedStates {
		if !s.Has(shared.table, append([]string{"state"}, shared.key...)...) {
			continue
		}
		states := table.Selection{Table: shared.table, Columns: append([]string{"state"}, shared.key...), Glance: true}
		_, err := db.Scan(ctx, states, func(_ table.Place, row []table.Value) error {
			if row[0] == nil || merges(bytesOf(row[0])) || slices.Contains(row[1:], nil) {
				return nil
			}
			key := textOf(row[1])
			if len(row) > 2 {
				key += "/" + textOf(row[2])
			}
			faults = append(faults, session.Fault{
				Kind: session.BadMetadata, Item: -1, Ref: session.Ref{Table: shared.table, Key: key}, Field: "state",
				Detail: "it is no JSON object, so that no session that shares it loads",
			})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// merges reports whether a state is an object, or null.
func merges(state []byte) bool {
	v := jsontext.Value(state)
	return v.IsValid(goJSON) && (v.Kind() == jsontext.KindBeginObject || v.Kind() == jsontext.KindNull)
}
