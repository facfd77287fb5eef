package springai

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// update is the difference of an event that a repair changed.
func (sc *schema) update(row eventlog.Row, c *change.Item) ([]table.FieldChange, error) {
	r := docedit.Of(row)
	err := r.Apply(c, func(v change.Value) docedit.Place { return sc.place(r, c, v) }, sc.dataPart)
	return r.Changes(), err
}

// dataPart is an element of message_data: a call or a response.
func (sc *schema) dataPart(n int) docedit.Spot {
	return docedit.Spot{Column: sc.events.stored["message_data"]}.Element(n)
}

// columnOf are the columns with the values of an item. The text of a TOOL is in its
// responses.
var columnOf = map[string]string{
	session.FieldText: "message_content", session.FieldBranch: "branch", session.FieldArchived: "archived", session.FieldPosition: "seq",
}

// memberOf are the members of an element of message_data with the values of a call or a
// response.
var memberOf = map[string]string{
	session.FieldCallID: "id", session.FieldResultID: "id", change.FieldName: "name",
	change.FieldArgs: "arguments", session.FieldText: "responseData",
}

// place is where a value of an event is stored.
func (sc *schema) place(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	if member := memberOf[v.Field]; v.Of != change.OfItem && member != "" {
		return docedit.Place{Spot: sc.dataPart(v.Nth).Member(member), Form: docedit.Text, Same: isText}
	}
	if v.Of == change.OfItem && v.Field == session.FieldPosition && !sc.sequenced() {
		return docedit.Place{Write: func() error { return errors.New(timesStay) }}
	}
	name := sc.events.stored[columnOf[v.Field]]
	set := func(value any) docedit.Place {
		return docedit.Place{Write: func() error { r.Set(name, value); return nil }}
	}
	switch {
	case v.Of != change.OfItem || name == "":
		return docedit.Place{}
	case v.Field == session.FieldArchived:
		return set(column.BoolLike(r.Value(name), c.Is.Flags.Has(session.Archived)))
	case v.Field == session.FieldPosition:
		return set(column.IntLike(r.Value(name), c.Is.Position))
	}
	return docedit.Place{Spot: docedit.Spot{Column: name}, Form: docedit.Column, Optional: v.Field == session.FieldBranch}
}

// isText reports whether a stored value is read as a text.
func isText(stored jsontext.Value, text string) bool {
	var v value
	return (stored == nil || jsonscan.Exact.Unmarshal(stored, &v) == nil) && v.text == text
}

// fields collects the values of a new row, for the columns that there are.
type fields struct {
	events *relation
	list   []table.Field
}

func (f *fields) set(column string, value any) {
	if f.events.has(column) {
		f.list = append(f.list, table.Field{Name: f.events.stored[column], Value: value})
	}
}

// response is an element of message_data as the library writes it (docs/stores/spring-ai-session.md#what-is-read).
type response struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Data string `json:"responseData"`
}

// insert is the row of a new result: a TOOL message like the library's own.
func (sc *schema) insert(s *session.Session, it *session.Item, neighbour *eventlog.Row, id string) ([]table.Field, error) {
	r := &it.Results[0]
	text, err := json.Marshal([]response{{r.CallID, s.ToolBefore(it, r.CallID), r.Text}})
	if err != nil {
		return nil, problem.New(problem.RolledBack, "repair the text of the call first", "the result of a call cannot be written: %v", err)
	}
	like := eventlog.Row{}
	if neighbour != nil {
		like = *neighbour
	}
	row := fields{events: &sc.events}
	row.set("id", id)
	row.set("session_id", s.ID)
	row.set("message_type", "TOOL")
	row.set("message_content", "")
	row.set("message_data", string(text))
	row.set("synthetic", column.BoolLike(sc.events.value(like, "synthetic"), false))
	row.set("archived", column.BoolLike(sc.events.value(like, "archived"), it.Flags.Has(session.Archived)))
	row.set("branch", orNull(it.Branch))
	row.set("metadata", sc.metadataFor(it.Agent, like))
	return append(row.list, sc.placeOf(it, like)...), nil
}

// placeOf are the columns that say when and where an item stands. seq is left to
// SQLite where it gives one out.
func (sc *schema) placeOf(it *session.Item, like eventlog.Row) []table.Field {
	row := fields{events: &sc.events}
	if !sc.given {
		row.set("seq", column.IntLike(sc.events.value(like, "seq"), it.Position))
	}
	stored := sc.events.value(like, "timestamp")
	if !times.Read(stored).Equal(it.Time) || it.Time.IsZero() {
		stored = sc.timed(it.Time)
	}
	row.set("timestamp", stored)
	return row.list
}

// metadataFor names the agent of a new event in the way in which the event beside
// it does.
func (sc *schema) metadataFor(agent string, like eventlog.Row) string {
	if agent == "" {
		return defaultMetadata
	}
	key := agentKeys[0]
	m, _ := readMetadata(sc.events.value(like, "metadata"))
	for _, k := range agentKeys {
		if m.first(k) == agent {
			key = k
			break
		}
	}
	text, err := json.Marshal(map[string]string{key: agent})
	if err != nil {
		return defaultMetadata // what is no text; a check of the new event finds that it has no agent
	}
	return string(text)
}

