package dockeragent

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"slices"

	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// columnSource is what the columns of a tree are made of.
type columnSource struct {
	sessions map[string]*legacySession // without messages; nil for one that cannot be loaded
	rows     map[string][]columnRow    // by session, in the order in which they are loaded
	lists    map[string][]legacyItem   // made before
	open     map[string]bool           // sessions that are being made
	kept     map[string]bool           // sessions whose column is the only copy
}

type columnRow struct {
	id, position                         int64
	kind, agent, message, child, summary string
	implicit                             bool
}

var errNotLoadable = errors.New("docker agent cannot load the session")

func readColumnSource(ctx context.Context, db *sqlite.DB, sc *schema, ids idList) (*columnSource, error) {
	c := &columnSource{
		sessions: map[string]*legacySession{}, rows: map[string][]columnRow{}, lists: map[string][]legacyItem{}, open: map[string]bool{},
	}
	columns := sc.pick(tableSessions, "id", "title", "created_at", "tools_approved", "thinking", "working_dir", "send_user_message",
		"max_iterations", "starred", "input_tokens", "output_tokens", "cost", "permissions", "agent_model_overrides", "custom_models_used")
	_, err := ids.scan(ctx, db, sc, tableSessions, columns, func(_ int64, values []driver.Value) error {
		s := &legacySession{}
		for i, column := range columns {
			if s != nil && !s.load(column, values[i]) {
				s = nil
			}
		}
		c.sessions[textOf(values[0])] = s
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = ids.scan(ctx, db, sc, tableItems,
		[]string{"session_id", "position", "item_type", "agent_name", "message_json", "implicit", "subsession_id", "summary_text"},
		func(id int64, v []driver.Value) error {
			implicit, _ := isTrue(v[5])
			session := textOf(v[0])
			c.rows[session] = append(c.rows[session], columnRow{
				id, sortKey(v[1]), textOf(v[2]), textOf(v[3]), textOf(v[4]), textOf(v[6]), textOf(v[7]), implicit,
			})
			return nil
		})
	for _, rows := range c.rows {
		slices.SortFunc(rows, func(a, b columnRow) int { return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id)) })
	}
	return c, err
}

// list is the column of a session, with everything below it. Like the runtime's
// loader it passes over references that lead nowhere and over unknown kinds.
func (c *columnSource) list(id string) ([]legacyItem, error) {
	if list, ok := c.lists[id]; ok {
		return list, nil
	}
	if c.open[id] || c.kept[id] { // it contains itself, or rows say nothing of it
		return nil, errNotLoadable
	}
	c.open[id] = true
	defer delete(c.open, id)
	list := []legacyItem{}
	for _, r := range c.rows[id] {
		switch r.kind {
		case "message":
			message, err := reloaded([]byte(r.message))
			if err != nil {
				return nil, err
			}
			list = append(list, legacyItem{Message: &legacyMessage{r.agent, message, r.implicit}})
		case "subsession":
			sub, exists := c.sessions[r.child]
			if !exists {
				continue
			}
			if sub == nil {
				return nil, errNotLoadable
			}
			messages, err := c.list(r.child)
			if err != nil {
				return nil, err
			}
			sub.Messages = messages
			list = append(list, legacyItem{SubSession: sub})
		case "summary":
			list = append(list, legacyItem{Summary: r.summary})
		}
	}
	c.lists[id] = list
	return list, nil
}
