package dockeragent

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// Fill loads the bodies of a tree's items: by row, whatever the indexes say.
func (st *agentStore) Fill(ctx context.Context, tree *session.Tree) error {
	f := filler{st: st, ctx: ctx, lists: map[string][]json.RawMessage{}}
	if row, err := f.fillAll(tree); err != nil {
		return st.cannotFill(row, err)
	}
	return nil
}

// cannotFill is the problem with a row that was read before.
func (st *agentStore) cannotFill(row string, err error) error {
	if _, failed := sqlite.Readable(err); failed != nil {
		return fmt.Errorf("%s cannot be read again: %w", row, err)
	}
	return &problem.Error{
		Class: problem.Unreadable, Err: err,
		What: st.facts.Path + " is damaged: " + row + " cannot be read again",
		Next: "`sessctl check` says what is damaged",
	}
}

type filler struct {
	st    *agentStore
	ctx   context.Context
	lists map[string][]json.RawMessage // of legacy columns, by the first part of their keys
	ahead map[string][]byte            // messages that were read together, by key
}

// together is how many rows one query reads.
const together = 500

// fillAll names the row with which an error came.
func (f *filler) fillAll(tree *session.Tree) (row string, err error) {
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if i%together == 0 {
				f.readAhead(s.Items[i:min(i+together, len(s.Items))])
			}
			if err := f.fill(&s.Items[i]); err != nil {
				return s.ItemRef(i).Row(), err
			}
		}
	}
	return "", nil
}

// readAhead reads the messages of some items with one query. What it does not get is read
// row by row, and that says what is wrong.
func (f *filler) readAhead(items []session.Item) {
	var rows []string
	for i := range items {
		if items[i].Table == tableItems {
			rows = append(rows, items[i].Key)
		}
	}
	if f.ahead = make(map[string][]byte, len(rows)); len(rows) == 0 {
		return
	}
	rowid := f.st.schema.rowid[tableItems]
	some := sqlite.Selection{Table: tableItems, RowID: rowid, Columns: []string{"message_json"}, Where: rowid + " in (" + strings.Join(rows, ", ") + ")"}
	_ = f.st.db.ScanRows(f.ctx, some, func(rowid int64, row []driver.Value) error {
		f.ahead[rowKey(rowid)] = []byte(column.Text(row[0]))
		return nil
	})
}

func (f *filler) fill(it *session.Item) error {
	it.Body = &session.Body{}
	switch {
	case it.Table != tableItems:
		entry, err := f.entry(it.Key)
		if err != nil {
			return err
		}
		return f.fromColumn(it, entry)
	case it.Kind == session.SubSession:
		return nil
	case it.Kind == session.Summary:
		text, err := f.value("summary_text", it.Key)
		it.Body.Text = text
		return err
	}
	if text, ok := f.ahead[it.Key]; ok {
		return fillMessage(it, text)
	}
	text, err := f.value("message_json", it.Key)
	if sqlite.IsCorrupt(err) && it.Kind == session.Other {
		return nil // a fault tells of it
	}
	if err != nil {
		return err
	}
	return fillMessage(it, []byte(text))
}

// value is a column of a row of the item table. In a damaged tree of pages a
// row can be out of reach by its key; then all rows are gone through (the plus
// sign keeps SQLite from seeking).
func (f *filler) value(column, key string) (string, error) {
	if !f.st.schema.has(tableItems, column) {
		return "", nil
	}
	row, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return "", err
	}
	rowid := f.st.schema.rowid[tableItems]
	var text sql.NullString
	for _, where := range []string{rowid, "+" + rowid} {
		err = f.st.db.QueryRow(f.ctx, "select "+column+" from session_items not indexed where "+where+" = ?", row).Scan(&text)
		if found, failed := sqlite.Readable(err); found || failed != nil {
			break
		}
	}
	return text.String, err
}

// entry is the JSON of an entry of a legacy column; see addColumn for the key.
func (f *filler) entry(key string) (json.RawMessage, error) {
	cut := strings.LastIndexByte(key, '/')
	list, err := f.list(key[:cut])
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(key[cut+1:])
	if err != nil || n >= len(list) {
		return nil, fmt.Errorf("entry %s is gone", key)
	}
	return list[n], nil
}

// list is the list of entries that a key's first part leads to: the column of
// the owner, or the messages of a nested sub-session.
func (f *filler) list(prefix string) ([]json.RawMessage, error) {
	if list, ok := f.lists[prefix]; ok {
		return list, nil
	}
	var list []json.RawMessage
	if owner, ok := strings.CutSuffix(prefix, "#"); ok {
		text, err := f.st.columnOf(f.ctx, owner)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
	} else {
		outer, err := f.entry(strings.TrimSuffix(prefix, nestedMessages))
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

func (f *filler) fromColumn(it *session.Item, entry json.RawMessage) error {
	it.Body.Raw = entry
	c, _, _ := parseEntry(entry) // what does not decode keeps its raw bytes only
	switch {
	case it.Kind == session.SubSession:
		it.Body.Raw = nil
	case it.Kind == session.Summary:
		it.Body.Text = c.Summary
	case c.Message != nil:
		return fillMessage(it, c.Message.Message)
	default:
		return fillMessage(it, entry)
	}
	return nil
}

// fillMessage sets the texts of a message; bytes that do not decode are kept as
// they are.
func fillMessage(it *session.Item, data []byte) error {
	it.Body.Raw = data
	var m chatMessage
	if it.Kind != session.Message || json.Unmarshal(data, &m) != nil {
		return nil
	}
	it.Body.Reasoning = m.ReasoningContent
	for i := range it.Calls {
		if i < len(m.ToolCalls) {
			it.Calls[i].Args = m.ToolCalls[i].Function.Arguments
		}
	}
	if len(it.Results) > 0 {
		it.Results[0].Text = m.Content
		return nil
	}
	it.Body.Text = m.text()
	return nil
}

// text is the message's text: its content, or its text parts.
func (m *chatMessage) text() string {
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
	found, err := sqlite.Readable(db.QueryRow(ctx, "select id from sessions where "+sc.rowid[tableSessions]+" = ?", rowid).Scan(&id))
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
	found, err := sqlite.Readable(row.Scan(&id, &position, &kind))
	if !found {
		return false, err
	}
	number := st.number(id.String)
	it := p.reset(rowKey(rowid), position.Int64)
	it.Kind = session.Other
	p.faults[number] = append(p.faults[number], session.Fault{
		Kind: session.StoreDamaged, Ref: session.Ref{Table: tableItems, Key: it.Key},
		Detail: "the item (" + kind.String + ") cannot be read: it is on a damaged page of the file",
	})
	p.log.Add(number, it)
	return true, nil
}