// part is the row of a response that was one of several in a row.
func (sc *schema) part(s *session.Session, c *change.Item, row eventlog.Row, id string) ([]table.Field, error) {
	r, it := docedit.Of(row), c.Is
	if err := r.Apply(c, func(v change.Value) docedit.Place { return sc.place(r, c, v) }, sc.dataPart); err != nil {
		return nil, err
	}
	data := slices.Concat([]byte("["), r.Raw(sc.dataPart(c.Part)), []byte("]"))
	made := fields{events: &sc.events}
	for _, column := range []string{"message_type", "message_content", "synthetic", "metadata"} {
		made.set(column, sc.events.value(row, column))
	}
	made.set("id", id)
	made.set("session_id", s.ID)
	made.set("message_data", column.Like(sc.events.value(row, "message_data"), string(data)))
	made.set("archived", column.BoolLike(sc.events.value(row, "archived"), it.Flags.Has(session.Archived)))
	made.set("branch", orNull(it.Branch))
	return append(made.list, sc.placeOf(it, row)...), nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// setEvent is the difference of an event of which columns are set that the model
// does not hold.
func (sc *schema) setEvent(row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	if dates := func(e session.Edit) bool { return e.Field == "timestamp" }; !sc.sequenced() && slices.ContainsFunc(sets, dates) {
		return nil, problem.New(problem.RolledBack, "", "record %s cannot be changed: %s", column.View(sc.events.value(row, "id")), timesStay)
	}
	return sc.setAll(&sc.events, row, sets)
}

// updateSession counts event_version on, as every write of the library does: a
// compaction that began before the repair is refused by it. It does so once for a
// repair.
func (sc *schema) updateSession(row eventlog.Row, c *change.Session) ([]table.FieldChange, error) {
	list, err := sc.setAll(&sc.sessions, row, c.Sets)
	if err != nil || !sc.sessions.has("event_version") {
		return list, err
	}
	name := sc.sessions.stored["event_version"]
	at := slices.IndexFunc(list, func(c table.FieldChange) bool { return c.Name == name })
	if at < 0 {
		stored := table.Kept(sc.sessions.value(row, "event_version"))
		at, list = len(list), append(list, table.FieldChange{Name: name, Old: stored, New: stored})
	}
	if n, ok := column.Int(list[at].New); ok {
		list[at].New = column.IntLike(list[at].New, n+1)
	}
	return list, nil
}

// setAll sets columns of a row, in the forms that the store has for them.
func (sc *schema) setAll(t *relation, row eventlog.Row, sets []session.Edit) ([]table.FieldChange, error) {
	var list []table.FieldChange
	for _, e := range sets {
		if e.Op != session.Set || e.Value == nil || !t.has(e.Field) {
			return nil, problem.New(problem.RolledBack, "", "%s cannot be set: table %s has no such column", e.Field, t.name)
		}
		stored := t.value(row, e.Field)
		value, err := sc.typed(e.Field, *e.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, table.FieldChange{Name: t.stored[e.Field], Old: table.Kept(stored), New: value})
	}
	return list, nil
}

// typed is a value as a column holds it.
func (sc *schema) typed(column, text string) (value any, err error) {
	switch column {
	case "event_version", "seq":
		value, err = strconv.ParseInt(text, 10, 64)
	case "timestamp", "created_at":
		value = text
		if _, number := sc.clock.(int64); number {
			value, err = strconv.ParseInt(text, 10, 64)
		}
	case "synthetic":
		value, err = int64(0), nil
		if text != defaultFlag {
			value = int64(1)
		}
	default:
		value = text
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "", "%s cannot be set to %q: it holds numbers", column, text)
	}
	return value, nil
}

// illegible is the detail of a fault BadUnicode.
const illegible = "it has bytes that are not UTF-8, or halves of surrogate pairs"

func legible(text string) bool { return utf8.ValidString(text) }

// half stands for a lone half of a surrogate pair, which no Go text can hold: a
// byte that is part of no character.
const half = 0xff

// unquoted is the text of a JSON string with everything that is no Unicode left in
// it, as bytes that are none: decoders put U+FFFD there, and nobody could tell.
func unquoted(literal jsontext.Value) (text string, bad bool) {
	var out []byte
	rest := string(literal[1 : len(literal)-1])
	for rest != "" {
		good, odd, after := untilOdd(rest)
		out, _ = jsontext.AppendUnquote(out, `"`+good+`"`) // never fails on what has no odd places
		out, rest = append(out, odd...), after
		bad = bad || len(odd) > 0
	}
	return string(out), bad
}

// untilOdd cuts the inside of a literal at the first thing in it that is no
// Unicode.
func untilOdd(inside string) (good string, odd []byte, after string) {
	for i := 0; i < len(inside); {
		switch {
		case strings.HasPrefix(inside[i:], `\u`):
			n, lone := escape(inside[i:])
			if lone {
				return inside[:i], []byte{half}, inside[i+n:]
			}
			i += n
		case inside[i] == '\\':
			i += 2
		default:
			char, n := utf8.DecodeRuneInString(inside[i:])
			if char == utf8.RuneError && n == 1 {
				return inside[:i], []byte{inside[i]}, inside[i+1:]
			}
			i += n
		}
	}
	return inside, nil, ""
}

// escape measures the escape that a text begins with: one, or the two of a
// surrogate pair. lone says that it is one half of a pair.
func escape(text string) (n int, lone bool) {
	const one = len(`\u0000`)
	first := codeUnit(text)
	if !utf16.IsSurrogate(first) {
		return one, false
	}
	if utf16.DecodeRune(first, codeUnit(text[one:])) != utf8.RuneError {
		return 2 * one, false
	}
	return one, true
}

// codeUnit is the number of the escape that a text begins with, -1 when it begins
// with none.
func codeUnit(text string) rune {
	if len(text) < len(`\u0000`) || !strings.HasPrefix(text, `\u`) {
		return -1
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
