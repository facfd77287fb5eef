package dockeragent

import (
	"bytes"
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// columnSource is what the columns of a tree are made of.
type columnSource struct {
	*encoder
	sessions map[string]*legacySession // without messages; nil for one that cannot be loaded
	rows     map[string][]columnRow    // by session, in the order in which they are loaded
	lists    map[string][]byte         // made before
	open     map[string]bool           // sessions that are being made, or whose column is the only copy
}

type columnRow struct {
	id, position                int64
	kind, agent, child, summary string
	message                     []byte
	implicit                    bool
}

var errNotLoadable = errors.New("docker agent cannot load the session")

func readColumnSource(ctx context.Context, db *sqlite.DB, sc *schema, ids idList, e *encoder) (*columnSource, error) {
	c := &columnSource{
		encoder: e, sessions: map[string]*legacySession{}, rows: map[string][]columnRow{}, lists: map[string][]byte{}, open: map[string]bool{},
	}
	columns := sc.pickColumns(tableSessions, "id", "title", "created_at", "tools_approved", "thinking", "working_dir", "send_user_message",
		"max_iterations", "starred", "input_tokens", "output_tokens", "cost", "permissions", "agent_model_overrides", "custom_models_used")
	_, err := ids.rowSubset().scanTable(ctx, db, sc, tableSessions, columns, func(_ int64, values []driver.Value) error {
		s := &legacySession{}
		if !s.loadColumns(columns, values) {
			s = nil
		}
		c.sessions[column.Text(values[0])] = s
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = ids.rowSubset().scanTable(ctx, db, sc, tableItems,
		[]string{"session_id", "position", "item_type", "agent_name", "message_json", "implicit", "subsession_id", "summary_text"},
		func(id int64, v []driver.Value) error {
			implicit, _ := parseBool(v[5])
			session := column.Text(v[0])
			c.rows[session] = append(c.rows[session], columnRow{
				id, sortKey(v[1]), column.Text(v[2]), column.Text(v[3]), column.Text(v[6]), column.Text(v[7]), []byte(column.View(v[4])), implicit,
			})
			return nil
		})
	for _, rows := range c.rows {
		slices.SortFunc(rows, func(a, b columnRow) int { return cmp.Or(cmp.Compare(a.position, b.position), cmp.Compare(a.id, b.id)) })
	}
	return c, err
}

// encodeColumn encodes the column of a session, with everything below it, byte by byte as
// docker agent encodes it. Like the runtime's loader it passes over references that
// lead nowhere and over unknown kinds.
func (c *columnSource) encodeColumn(id string) ([]byte, error) {
	if list, ok := c.lists[id]; ok {
		return list, nil
	}
	if c.open[id] { // it contains itself, or rows say nothing of it
		return nil, errNotLoadable
	}
	c.open[id] = true
	defer delete(c.open, id)
	list := []byte{'['}
	for i := range c.rows[id] {
		var err error
		if list, err = c.appendEntry(list, &c.rows[id][i]); err != nil {
			return nil, err
		}
	}
	c.lists[id] = append(bytes.TrimSuffix(list, []byte{','}), ']')
	return c.lists[id], nil
}

// appendEntry appends an entry and a comma.
func (c *columnSource) appendEntry(list []byte, r *columnRow) (_ []byte, err error) {
	switch r.kind {
	case "message":
		agent, _ := json.Marshal(r.agent) // never fails on a string
		list = append(append(append(list, `{"message":{"agentName":`...), agent...), `,"message":`...)
		if list, err = c.appendMessage(list, r.message); r.implicit {
			list = append(list, `,"implicit":true`...)
		}
		return append(list, `}},`...), err
	case "subsession":
		sub, exists := c.sessions[r.child]
		if !exists {
			return list, nil
		}
		if sub == nil {
			return nil, errNotLoadable
		}
		messages, err := c.encodeColumn(r.child)
		if err != nil {
			return nil, err
		}
		frame, err := json.Marshal(sub)
		before, after, _ := bytes.Cut(frame, []byte(`"messages":null`)) // within a text a quote follows a backslash
		list = append(append(append(list, `{"sub_session":`...), before...), `"messages":`...)
		return append(append(append(list, messages...), after...), `},`...), err
	case "summary":
		entry, err := json.Marshal(struct {
			Summary string `json:"summary,omitempty"`
		}{r.summary})
		return append(append(list, entry...), ','), err
	}
	return list, nil
}

// legacySession is a sub-session in the column (docs/stores/docker-agent.md#what-is-read)
// as docker agent encodes it: the order of the fields is the order of the keys.
type legacySession struct {
	ID                  string          `json:"id"`
	Title               string          `json:"title"`
	Messages            *struct{}       `json:"messages"` // null: its place
	CreatedAt           time.Time       `json:"created_at"`
	ToolsApproved       bool            `json:"tools_approved"`
	Thinking            bool            `json:"thinking"`
	HideToolResults     bool            `json:"hide_tool_results"` // never stored in a column
	WorkingDir          string          `json:"working_dir,omitempty"`
	SendUserMessage     bool            // without a name of its own upstream, too
	MaxIterations       int64           `json:"max_iterations"`
	Starred             bool            `json:"starred"`
	InputTokens         int64           `json:"input_tokens"`
	OutputTokens        int64           `json:"output_tokens"`
	Cost                float64         `json:"cost"`
	Permissions         json.RawMessage `json:"permissions,omitempty"`
	AgentModelOverrides json.RawMessage `json:"agent_model_overrides,omitempty"`
	CustomModelsUsed    json.RawMessage `json:"custom_models_used,omitempty"`
}

// loadColumns takes columns of the session's row. It is false for a value that docker agent
// cannot scan.
func (s *legacySession) loadColumns(columns []string, values []driver.Value) bool {
	into := map[string]any{
		"id": &s.ID, "title": &s.Title, "created_at": &s.CreatedAt, "tools_approved": &s.ToolsApproved, "thinking": &s.Thinking,
		"working_dir": &s.WorkingDir, "send_user_message": &s.SendUserMessage, "max_iterations": &s.MaxIterations, "starred": &s.Starred,
		"input_tokens": &s.InputTokens, "output_tokens": &s.OutputTokens, "cost": &s.Cost,
		"permissions": &s.Permissions, "agent_model_overrides": &s.AgentModelOverrides, "custom_models_used": &s.CustomModelsUsed,
	}
	for i, name := range columns {
		v, text := values[i], column.Text(values[i])
		need, needed := required[name]
		if needed && (v == nil || need.fits(v) != "") {
			return false
		}
		var err error
		switch to := into[name].(type) {
		case *string:
			*to = text
		case *bool:
			*to, _ = parseBool(v)
		case *int64:
			*to, err = strconv.ParseInt(text, 10, 64)
		case *float64:
			*to, err = strconv.ParseFloat(text, 64)
		case *time.Time:
			*to, err = time.Parse(time.RFC3339, text)
		case *json.RawMessage:
			if !slices.Contains([]string{"", "{}", "[]", "null"}, text) { // which an encoder leaves out
				*to = json.RawMessage(text)
			}
		}
		if err != nil {
			return false
		}
	}
	return true
}

// encoder encodes messages as docker agent does after it loaded them.
type encoder struct {
	decoder
	sorted map[string][]byte // tool definitions as they are encoded, by how they are stored
}

// maxSorted is how many tool definitions are kept.
const maxSorted = 512

// appendMessage appends a message as reloaded encodes it. That is as it is stored, where
// docker agent wrote it, but for tool definitions, which say the same in message after
// message.
func (e *encoder) appendMessage(out, stored []byte) ([]byte, error) {
	if !e.decodeFast(stored) || !e.scan.isGoEncoded() {
		m, err := reencodeMessage(stored)
		return append(out, m...), err
	}
	last := 0
	for _, at := range e.defined {
		d := stored[at[0]:at[1]]
		sorted, known := e.sorted[string(d)]
		if !known {
			const before, after = `{"tool_definitions":[`, `]}`
			m, err := reencodeMessage(slices.Concat([]byte(before), d, []byte(after)))
			if err != nil {
				return nil, err
			}
			if len(e.sorted) == maxSorted {
				clear(e.sorted)
			}
			if sorted = m[len(before) : len(m)-len(after)]; len(d) <= maxDefinition {
				e.sorted[string(d)] = sorted
			}
		}
		out = append(append(out, stored[last:at[0]]...), sorted...)
		last = at[1]
	}
	return append(out, stored[last:]...), nil
}

// reencodeMessage is a message as docker agent encodes it after it loaded it: the
// schemas of tool definitions go through a map, which sorts their keys. Unlike
// docker agent it keeps keys that docker agent does not know.
func reencodeMessage(stored []byte) ([]byte, error) {
	var m chatMessage
	if err := json.Unmarshal(stored, &m); err != nil {
		return nil, err
	}
	d := jsontext.NewDecoder(bytes.NewReader(stored), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out json.RawMessage
	last := 0
	for len(m.ToolDefinitions) > 0 {
		token, err := d.ReadToken()
		if err != nil { // the end
			break
		}
		if token.Kind() != '"' || !isSchema(d) {
			continue
		}
		raw, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		var schema any
		if err := json.Unmarshal(raw, &schema); err != nil {
			return nil, err
		}
		sorted, err := json.Marshal(schema)
		if err != nil {
			return nil, err
		}
		end := int(d.InputOffset())
		out = append(append(out, stored[last:end-len(raw)]...), sorted...)
		last = end
	}
	return json.Marshal(append(out, stored[last:]...))
}

// isSchema reports whether the decoder stands behind the key of a schema.
func isSchema(d *jsontext.Decoder) bool {
	if d.StackDepth() != 3 {
		return false
	}
	pointer := d.StackPointer()
	key := pointer.LastToken()
	return (key == "parameters" || key == "outputSchema") && pointer.Parent().Parent() == "/tool_definitions"
}

// rebuildColumns brings the legacy column (generations 014 to 019) of the
// sessions whose items changed up to date, and of those that contain them.
// docker agent keeps the column of a session that was written to, and of a child
// whose parent was; deeper ones have none. A session that docker agent could not
// load keeps its old column, as it does there; one whose items are nowhere else
// keeps it too, and all that contain such a one; and so does one whose column
// holds more than its rows (SC005): nothing else has the rest.
func (w *writer) rebuildColumns(ctx context.Context) error {
	if !w.schema.hasMessagesColumn() {
		return nil
	}
	behind := w.findOutdated()
	if len(behind) == 0 {
		return nil
	}
	var all idList
	only := map[string]bool{}
	for _, s := range w.change.After.Sessions {
		all = append(all, s.ID)
		only[s.ID] = isColumnOnly(s)
	}
	source, err := readColumnSource(ctx, w.edit.DB(), w.schema, all, w.encoder)
	if err != nil {
		return err
	}
	source.open = only
	rows, err := w.rowsOf(ctx, behind)
	if err != nil {
		return err
	}
	for _, id := range behind {
		row, exists := rows[id]
		if !exists {
			continue
		}
		rewrite := func(stored driver.Value) (any, bool) {
			if stored == nil && !w.needsColumn(id) {
				return nil, true
			}
			if !holdsMore(stored, w.change.Before, id) {
				if list, err := source.encodeColumn(id); err == nil {
					return string(list), true
				}
			}
			return stored, true
		}
		if err := w.updateRows(ctx, tableSessions, map[int64]rowEdit{row: {"messages": rewrite}}); err != nil {
			return err
		}
	}
	return nil
}

// needsColumn reports whether a session is new and a child of a root.
func (w *writer) needsColumn(id string) bool {
	if w.change.Before.Session(id) != nil {
		return false
	}
	parent := w.change.After.Session(w.change.After.Session(id).Parent)
	return parent != nil && parent.Parent == ""
}

// findOutdated finds the sessions of the new tree whose column is no longer right: the
// changed ones, and all that contain one of them, as parents or by reference.
func (w *writer) findOutdated() idList {
	above := map[string]idList{}
	for _, s := range w.change.After.Sessions {
		above[s.ID] = append(above[s.ID], s.Parent)
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession {
				above[it.Child()] = append(above[it.Child()], s.ID)
			}
		}
	}
	found := findReachable(above, w.listed...)
	var list idList
	for _, s := range w.change.After.Sessions {
		if found[s.ID] {
			list = append(list, s.ID)
		}
	}
	return list
}
