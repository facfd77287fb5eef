package dockeragent

import (
	"bytes"
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// indexRefs notes the numbers within JSON columns that mean other items now.
func indexRefs(r rowEdit, before, after []session.IndexRef) {
	for _, now := range after {
		for _, was := range before {
			if now.Ref.Pointer != was.Ref.Pointer || now.Index == was.Index {
				continue
			}
			column := strings.TrimPrefix(strings.TrimSuffix(now.Ref.Pointer, now.Pointer), "/")
			r[column] = withNumber(r[column], now.Pointer, was.Index, now.Index)
		}
	}
}

// withNumber replaces one number after what first does, if anything.
func withNumber(first rewrite, pointer string, was, now int64) rewrite {
	return func(stored driver.Value) (any, bool) {
		if first != nil {
			value, ok := first(stored)
			if !ok {
				return nil, false
			}
			stored = value
		}
		return replaceNumber(textOf(stored), pointer, was, now)
	}
}

// replaceNumber replaces the number at a JSON pointer and leaves every other
// byte as it is. Of a key that comes twice the last one counts, as it does for
// the reader.
func replaceNumber(text, pointer string, was, now int64) (_ string, ok bool) {
	d := jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	start, end := -1, -1
	for {
		token, err := d.ReadToken()
		if err != nil { // the end, or what does not parse
			break
		}
		if token.Kind() == '0' && string(d.StackPointer()) == pointer {
			end = int(d.InputOffset())
			start = end - len(token.String())
		}
	}
	if start < 0 || text[start:end] != strconv.FormatInt(was, 10) {
		return "", false
	}
	return text[:start] + strconv.FormatInt(now, 10) + text[end:], true
}

// branchPositions moves the places at which other sessions branched off from a
// session whose items changed (generations 016 to 018).
func (w *writer) branchPositions(ctx context.Context) error {
	if !w.schema.has(tableSessions, "branch_parent_position") {
		return nil
	}
	var parents idList
	for _, s := range w.change.Before.Sessions {
		if w.listed[s.ID] {
			parents = append(parents, s.ID)
		}
	}
	moved := map[int64]rowEdit{}
	columns := []string{"branch_parent_session_id", "branch_parent_position"}
	err := scanRows(ctx, w.edit.DB(), w.schema, tableSessions, columns[0], columns, parents.parameter(),
		func(rowid int64, values []driver.Value) error {
			was, ok := values[1].(int64)
			if !ok {
				return nil
			}
			id := textOf(values[0])
			now := session.RemapIndex(w.change.Before.Session(id), w.change.After.Session(id), was)
			if now != was {
				moved[rowid] = rowEdit{columns[1]: becomes(now, func(v driver.Value) bool { return v == was })}
			}
			return nil
		})
	if err != nil {
		return err
	}
	return w.update(ctx, tableSessions, moved)
}
