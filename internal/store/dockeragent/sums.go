package dockeragent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/sqlite"
	"github.com/sessctl/sessctl/internal/store/table"
)

// following are the columns of sessions that only store.Sum.Exact covers. messages
// is a copy that follows the items, and branch_parent_position an index into the list
// of another session, which a repair of that one moves.
var following = []string{"messages", "branch_parent_position"}

// contentColumns are the columns of an item that say something by themselves, as may
// those that are not known. The others say where it stands.
var contentColumns = []string{
	"item_type", "message_json", "subsession_id", "summary_text", "usage_json", "cost", "model", "implicit",
}

// summer collects what sums are made of.
type summer struct {
	rows     map[string]digest     // of a session's own row
	follow   map[string]digest     // of the columns that follow others, nil where they are not read
	items    map[string]*[]itemSum // by session
	children map[string][]string   // ids, by parent
	buf      []byte
}

type digest = [sha256.Size]byte

type itemSum struct {
	id             int64
	place, content digest
}

// sums reads the digests of sessions, those that do not exist included; with exact,
// those of every column.
func sums(ctx context.Context, db *sqlite.DB, sc *schema, sessions []string, exact bool) (map[string]store.Sum, error) {
	s := summer{rows: map[string]digest{}, items: map[string]*[]itemSum{}, children: map[string][]string{}}
	if exact {
		s.follow = map[string]digest{}
	}
	list := append(idList{}, sessions...)
	if err := s.readSessions(ctx, db, sc, list); err != nil {
		return nil, err
	}
	if err := s.readItems(ctx, db, sc, list); err != nil {
		return nil, err
	}
	result := make(map[string]store.Sum, len(sessions))
	for _, id := range sessions {
		result[id] = s.sum(id)
	}
	return result, nil
}

func (s *summer) readSessions(ctx context.Context, db *sqlite.DB, sc *schema, list idList) error {
	columns := slices.DeleteFunc(slices.Sorted(slices.Values(sc.columns[tableSessions])), func(c string) bool {
		return slices.Contains(following, c)
	})
	var others []string
	if s.follow != nil {
		others = sc.pick(tableSessions, following...)
	}
	id, own := slices.Index(columns, "id"), len(columns)
	_, err := list.scan(ctx, db, sc, tableSessions, sqlite.QuotedAll(slices.Concat(columns, others)), func(_ int64, values []driver.Value) error {
		text, ok := values[id].(string)
		if !ok {
			return nil // of another type, nothing refers to it
		}
		session := strings.Clone(text)
		s.rows[session] = s.of(columns, values[:own])
		if s.follow != nil {
			s.follow[session] = s.of(others, values[own:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return scanRows(ctx, db, sc, tableSessions, "parent_id", []string{"parent_id", "id"}, list.parameter(),
		func(_ int64, values []driver.Value) error {
			parent := textOf(values[0])
			s.children[parent] = append(s.children[parent], textOf(values[1]))
			return nil
		})
}

func (s *summer) readItems(ctx context.Context, db *sqlite.DB, sc *schema, list idList) error {
	content := append(sc.pick(tableItems, contentColumns...), sc.unknownColumns(tableItems)...)
	place := slices.DeleteFunc(slices.Sorted(slices.Values(sc.columns[tableItems])), func(c string) bool {
		return slices.Contains(content, c)
	})
	owner := slices.Index(place, "session_id")
	_, err := list.scan(ctx, db, sc, tableItems, sqlite.QuotedAll(slices.Concat(place, content)), func(id int64, values []driver.Value) error {
		list, ok := s.items[viewOf(values[owner])]
		if !ok { // a map may take over the bytes of a key that it knows, so a view is only looked up
			list = new([]itemSum)
			s.items[strings.Clone(viewOf(values[owner]))] = list
		}
		*list = append(*list, itemSum{id, s.of(place, values[:len(place)]), s.of(content, values[len(place):])})
		return nil
	})
	return err
}

// sum puts together what was read of a session.
func (s *summer) sum(id string) store.Sum {
	own, ok := s.rows[id]
	if !ok {
		return store.Sum{}
	}
	var items []itemSum
	if list := s.items[id]; list != nil {
		items = *list
	}
	slices.SortFunc(items, func(a, b itemSum) int { return cmp.Compare(a.id, b.id) })
	sum := store.Sum{Own: hex.EncodeToString(own[:]), Items: make(map[string]string, len(items))}
	all := slices.Clone(own[:])
	for _, it := range items {
		sum.Items[rowKey(it.id)] = hex.EncodeToString(it.content[:])
		all = append(append(all, it.place[:]...), it.content[:]...)
	}
	for _, child := range slices.Sorted(slices.Values(s.children[id])) {
		all = table.AppendExactly(all, child)
	}
	record := sha256.Sum256(all)
	sum.Record = hex.EncodeToString(record[:])
	if s.follow != nil {
		follow := s.follow[id]
		exact := sha256.Sum256(append(record[:], follow[:]...))
		sum.Exact = hex.EncodeToString(exact[:])
	}
	return sum
}

// of is the digest of columns with their values, each with its exact type.
func (s *summer) of(columns []string, values []driver.Value) digest {
	s.buf = s.buf[:0]
	for i, c := range columns {
		s.buf = table.AppendExactly(table.AppendExactly(s.buf, c), values[i])
	}
	return sha256.Sum256(s.buf)
}
