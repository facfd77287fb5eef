package adk

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// update says how the row of an event changes.
func update(row eventlog.Row, c *change.Item) ([]table.FieldChange, error) {
	before, after, taken := c.Was, c.Is, c.Taken
	r := revise(row)
	if err := r.change(before, after, taken); err != nil {
		return nil, err
	}
	if before.Position != after.Position {
		if err := r.move(after.Position); err != nil {
			return nil, err
		}
	}
	return r.changes(), nil
}

// change makes an event say what the item after says, wherever it stands.
func (r *revision) change(before, after *session.Item, taken []int) error {
	parts := r.parts()
	calls, results := r.said(parts)
	if err := r.reword(calls, before.Calls, after.Calls); err != nil {
		return err
	}
	if err := r.rename(results, before, after, taken); err != nil {
		return err
	}
	if before.Body != nil && after.Body != nil && before.Body.Text != after.Body.Text {
		if err := r.blank(parts); err != nil {
			return err
		}
	}
	if err := r.take(results, taken); err != nil {
		return err
	}
	if before.Branch != after.Branch {
		return r.relabel(after.Branch)
	}
	return nil
}

// reword changes the ids and arguments of calls.
func (r *revision) reword(calls []spot, before, after []session.Call) error {
	if len(before) != len(after) {
		return notAsRead("content")
	}
	for i := range before {
		was, is := &before[i], &after[i]
		if was.ID == is.ID && was.Args == is.Args {
			continue
		}
		if i >= len(calls) {
			return notAsRead("content")
		}
		if err := r.identify(calls[i], was.ID, is.ID); err != nil {
			return err
		}
		if was.Args != is.Args {
			if err := r.put(r.inside(calls[i], "args"), []byte(is.Args)); err != nil {
				return err
			}
		}
	}
	return r.wait(before, after)
}

// rename changes the ids of results. Those that are taken out have no counterpart.
func (r *revision) rename(results []spot, before, after *session.Item, taken []int) error {
	n := 0
	for i := range before.Results {
		if slices.Contains(taken, i) {
			continue
		}
		if i >= len(results) || n >= len(after.Results) {
			return notAsRead("content")
		}
		if err := r.identify(results[i], before.Results[i].CallID, after.Results[n].CallID); err != nil {
			return err
		}
		n++
	}
	return nil
}

// identify gives a call or a result another id.
func (r *revision) identify(at spot, was, is string) error {
	if was == is {
		return nil
	}
	id := r.inside(at, "id")
	if r.text(id) != was {
		return notAsRead(at.column)
	}
	return r.put(id, quote(is))
}

