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
	"github.com/sessctl/sessctl/internal/store/table"
)

// updateEvent is the difference of an event that a repair changed.
func (sc *schema) updateEvent(r *docedit.Row, c *change.Item) error {
	return r.Apply(c, func(v change.Value) docedit.Place { return sc.findPlace(r, c, v) }, sc.dataPart)
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

// findPlace finds where a value of an event is stored.
func (sc *schema) findPlace(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	if member := memberOf[v.Field]; v.Of != change.OfItem && member != "" {
		return docedit.Place{Spot: sc.dataPart(v.Nth).Member(member), Form: docedit.Text, Same: isText}
	}
	if v.Of == change.OfItem && v.Field == session.FieldPosition && !sc.isSequenced() {
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

// field is a value of a new row.
func (sc *schema) field(column string, value any) table.Field {
	return table.Field{Name: sc.events.stored[column], Value: value}
}

// response is an element of message_data as the library writes it (docs/stores/spring-ai-session.md#what-is-read).
type response struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Data string `json:"responseData"`
}

// insertResult is the row of a new result: a TOOL message like the library's own.
func (sc *schema) insertResult(s *session.Session, it *session.Item, like *docedit.Row, _ string) ([]table.Field, error) {
	r := &it.Results[0]
	text, err := json.Marshal([]response{{r.CallID, s.ToolBefore(it, r.CallID), r.Text}})
	if err != nil {
		return nil, problem.New(problem.RolledBack, "repair the text of the call first", "the result of a call cannot be written: %v", err)
	}
	return append(sc.standing(it, like), sc.field("message_type", "TOOL"), sc.field("message_content", ""), sc.field("message_data", string(text)),
		sc.field("synthetic", column.BoolLike(sc.events.rowValue(like, "synthetic"), false)), sc.field("metadata", sc.metadataFor(it.Agent(), like))), nil
}

// standing are the columns that say when and where an item stands, and who sees it. seq is
// left to SQLite where it gives one out.
func (sc *schema) standing(it *session.Item, like docedit.Record) []table.Field {
	stored := sc.events.rowValue(like, "timestamp")
	if !times.Read(stored).Equal(it.Time) || it.Time.IsZero() {
		stored = sc.formatTime(it.Time)
	}
	row := []table.Field{
		sc.field("timestamp", stored), sc.field("archived", column.BoolLike(sc.events.rowValue(like, "archived"), it.Flags.Has(session.Archived))), sc.field("branch", column.OrNull(it.Branch())),
	}
	if !sc.given {
		row = append(row, sc.field("seq", column.IntLike(sc.events.rowValue(like, "seq"), it.Position)))
	}
	return row
}

// metadataFor names the agent of a new event in the way in which the event beside
// it does.
func (sc *schema) metadataFor(agent string, like docedit.Record) string {
	if agent == "" {
		return defaultMetadata
	}
	key := agentKeys[0]
	m, _ := readMetadata(sc.events.rowValue(like, "metadata"))
	for _, k := range agentKeys {
		if m.firstText(k) == agent {
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

// insertPart is the row of a response that was one of several in a row.
func (sc *schema) insertPart(_ *session.Session, c *change.Item, r *docedit.Row, _ string) ([]table.Field, error) {
	data := slices.Concat([]byte("["), r.Raw(sc.dataPart(c.Part)), []byte("]"))
	made := append(sc.standing(c.Is, r), sc.field("message_data", column.Like(sc.events.rowValue(r, "message_data"), string(data))))
	for _, column := range []string{"message_type", "message_content", "synthetic", "metadata"} {
		made = append(made, sc.field(column, sc.events.rowValue(r, column)))
	}
	return made, nil
}

// updateSession counts event_version on, as every write of the library does: a
// compaction that began before the repair is refused by it. It does so once for a
// repair.
func (sc *schema) updateSession(r *docedit.Row, _ *change.Session) error {
	name := sc.sessions.stored["event_version"]
	if n, ok := column.Int(r.Now(name)); ok {
		r.Set(name, column.IntLike(r.Now(name), n+1))
	}
	return nil
}

// parseColumnValue parses a value as a column holds it.
func (sc *schema) parseColumnValue(column, text string) (value any, err error) {
	switch column {
	case "event_version", "seq":
		value, err = strconv.ParseInt(text, 10, 64)
	case "timestamp", "created_at":
		if column == "timestamp" && !sc.isSequenced() {
			return nil, problem.New(problem.RolledBack, "", "the timestamp cannot be changed: %s", timesStay)
		}
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

func isLegible(text string) bool { return utf8.ValidString(text) }

// half stands for a lone half of a surrogate pair, which no Go text can hold: a
// byte that is part of no character.
const half = 0xff

// unquoteText is the text of a JSON string with everything that is no Unicode left in
// it, as bytes that are none: decoders put U+FFFD there, and nobody could tell.
func unquoteText(literal jsontext.Value) (text string, bad bool) {
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
			n, lone := measureEscape(inside[i:])
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

// measureEscape measures the escape that a text begins with: one, or the two of a
// surrogate pair. lone says that it is one half of a pair.
func measureEscape(text string) (n int, lone bool) {
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
