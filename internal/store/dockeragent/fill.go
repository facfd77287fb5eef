package dockeragent

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/session"
)

// Fill loads the bodies of a tree's items: by row, whatever the indexes say.
func (st *agentStore) Fill(ctx context.Context, tree *session.Tree) error {
	f := filler{st: st, ctx: ctx, lists: map[string][]json.RawMessage{}}
	for _, s := range tree.Sessions {
		for i := range s.Items {
			if err := f.fill(&s.Items[i]); err != nil {
				return fmt.Errorf("reading %s of session %s: %w", s.ItemRef(i).Row(), s.ID, err)
			}
		}
	}
	return nil
}

type filler struct {
	st    *agentStore
	ctx   context.Context
	lists map[string][]json.RawMessage // of legacy columns, by the first part of their keys
}

func (f *filler) fill(it *session.Item) error {
	it.Body = &session.Body{}
	var data sql.NullString
	switch {
	case it.Table == tableColumn:
		entry, err := f.entry(it.Key)
		if err != nil {
			return err
		}
		return f.fromColumn(it, entry)
	case it.Kind == session.SubSession:
		return nil
	case it.Kind == session.Summary:
		err := f.st.db.QueryRow(f.ctx, "select summary_text from session_items where id = ?", it.Key).Scan(&data)
		it.Body.Text = data.String
		return err
	}
	err := f.st.db.QueryRow(f.ctx, "select message_json from session_items where id = ?", it.Key).Scan(&data)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return fillMessage(it, []byte(data.String))
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
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, err
		}
	} else {
		outer, err := f.entry(strings.TrimSuffix(prefix, nestedMessages))
		if err != nil {
			return nil, err
		}
		var c columnItem
		if err := json.Unmarshal(outer, &c); err != nil {
			return nil, err
		}
		list = c.SubSession.Messages
	}
	f.lists[prefix] = list
	return list, nil
}

func (f *filler) fromColumn(it *session.Item, entry json.RawMessage) error {
	it.Body.Raw = entry
	var c columnItem
	_ = json.Unmarshal(entry, &c) // what does not decode keeps its raw bytes only
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
