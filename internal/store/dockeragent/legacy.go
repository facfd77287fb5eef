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
		c.sessions[column.Text(values[0])] = s
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = ids.scan(ctx, db, sc, tableItems,
		[]string{"session_id", "position", "item_type", "agent_name", "message_json", "implicit", "subsession_id", "summary_text"},
		func(id int64, v []driver.Value) error {
			implicit, _ := isTrue(v[5])
			session := column.Text(v[0])
			c.rows[session] = append(c.rows[session], columnRow{
				id, sortKey(v[1]), column.Text(v[2]), column.Text(v[3]), column.Text(v[4]), column.Text(v[6]), column.Text(v[7]), implicit,
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

// The legacy column (docs/stores/docker-agent.md#what-is-read) as docker agent encodes it: the order of the fields
// is the order of the keys.
type (
	legacyItem struct {
		Message    *legacyMessage `json:"message,omitempty"`
		SubSession *legacySession `json:"sub_session,omitempty"`
		Summary    string         `json:"summary,omitempty"`
	}

	legacyMessage struct {
		AgentName string          `json:"agentName"`
		Message   json.RawMessage `json:"message"`
		Implicit  bool            `json:"implicit,omitempty"`
	}

	legacySession struct {
		ID                  string          `json:"id"`
		Title               string          `json:"title"`
		Messages            []legacyItem    `json:"messages"`
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
)

// load takes a column of the session's row. It is false for a value that docker
// agent cannot scan.
func (s *legacySession) load(name string, v driver.Value) bool {
	if need, needed := required[name]; needed && (v == nil || need.fits(v) != "") {
		return false
	}
	text := column.Text(v)
	var err error
	switch name {
	case "id":
		s.ID = text
	case "title":
		s.Title = text
	case "created_at":
		s.CreatedAt, err = time.Parse(time.RFC3339, text)
	case "tools_approved":
		s.ToolsApproved, _ = isTrue(v)
	case "thinking":
		s.Thinking, _ = isTrue(v)
	case "working_dir":
		s.WorkingDir = text
	case "send_user_message":
		s.SendUserMessage, _ = isTrue(v)
	case "max_iterations":
		s.MaxIterations, err = strconv.ParseInt(text, 10, 64)
	case "starred":
		s.Starred, _ = isTrue(v)
	case "input_tokens":
		s.InputTokens, err = strconv.ParseInt(text, 10, 64)
	case "output_tokens":
		s.OutputTokens, err = strconv.ParseInt(text, 10, 64)
	case "cost":
		s.Cost, err = strconv.ParseFloat(text, 64)
	case "permissions":
		s.Permissions = unlessEmpty(text)
	case "agent_model_overrides":
		s.AgentModelOverrides = unlessEmpty(text)
	case "custom_models_used":
		s.CustomModelsUsed = unlessEmpty(text)
	}
	return err == nil
}

// unlessEmpty is JSON text, nil for what an encoder leaves out.
func unlessEmpty(text string) json.RawMessage {
	switch text {
	case "", "{}", "[]", "null":
		return nil
	}
	return json.RawMessage(text)
}

// reloaded is a message as docker agent encodes it after it loaded it: the
// schemas of tool definitions go through a map, which sorts their keys. Unlike
// docker agent it keeps keys that docker agent does not know.
func reloaded(stored []byte) (json.RawMessage, error) {
	var m chatMessage
	if err := json.Unmarshal(stored, &m); err != nil {
		return nil, err
	}
	if len(m.ToolDefinitions) == 0 {
		return stored, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(stored), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out []byte
	last := 0
	for {
		token, err := d.ReadToken()
		if err != nil { // the end
			return append(out, stored[last:]...), nil
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
}

// isSchema reports whether the decoder stands behind the key of a schema.
func isSchema(d *jsontext.Decoder) bool {
	if d.StackDepth() != 3 {
		return false
	}
	pointer := d.StackPointer()
	if key := pointer.LastToken(); key != "parameters" && key != "outputSchema" {
		return false
	}
	return pointer.Parent().Parent() == "/tool_definitions"
}

// rebuildColumns brings the legacy column (generations 014 to 019) of the
// sessions whose items changed up to date, and of those that contain them.
// docker agent keeps the column of a session that was written to, and of a child
// whose parent was; deeper ones have none. A session that docker agent could not
// load keeps its old column, as it does there; one whose items are nowhere else
// keeps it too, and all that contain such a one; and so does one whose column
// holds more than its rows (SC005): nothing else has the rest.
func (w *writer) rebuildColumns(ctx context.Context) error {
	if !w.schema.hasColumn() {
		return nil
	}
	behind := w.behind()
	if len(behind) == 0 {
		return nil
	}
	var all idList
	kept := map[string]bool{}
	for _, s := range w.change.After.Sessions {
		all = append(all, s.ID)
		kept[s.ID] = columnOnly(s)
	}
	source, err := readColumnSource(ctx, w.edit.DB(), w.schema, all)
	if err != nil {
		return err
	}
	source.kept = kept
	rows, err := w.rowsOf(ctx, behind)
	if err != nil {
		return err
	}
	for _, id := range behind {
		row, exists := rows[id]
		list, err := source.list(id)
		if err != nil || !exists {
			continue
		}
		column, err := json.Marshal(list)
		if err != nil {
			continue
		}
		first := w.getsColumn(id)
		rewrite := func(stored driver.Value) (any, bool) {
			if stored == nil && !first {
				return nil, true
			}
			if holdsMore(stored, w.change.Before, id) {
				return stored, true
			}
			return string(column), true
		}
		if err := w.update(ctx, tableSessions, map[int64]rowEdit{row: {"messages": rewrite}}); err != nil {
			return err
		}
	}
	return nil
}

// getsColumn reports whether a session is new and a child of a root.
func (w *writer) getsColumn(id string) bool {
	if w.change.Before.Session(id) != nil {
		return false
	}
	parent := w.change.After.Session(w.change.After.Session(id).Parent)
	return parent != nil && parent.Parent == ""
}

// behind are the sessions of the new tree whose column is no longer right: the
// changed ones, and all that contain one of them, as parents or by reference.
func (w *writer) behind() idList {
	above := map[string][]string{}
	for _, s := range w.change.After.Sessions {
		above[s.ID] = append(above[s.ID], s.Parent)
		for i := range s.Items {
			if it := &s.Items[i]; it.Kind == session.SubSession {
				above[it.Child] = append(above[it.Child], s.ID)
			}
		}
	}
	found := map[string]bool{}
	var mark func(id string)
	mark = func(id string) {
		if found[id] {
			return
		}
		found[id] = true
		for _, a := range above[id] {
			mark(a)
		}
	}
	for id, changed := range w.listed {
		if changed {
			mark(id)
		}
	}
	var list idList
	for _, s := range w.change.After.Sessions {
		if found[s.ID] {
			list = append(list, s.ID)
		}
	}
	return list
}
