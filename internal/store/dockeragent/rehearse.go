package dockeragent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sessctl/sessctl/internal/store"
)

// tie is a reason to leave a row of the item table in its session.
type tie struct {
	where string // the condition, of a row i
	why   string // what such a row has
	moves bool   // it may leave the store: all of it goes to the receipt then
}

// tiedStore is a store with columns or tables beside the known ones that can say something
// of an item. A row that moves keeps its values, and one that leaves is missed where
// something refers to it.
type tiedStore struct{ *agentStore }

// Rehearse implements store.Rehearser.
func (st tiedStore) Rehearse(ctx context.Context, change *store.Change) error {
	d, err := compare(change, &st.schema)
	if err != nil {
		return err
	}
	for _, t := range st.schema.ties {
		rows := slices.Clone(d.moved)
		if !t.moves {
			for row := range d.removed {
				rows = append(rows, row)
			}
		}
		list, _ := json.Marshal(rows) // never fails on numbers
		rowid := st.schema.rowid[tableItems]
		var row *int64
		err := st.db.QueryRow(ctx, "select min(i."+rowid+") from session_items i where i."+rowid+amongIDs+" and ("+t.where+")", string(list)).Scan(&row)
		if err != nil {
			return st.db.Explain(err)
		}
		if row != nil {
			return fmt.Errorf("row %d of session_items %s", *row, t.why)
		}
	}
	return nil
}
