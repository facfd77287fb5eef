package kagent_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// mutator damages a database at random: values of columns, members of documents, ids,
// and whole rows. It notes what it did.
type mutator struct {
	*rand.Rand
	t    *testing.T
	tx   *sql.Tx
	done []string
}

// damage makes some mutations of a file, and says which.
func damage(t *testing.T, path string, g *rand.Rand) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	m := &mutator{Rand: g, t: t, tx: tx}
	for range 1 + g.IntN(3) {
		kinds := []func(){m.column, m.column, m.member, m.member, m.member, m.crossed, m.rows, m.rename}
		kinds[g.IntN(len(kinds))]()
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return m.done
}

// try runs a statement: what the tables forbid is no damage that they can hold.
func (m *mutator) try(what, statement string, args ...any) {
	if _, err := m.tx.Exec("savepoint s"); err != nil {
		m.t.Fatal(err)
	}
	result, err := m.tx.Exec(statement, args...)
	if err == nil {
		if n, _ := result.RowsAffected(); n > 0 {
			m.done = append(m.done, what)
		}
	} else if _, err := m.tx.Exec("rollback to s"); err != nil {
		m.t.Fatal(err)
	}
}

// values are those of a query for one column.
func (m *mutator) values(query string, args ...any) (list []any) {
	rows, err := m.tx.Query(query, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var value any
		if err := rows.Scan(&value); err != nil {
			m.t.Fatal(err)
		}
		list = append(list, value)
	}
	return list
}

func pick[T any](m *mutator, list []T) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[m.IntN(len(list))], true
}

// odd are values that no runtime stores, or none there.
var odd = []any{
	nil, "", 0, -1, 7, int64(1) << 62, 1772359200, int64(1772359200123456), 1772359200.5, 1e300, []byte("blob"), []byte{0xff, 0xfe}, "none", "null", "{}", "[]",
	"7", "\"quoted\"", "wörker – 🙂", "a/b#c", "a\u2028b\x01", "half \xff", "2026-08-03 09:30:00", "2026-08-03T09:30:00.5Z", "0000-00-00 00:00:00", "agent",
	"admin@kagent.dev", "A2A_USER_x", "1.0", "%s", "--x", strings.Repeat("x", 300),
}

// column gives a column of some row another value.
func (m *mutator) column() {
	table, _ := pick(m, []string{"session", "event", "event", "task", "task", "agent"})
	names := m.values("select name from pragma_table_info(?) where name <> 'data' or ? <> 'x'", table, table)
	row, ok := pick(m, m.values("select rowid from "+table))
	if !ok {
		return
	}
	name, _ := pick(m, names)
	value, _ := pick(m, odd)
	if m.IntN(3) == 0 {
		other, _ := pick(m, []string{"id", "created_at", name.(string)})
		from, _ := pick(m, []string{table, "session"})
		if columns := m.values("select name from pragma_table_info(?)", from); slices.Contains(columns, any(other)) {
			value, _ = pick(m, m.values("select "+other+" from "+from))
		}
	}
	m.try(fmt.Sprintf("%s %v: %s = %.40q", table, row, name, fmt.Sprint(value)), fmt.Sprintf("update %s set %s = ? where rowid = ?", table, name), value, row)
}

// document is a document of some row, decoded.
func (m *mutator) document(table string) (row any, doc any, quoted, ok bool) {
	row, ok = pick(m, m.values("select rowid from "+table))
	if !ok {
		return nil, nil, false, false
	}
	data := m.values("select data from "+table+" where rowid = ?", row)
	text, isText := data[0].(string)
	if !isText || decodeInto(text, &doc) != nil {
		return nil, nil, false, false
	}
	if inner, isQuoted := doc.(string); isQuoted {
		quoted = true
		if decodeInto(inner, &doc) != nil {
			return nil, nil, false, false
		}
	}
	return row, doc, quoted, true
}

func decodeInto(text string, value *any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(value)
}

func encoded(doc any, quoted bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(doc)
	text := strings.TrimSpace(out.String())
	if quoted {
		return encoded(text, false)
	}
	return text
}

// spots are the members and elements of a document: holders with their keys.
type spot struct {
	holder any // map[string]any or []any
	key    string
	index  int
}

func spotsIn(value any, into *[]spot) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			*into = append(*into, spot{holder: v, key: key})
			spotsIn(v[key], into)
		}
	case []any:
		for i := range v {
			*into = append(*into, spot{holder: v, index: i})
			spotsIn(v[i], into)
		}
	}
}

// telling are members that say what belongs to what: they change more often.
var telling = []string{
	"id", "ID", "taskId", "contextId", "task_id", "context_id", "invocation_id", "InvocationID", "invocationId", "author", "Author", "name", "response", "args",
	"request", "subagent_session_id", "kagent_subagent_session_id", "adk_session_id", "kagent_session_id", "adk_invocation_id", "kagent_invocation_id", "adk_type",
	"kagent_type", "status", "state", "history", "artifacts", "metadata", "parts", "role", "branch", "timestamp", "Timestamp", "content", "Content", "actions", "call_id",
	"text", "function_response", "functionResponse", "function_call", "functionCall", "partial", "long_running_tool_ids", "result", "items", "data", "user_id",
}