// wait lets the list of the calls that wait for somebody name them by their new ids.
// A call that shared its id with one that keeps it waits as well.
func (r *revision) wait(before, after []session.Call) error {
	at := spot{column: "long_running_tool_ids_json"}
	if r.row.Has("event_data") {
		at = r.inside(spot{column: "event_data"}, "longRunningToolIds")
	}
	var ids, renamed []string
	if json.Unmarshal(r.raw(at), &ids, goJSON) != nil {
		return nil // there is none
	}
	for _, id := range ids {
		known := false
		for i := range before {
			if before[i].ID == id && !slices.Contains(renamed, after[i].ID) {
				renamed = append(renamed, after[i].ID)
			}
			known = known || before[i].ID == id
		}
		if !known {
			renamed = append(renamed, id)
		}
	}
	if len(ids) != len(renamed) {
		list, _ := json.Marshal(renamed) // texts always have a form
		return r.put(at, list)
	}
	for i := range ids {
		if ids[i] != renamed[i] {
			if err := r.put(at.element(i), quote(renamed[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// blank takes the texts of white space away, and a part with them that says
// nothing else. Reasoning stays.
func (r *revision) blank(parts []spot) error {
	for _, at := range slices.Backward(parts) {
		text := r.inside(at, "text")
		if thought := r.raw(r.inside(at, "thought")); string(thought) == "true" || r.raw(text) == nil || strings.TrimSpace(r.text(text)) != "" {
			continue
		}
		var members map[string]any
		if json.Unmarshal(r.raw(at), &members, goJSON) == nil && len(members) == 1 {
			if err := r.put(at, nil); err != nil {
				return err
			}
		} else if err := r.put(text, []byte(`""`)); err != nil {
			return err
		}
	}
	return nil
}

// take takes results out: the part of each leaves the list.
func (r *revision) take(results []spot, taken []int) error {
	for _, n := range slices.Backward(slices.Sorted(slices.Values(taken))) {
		if n >= len(results) {
			return notAsRead("content")
		}
		if err := r.put(results[n].holder(), nil); err != nil {
			return err
		}
	}
	return nil
}

// relabel puts an event on another branch.
func (r *revision) relabel(branch string) error {
	if r.row.Has("event_data") {
		return r.put(r.inside(spot{column: "event_data"}, "branch"), labelValue(branch))
	}
	if branch == "" {
		r.set("branch", nil)
	} else {
		r.set("branch", branch)
	}
	return nil
}

// labelValue is a branch in a document, nil for none: text that is no path is JSON
// of its own.
func labelValue(branch string) []byte {
	switch {
	case branch == "":
		return nil
	case !labelOf([]byte(branch)).wrong:
		return []byte(branch)
	}
	return quote(branch)
}

func quote(text string) []byte {
	value, _ := json.Marshal(text, goJSON) // never fails on a text that may be no Unicode
	return value
}

// revision is the row of an event while it is being changed: of a document, single
// values change and every other byte stays.
type revision struct {
	row     record
	columns []string // that change, in the order in which they were changed first
	values  map[string]any
	indexes map[string]*jsonedit.Index // of the documents as they are, by column
}

// record is the row of an event, or the one document that another store has of it.
type record interface {
	Value(column string) any
	Has(column string) bool
}

func revise(row record) *revision {
	return &revision{row: row, values: map[string]any{}, indexes: map[string]*jsonedit.Index{}}
}

func (r *revision) value(column string) any {
	if value, changed := r.values[column]; changed {
		return value
	}
	return r.row.Value(column)
}

func (r *revision) set(column string, value any) {
	if _, changed := r.values[column]; !changed {
		r.columns = append(r.columns, column)
	}
	r.values[column] = value
	delete(r.indexes, column)
}

// put gives a value in a document another one; nil takes it away.
func (r *revision) put(at spot, value []byte) error {
	doc, err := jsonedit.Set(r.document(at.column), string(at.pointer), value)
	return r.become(at.column, doc, err)
}

// become makes an edited document that of a column, which keeps its type.
func (r *revision) become(column string, doc []byte, err error) error {
	if err != nil {
		return notAsRead(column)
	}
	if _, isText := r.row.Value(column).(string); isText {
		r.set(column, string(doc))
	} else {
		r.set(column, doc)
	}
	return nil
}

func (r *revision) document(name string) []byte { return column.Bytes(r.value(name)) }

// index is that of a document, as it is now.
func (r *revision) index(column string) *jsonedit.Index {
	x := r.indexes[column]
	if x == nil {
		x = jsonedit.NewIndex(r.document(column))
		r.indexes[column] = x
	}
	return x
}

// changes are the columns that hold something else now.
func (r *revision) changes() []table.FieldChange {
	var list []table.FieldChange
	for _, column := range r.columns {
		list = append(list, table.FieldChange{Name: column, Old: table.Kept(r.row.Value(column)), New: r.values[column]})
	}
	return list
}

func notAsRead(column string) error {
	return problem.New(problem.RolledBack, "check the store again", "an event was not changed: its %s does not hold what was read of it", column)
}

// spot is a value in a document of a row.
type spot struct {
	column  string
	pointer jsontext.Pointer
}

func (s spot) element(n int) spot { return spot{s.column, s.pointer.AppendToken(strconv.Itoa(n))} }

// raw is the text of a value, nil when there is none, null included.
func (r *revision) raw(at spot) []byte {
	value, ok := r.index(at.column).Raw(string(at.pointer))
	if !ok || string(value) == "null" {
		return nil
	}
	return value
}

// text is a string in a document, "" when there is none.
func (r *revision) text(at spot) string {
	value := jsontext.Value(r.raw(at))
	if value.Kind() != jsontext.KindString {
		return ""
	}
	return unquote(value)
}

// members are those of an object, as far as it can be read.
func (r *revision) members(at spot) iter.Seq2[string, jsontext.Value] {
	return func(yield func(name string, value jsontext.Value) bool) {
		dec := jsontext.NewDecoder(bytes.NewReader(r.raw(at)), goJSON)
		if begin, err := dec.ReadToken(); err != nil || begin.Kind() != jsontext.KindBeginObject {
			return
		}
		for dec.PeekKind() == jsontext.KindString {
			key, err := dec.ReadValue()
			if err != nil {
				return
			}
			name := unquote(key)
			value, err := dec.ReadValue()
			if err != nil || !yield(name, value) {
				return
			}
		}
	}
}

// inside is a member of an object, by its name in camel case. It may be stored in
// any spelling that a reader takes for that name; one that is missing gets this one.
func (r *revision) inside(at spot, name string) spot {
	spelled := name
	for stored := range r.members(at) {
		if sameName(stored, name) {
			spelled = stored
		}
	}
	return spot{at.column, at.pointer.AppendToken(spelled)}
}

var plainly = strings.NewReplacer("_", "", "-", "")

// sameName compares names as the reader of this package does.
func sameName(a, b string) bool { return strings.EqualFold(plainly.Replace(a), plainly.Replace(b)) }

// elements are the values of a list.
func (r *revision) elements(at spot) []spot {
	var values []jsontext.Value
	if json.Unmarshal(r.raw(at), &values, goJSON) != nil {
		return nil
	}
	list := make([]spot, len(values))
	for i := range list {
		list[i] = at.element(i)
	}
	return list
}

// parts are the parts of what an event says.
func (r *revision) parts() []spot {
	content := spot{column: "content"}
	if r.row.Has("event_data") {
		content = r.inside(spot{column: "event_data"}, "content")
	}
	return r.elements(r.inside(content, "parts"))
}

// saying are the names under which a part holds a call or a result, those of tools
// that the provider ran included, in the order in which they are looked for.
var saying = []struct {
	name   string
	result bool
}{{"functionCall", false}, {"functionResponse", true}, {"toolCall", false}, {"toolResponse", true}}

// said are the calls and results in the parts of an event, in the order of the
// model.
func (r *revision) said(parts []spot) (calls, results []spot) {
	for _, part := range parts {
		for _, s := range saying {
			at := r.inside(part, s.name)
			if r.raw(at) == nil {
				continue
			}
			if s.result {
				results = append(results, at)
			} else {
				calls = append(calls, at)
			}
			break
		}
	}
	return calls, results
}

// holder is what a value is a member of.
func (s spot) holder() spot { return spot{s.column, s.pointer.Parent()} }
