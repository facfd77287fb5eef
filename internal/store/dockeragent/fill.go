package dockeragent

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// Fill loads the bodies of a tree's items: by row, whatever the indexes say.
func (st *agentStore) Fill(ctx context.Context, tree *session.Tree) error {
	return st.newFiller(ctx).fillTree(tree)
}

// FillParts implements store.PartFiller. The lists of legacy columns are parsed once.
func (st *agentStore) FillParts(ctx context.Context, _ *session.Tree) (*store.Parts, error) {
	return &store.Parts{Fill: st.newFiller(ctx).fillTree}, nil
}

func (st *agentStore) newFiller(ctx context.Context) *filler {
	return &filler{st: st, ctx: ctx, lists: map[string][]json.RawMessage{}}
}

func (f *filler) fillTree(tree *session.Tree) error {
	for _, s := range tree.Sessions {
		if err := f.fillItem(s); err != nil {
			return err
		}
	}
	return nil
}

// cannotFill is the problem with a row that was read before.
func (f *filler) cannotFill(it *session.Item, err error) error {
	row := session.Ref{Table: it.Table(), Key: it.Key}.Row()
	if _, failed := sqlite.IsReadable(err); failed != nil {
		return fmt.Errorf("%s cannot be read again: %w", row, err)
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: f.st.facts.Path + " is damaged: " + row + " cannot be read again",
		Next: "`sessctl check` says what is damaged",
	}
}

type filler struct {
	st    *agentStore
	ctx   context.Context
	lists map[string][]json.RawMessage // of legacy columns, by the first part of their keys
}

func (f *filler) fillItem(s *session.Session) error {
	rows := map[string][]*session.Item{}
	for i := range s.Items {
		it := &s.Items[i]
		it.Body = &session.Body{}
		switch {
		case it.Table() != tableItems:
			entry, err := f.findEntry(it.Key)
			if err != nil {
				return f.cannotFill(it, err)
			}
			fillEntry(it, entry)
		case it.Kind == session.Summary:
			rows["summary_text"] = append(rows["summary_text"], it)
		case it.Kind != session.SubSession:
			rows["message_json"] = append(rows["message_json"], it)
		}
	}
	for column, items := range rows {
		if err := f.fillRows(column, items); err != nil {
			return err
		}
	}
	return nil
}

// fillRows loads the bodies of items from a column of their rows.
func (f *filler) fillRows(name string, items []*session.Item) error {
	if !f.st.schema.has(tableItems, name) {
		return nil
	}
	places := make([]table.Place, len(items))
	for i, it := range items {
		row, err := strconv.ParseInt(it.Key, 10, 64)
		if err != nil {
			return f.cannotFill(it, err)
		}
		places[i] = table.Place(row)
	}
	unread, err := f.st.db.Reader().Rows(f.ctx, tableItems, []string{name}, places, func(n int, values []table.Value) error {
		if it := items[n]; it.Kind == session.Summary {
			it.Body.Text = column.Text(values[0])
		} else {
			fillMessage(it, []byte(column.View(values[0])))
		}
		return nil
	})
	if err != nil {
		return f.cannotFill(items[0], err)
	}
	for _, n := range unread {
		if it := items[n]; it.Kind != session.Other { // else a fault tells of it
			return f.cannotFill(it, sql.ErrNoRows)
		}
	}
	return nil
}

// findEntry finds the JSON of an entry of a legacy column; see addColumn for the key.
func (f *filler) findEntry(key string) (json.RawMessage, error) {
	cut := strings.LastIndexByte(key, '/')
	list, err := f.loadEntries(key[:cut])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(key[cut+1:])
	if err != nil || n >= len(list) {
		return nil, fmt.Errorf("entry %s is gone", key)
	}
	return list[n], nil
}

// loadEntries loads the list of entries that a key's first part leads to: the column of
// the owner, or the messages of a nested sub-session.
func (f *filler) loadEntries(prefix string) ([]json.RawMessage, error) {
	if list, ok := f.lists[prefix]; ok {
		return list, nil
	}
	var list []json.RawMessage
	if owner, ok := strings.CutSuffix(prefix, "#"); ok {
		text, err := f.st.readMessagesColumn(f.ctx, owner)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	} else {
		outer, err := f.findEntry(strings.TrimSuffix(prefix, nestedMessages))
		if err != nil {
			return nil, err
		}
		c, _, err := parseEntry(outer)
		if err != nil {
			return nil, err
		}
		list = c.SubSession.Messages
	}
	f.lists[prefix] = list
	return list, nil
}

// fillEntry loads the body of an item from its entry in a legacy column.
func fillEntry(it *session.Item, entry json.RawMessage) {
	it.Body.Raw = entry
	c, _, _ := parseEntry(entry) // what does not decode keeps its raw bytes only
	switch {
	case it.Kind == session.SubSession:
		it.Body.Raw = nil
	case it.Kind == session.Summary:
		it.Body.Text = c.Summary
	case c.Message != nil:
		fillMessage(it, c.Message.Message)
	default:
		fillMessage(it, entry)
	}
}

// fillMessage sets the texts of a message; bytes that do not decode are kept as
// they are.
func fillMessage(it *session.Item, data []byte) {
	it.Body.Raw = data
	var m chatMessage
	if it.Kind != session.Message || json.Unmarshal(data, &m) != nil {
		return
	}
	it.Body.Reasoning = m.ReasoningContent
	for i := range it.Calls {
		if i < len(m.ToolCalls) {
			it.Calls[i].Args = m.ToolCalls[i].Function.Arguments
		}
	}
	if len(it.Results) > 0 {
		it.Results[0].Text = m.Content
		return
	}
	it.Body.Text = m.textContent()
}

// textContent is the message's text: its content, or its text parts.
func (m *chatMessage) textContent() string {
	if m.Content != "" {
		return m.Content
	}
	var parts []string
	for _, p := range m.MultiContent {
		if p.Text != "" {
			parts = append(parts, p.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// salvageSession reads the id of a session, which stands before everything
// long. Without it the items of the session would belong to nobody.
func salvageSession(ctx context.Context, db *sqlite.DB, sc *schema, rowid int64) (*session.Session, error) {
	var id sql.NullString
	found, err := sqlite.IsReadable(db.QueryRow(ctx, "select id from sessions where "+sc.rowid[tableSessions]+" = ?", rowid).Scan(&id))
	if !found || !id.Valid {
		return nil, err
	}
	s := &session.Session{ID: id.String}
	s.Faults = []session.Fault{{
		Kind: session.StoreDamaged, Item: -1, Ref: s.Ref(),
		Detail: "only the id of the session can be read: the rest of its row is on a damaged page of the file",
	}}
	return s, nil
}

// salvageItem keeps the place of an item whose record cannot be read.
func (st *agentStore) salvageItem(ctx context.Context, p *part, rowid int64) (bool, error) {
	var id, kind sql.NullString
	var position sql.NullInt64
	row := st.db.QueryRow(ctx, "select session_id, position, item_type from session_items where "+st.schema.rowid[tableItems]+" = ?", rowid)
	found, err := sqlite.IsReadable(row.Scan(&id, &position, &kind))
	if !found {
		return false, err
	}
	number := st.assignNumber(id.String)
	it := p.startItem(rowKey(rowid), position.Int64)
	it.Kind = session.Other
	p.faults[number] = append(p.faults[number], session.Fault{
		Kind: session.StoreDamaged, Ref: session.Ref{Table: tableItems, Key: it.Key},
		Detail: "the item (" + kind.String + ") cannot be read: it is on a damaged page of the file",
	})
	p.log.AddItem(number, it)
	return true, nil
}