// member changes a member of a document.
func (m *mutator) member() {
	table, _ := pick(m, []string{"event", "event", "task"})
	row, doc, quoted, ok := m.document(table)
	if !ok {
		return
	}
	var spots []spot
	spotsIn(doc, &spots)
	if m.IntN(4) > 0 {
		spots = slices.DeleteFunc(spots, func(s spot) bool { return !slices.Contains(telling, s.key) })
	}
	at, ok := pick(m, spots)
	if !ok {
		return
	}
	values := []any{
		nil, 0, 7, -1.5, 1e300, true, false, "", "other", map[string]any{}, map[string]any{"id": "x"}, map[string]any{"$oid": 7}, []any{}, []any{"a", 1}, "wörker 🙂",
		"a\u2028<b>&\"\\", "2026-08-03T09:30:00Z", json.Number("123456789012345678901234567890"), "{\"a\":1}", "[]", strings.Repeat("y", 200),
	}
	value, _ := pick(m, values)
	if other, ok := pick(m, spots); ok && m.IntN(3) == 0 {
		_ = decodeInto(encoded(other.get(), false), &value) // a copy: it may hold this very place
	}
	if m.IntN(6) == 0 {
		if object, isObject := at.holder.(map[string]any); isObject {
			delete(object, at.key)
			m.try(fmt.Sprintf("%s %v: no %s", table, row, at.key), "update "+table+" set data = ? where rowid = ?", encoded(doc, quoted), row)
			return
		}
	}
	at.set(value)
	m.try(fmt.Sprintf("%s %v: %s%d = %.60q", table, row, at.key, at.index, fmt.Sprint(value)), "update "+table+" set data = ? where rowid = ?", encoded(doc, quoted), row)
}

func (s spot) get() any {
	if object, ok := s.holder.(map[string]any); ok {
		return object[s.key]
	}
	return s.holder.([]any)[s.index]
}

func (s spot) set(value any) {
	if object, ok := s.holder.(map[string]any); ok {
		object[s.key] = value
	} else {
		s.holder.([]any)[s.index] = value
	}
}

// crossed gives a call or a result the id that another one of the same table has.
func (m *mutator) crossed() {
	table, _ := pick(m, []string{"event", "event", "event", "task"})
	var ids []string
	type place struct {
		row, doc any
		quoted   bool
		at       spot
	}
	var places []place
	for range 8 {
		row, doc, quoted, ok := m.document(table)
		if !ok {
			continue
		}
		var spots []spot
		spotsIn(doc, &spots)
		for _, at := range spots {
			if id, isText := at.get().(string); isText && (at.key == "id" || at.key == "call_id") && id != "" {
				ids, places = append(ids, id), append(places, place{row, doc, quoted, at})
			}
		}
	}
	at, ok := pick(m, places)
	if !ok {
		return
	}
	id, _ := pick(m, ids)
	at.at.set(id)
	m.try(fmt.Sprintf("%s %v: id %s", table, at.row, id), "update "+table+" set data = ? where rowid = ?", encoded(at.doc, at.quoted), at.row)
}

// rows takes rows away, or stores them twice.
func (m *mutator) rows() {
	table, _ := pick(m, []string{"session", "event", "event", "task"})
	row, ok := pick(m, m.values("select rowid from "+table))
	if !ok {
		return
	}
	switch m.IntN(4) {
	case 0:
		columns := m.values("select name from pragma_table_info(?) where name <> 'id'", table)
		names := make([]string, len(columns))
		for i := range columns {
			names[i] = columns[i].(string)
		}
		list := strings.Join(names, ", ")
		m.try(fmt.Sprintf("%s %v twice", table, row), fmt.Sprintf("insert into %s (id, %s) select id || '-2', %[2]s from %[1]s where rowid = ?", table, list), row)
	case 1:
		m.try(fmt.Sprintf("%s %v deleted", table, row), "update "+table+" set deleted_at = coalesce(updated_at, '2026-08-03 09:30:00') where rowid = ?", row)
	default:
		m.try(fmt.Sprintf("%s %v gone", table, row), "delete from "+table+" where rowid = ?", row)
	}
}

// rename gives a session another id, wherever anything names it.
func (m *mutator) rename() {
	was, ok := pick(m, m.values("select id from session where typeof(id) = 'text' and length(id) > 8"))
	if !ok {
		return
	}
	is, _ := pick(m, []string{"wörker-é", "сессия 1", "a \"b\" \\ c", "<s>&", "s\u2028t", "🙂", "a/b", "x#1", "tab\there", "-", "7", "null", "/", "~1", "S 'x'"})
	for _, table := range []string{"session", "event", "task"} {
		for _, column := range []string{"id", "session_id"} {
			if table == "session" && column == "session_id" || table != "session" && column == "id" {
				continue
			}
			m.try(fmt.Sprintf("%s of %s: %q", column, table, is), fmt.Sprintf("update or ignore %s set %s = ? where %[2]s = ?", table, column), is, was)
		}
		if table == "session" {
			continue
		}
		style := m.IntN(2)
		for _, row := range m.values("select rowid from "+table+" where instr(data, ?)", was) {
			text, isText := m.values("select data from "+table+" where rowid = ?", row)[0].(string)
			if !isText {
				continue
			}
			spelled := inner(is, style == 1)
			if strings.HasPrefix(strings.TrimSpace(text), `"`) {
				spelled = inner(spelled, style == 1)
			}
			m.try("names in "+table, "update "+table+" set data = ? where rowid = ?", strings.ReplaceAll(text, was.(string), spelled), row)
		}
	}
}

// inner is a text within a JSON string, in ASCII as json.dumps of Python writes it.
func inner(text string, ascii bool) string {
	quoted := encoded(text, false)
	quoted = quoted[1 : len(quoted)-1]
	if !ascii {
		return quoted
	}
	var out strings.Builder
	for _, r := range quoted {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return out.String()
}

// programs are what is damaged: scripts, and random programs.
func programOf(g *rand.Rand) kagenttest.Program {
	if scripts := kagenttest.Scripts(); g.IntN(2) == 0 {
		return scripts[g.IntN(len(scripts))]
	}
	return kagenttest.Random(g.Uint64N(1 << 20))
}
