package kagent

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// writes are how rows change. They are the same for all generations and dialects: a
// row tells by its columns and by what is in them what form it has. The row of a
// session stays as it is when its events change, updated_at too: by it kagent's retention
// knows sessions that nobody uses.
var writes = eventlog.Write{
	Insert: insertResult, Part: insertPart, Update: updateEvent, Create: createSession, OtherTables: rewriteTasks, OtherNames: []string{tableTasks},
}

// updateEvent says how the row of an event changes. One that goes to another session as it is
// stays as it is, whatever it is, and part takes a part out of the document.
func updateEvent(r *docedit.Row, c *change.Item) error {
	if c.Part >= 0 || len(c.Taken) == 0 && !slices.ContainsFunc(c.Values, func(v change.Value) bool { return !follows[v.Field] }) {
		return nil
	}
	if c.Was.Position != c.Is.Position {
		at, err := timeLike(r.Value("created_at"), c.Is.Position)
		if err != nil {
			return err
		}
		r.Set("created_at", at)
	}
	doc, err := openDocument(r.Value("data"))
	if err == nil {
		err = doc.editObject(func(json []byte) ([]byte, error) { return editEvent(json, c) })
	}
	switch {
	case problem.ClassOf(err) != 0:
		return err
	case err != nil:
		return problem.New(problem.RolledBack, "Check the store again.", "record %s cannot be changed: %v", c.Was.Key, err)
	case string(doc.is) != string(doc.was):
		r.Set("data", doc.columnValue())
	}
	return nil
}

// follows are values that are read of others: whose child a call is for, of its result and
// of tasks.
var follows = map[string]bool{change.FieldDelegation: true, change.FieldKeptFrom: true}

// editEvent is the document of an event that says what becomes of its item.
func editEvent(doc []byte, c *change.Item) ([]byte, error) {
	doc, err := renameQuestions(doc, c)
	if err != nil {
		return nil, err
	}
	switch dialectOf(doc) {
	case responses:
		l, err := editItems(doc, c)
		if err != nil {
			return nil, err
		}
		return shiftTimestamp(l.Document("data"), c.Is.Position-c.Was.Position)
	case message:
		return nil, errors.New("it is an A2A message, which a repair does not change")
	}
	r := adk.Revise(doc)
	err = r.Update(c, childIn(r))
	return r.Document(), err
}

// renameQuestions is a document whose questions to people, and the answers, name other sessions.
func renameQuestions(doc []byte, c *change.Item) ([]byte, error) {
	moved := map[string]move{}
	for _, v := range c.Values {
		if v.Field != change.FieldQuestion {
			continue
		}
		if v.Of == change.OfCall {
			moved[c.Was.Calls[v.Nth].Question.Run] = move{v.Was, v.Is}
		} else {
			moved[c.Was.Results[v.Nth].Question.Run] = move{v.Was, v.Is}
		}
	}
	if len(moved) == 0 {
		return doc, nil
	}
	return (&rewrite{moved: moved}).applyWithin(doc)
}

// childIn is where results name the session of a worker in an event of ADK, in any of its
// spellings.
func childIn(r *adk.Revision) func(v change.Value) docedit.Place {
	answers := r.Answers(childMember)
	return func(v change.Value) docedit.Place {
		switch {
		case v.Field == change.FieldQuestion || follows[v.Field]:
			return docedit.Place{Form: docedit.Follows}
		case v.Field == session.FieldChild && v.Nth < len(answers):
			return docedit.Place{Spot: answers[v.Nth], Form: docedit.Text, Same: namesSession}
		}
		return docedit.Place{}
	}
}

// namesSession reports whether a stored text is the id of a session by its name: see isCalled.
func namesSession(stored jsontext.Value, session string) bool {
	return isCalled(session, stringOf(stored))
}

// insertResult makes the row of a result that nobody stored (K1): an event of its own of the
// agent that made the call, as the runtime would have stored it.
func insertResult(s *session.Session, it *session.Item, near *docedit.Row, id string) ([]table.Field, error) {
	return newEvent(near, it, func(doc []byte, later int64) ([]byte, error) {
		if dialectOf(doc) == responses {
			return responseItem(doc, &it.Results[0], later)
		}
		return adk.Revise(doc).ComposeResponse(s, it, id, later)
	})
}

// insertPart makes the row of a result that was one of several in an event: what is stored
// of it stays as it is, but for an id that changes.
func insertPart(_ *session.Session, c *change.Item, row *docedit.Row, id string) ([]table.Field, error) {
	return newEvent(row, c.Is, func(doc []byte, later int64) ([]byte, error) {
		near, err := renameQuestions(doc, c)
		switch {
		case err != nil:
			return nil, err
		case dialectOf(near) == responses:
			return partItem(near, c, later)
		}
		r := adk.Revise(near)
		return r.ComposePart(c, childIn(r), id, later)
	})
}

// newEvent is the row of a new event, a neighbour of another one in whose forms it is.
func newEvent(near docedit.Record, it *session.Item, compose func(doc []byte, later int64) ([]byte, error)) ([]table.Field, error) {
	place, _ := placeOf(near.Value("created_at"))
	at, err := timeLike(table.CloneValue(near.Value("created_at")), it.Position)
	if err != nil {
		return nil, err
	}
	doc, err := openDocument(near.Value("data"))
	if err == nil && (dialectOf(doc.was) == message || dialectOf(doc.was) == unknown) {
		err = errors.New("the record beside it is not an event of an agent's runtime")
	}
	if err == nil {
		err = doc.editObject(func(json []byte) ([]byte, error) { return compose(json, it.Position-place) })
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "an event with the result of call %s cannot be added: %v", it.Results[0].CallID, err)
	}
	return []table.Field{{Name: "created_at", Value: at}, {Name: "updated_at", Value: at}, {Name: "data", Value: doc.columnValue()}}, nil
}

// responseItem is the document of an event of the OpenAI Agents SDK with the result of
// a call.
func responseItem(near []byte, r *session.Result, later int64) ([]byte, error) {
	item := []byte(`{"call_id": `)
	item = append(append(item, quoteText(r.CallID)...), `, "output": `...)
	item = append(append(item, quoteText(r.Text)...), `, "type": "function_call_output"}`...)
	return aloneIn(near, item, later)
}

// partItem is the document of an event with one of the results of another one.
func partItem(near []byte, c *change.Item, later int64) ([]byte, error) {
	l, err := editItems(near, c)
	if err != nil {
		return nil, err
	}
	return aloneIn(near, l.Raw(l.results[c.Part]), later)
}

// aloneIn is the document of an event with one item in place of those of its
// neighbour, so many microseconds later.
func aloneIn(near, item []byte, later int64) ([]byte, error) {
	doc, err := jsonedit.SetValue(near, "/items", append(append([]byte("["), item...), ']'))
	if err != nil {
		return nil, errChanged
	}
	return shiftTimestamp(doc, later)
}

// shiftTimestamp is such a document with its time so many microseconds later.
func shiftTimestamp(doc []byte, later int64) ([]byte, error) {
	value, _ := jsonedit.RawValue(doc, "/timestamp")
	if jsontext.Value(value).Kind() != jsontext.KindString {
		return doc, nil
	}
	text := stringOf(value)
	place, _ := placeOf(text)
	at, err := timeLike(text, place+later)
	if err != nil {
		return nil, errors.New("its timestamp is not a time")
	}
	return jsonedit.SetValue(doc, "/timestamp", quoteText(column.Text(at)))
}

// document is what a column data holds, while it is being changed: a JSON object, or a
// JSON string that holds one (docs/stores/kagent.md#what-is-read).
type document struct {
	stored any
	quoted bool
	was    []byte // the object
	is     []byte
}

// openDocument refuses what is no object. So it does a string with halves of
// surrogate pairs, which could not be written as it was.
func openDocument(stored any) (*document, error) {
	data := column.Bytes(stored)
	d := &document{stored: stored, was: data}
	if text, ok := jsonedit.RawValue(data, ""); ok && jsontext.Value(text).Kind() == jsontext.KindString {
		d.quoted = true
		var err error
		if d.was, err = jsontext.AppendUnquote(nil, text); err != nil {
			return nil, errors.New("its data is a string that is not valid Unicode")
		}
	}
	if doc := jsontext.Value(d.was); doc.Kind() != jsontext.KindBeginObject || !doc.IsValid(lenient) {
		return nil, errors.New("its data is not a JSON object")
	}
	d.is = d.was
	return d, nil
}

// editObject makes another object of the one that there is.
func (d *document) editObject(change func(doc []byte) ([]byte, error)) error {
	doc, err := change(d.is)
	if err == nil {
		d.is = doc
	}
	return err
}

// columnValue is what the column holds with the object as it is now.
func (d *document) columnValue() any {
	data := d.is
	if d.quoted {
		text, _ := jsonedit.RawValue(column.Bytes(d.stored), "")
		data, _ = jsonedit.SetValue(column.Bytes(d.stored), "", jsonedit.Requote(text, d.was, d.is)) // both were read
	}
	return column.Like(d.stored, string(data))
}

// fieldChanges is what becomes of the column, nothing if the object is what it was.
func (d *document) fieldChanges() []table.FieldChange {
	if string(d.is) == string(d.was) {
		return nil
	}
	return []table.FieldChange{{Name: "data", Old: table.CloneValue(d.stored), New: d.columnValue()}}
}

// quoteText quotes a text as JSON.
func quoteText(text string) []byte { return docedit.QuoteText(text) }

// timeLike is the time that has a place in the order of a session, in the form of
// another one and with its offset from UTC, since places are what clocks show.
func timeLike(like any, position int64) (any, error) {
	if stored, isText := like.(string); isText {
		if text, ok := times.Like(stored, position, time.Time{}); ok && times.Read(text).Wrong == "" {
			return text, nil
		}
	}
	return nil, problem.New(problem.RolledBack, "", "a record cannot be placed beside one whose time is not stored as text")
}

// treeOf is a document as lists, objects and texts; all other values are nil. Of doubled
// members the last one counts, whatever it is.
func treeOf(doc []byte) (any, error) {
	value, err := readValue(jsontext.NewDecoder(bytes.NewReader(doc), lenient))
	if err != nil {
		return nil, errors.New(explainError(err))
	}
	return value, nil
}

func readValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindBeginArray:
		list := []any{}
		for dec.PeekKind() != jsontext.KindEndArray {
			element, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		_, err = dec.ReadToken()
		return list, err
	case jsontext.KindBeginObject:
		object := map[string]any{}
		for dec.PeekKind() != jsontext.KindEndObject {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			spelled := name.String()
			if object[spelled], err = readValue(dec); err != nil {
				return nil, err
			}
		}
		_, err = dec.ReadToken()
		return object, err
	}
	return nil, nil
}

// itemList is an event of the package for the OpenAI Agents SDK while it is being
// changed.
type itemList struct {
	*docedit.Row
	calls, results []docedit.Spot
}

// editItems makes the items of an event say what becomes of its item.
func editItems(doc []byte, c *change.Item) (*itemList, error) {
	l := &itemList{Row: docedit.NewRow(docedit.Whole{Column: "data", Text: doc})}
	stored, err := l.decodeItems()
	if err != nil {
		return nil, err
	}
	for i := range stored {
		switch stored[i].Type {
		case "function_call":
			l.calls = append(l.calls, itemAt(i))
		case "function_call_output":
			l.results = append(l.results, itemAt(i))
		}
	}
	if len(l.calls) != len(c.Was.Calls) || len(l.results) != len(c.Was.Results) {
		return nil, errChanged
	}
	err = l.Apply(c, func(v change.Value) docedit.Place { return l.findPlace(c, v) }, func(nth int) docedit.Spot { return l.results[nth] })
	return l, err
}

func itemAt(n int) docedit.Spot { return docedit.Spot{Column: "data", Pointer: "/items"}.Element(n) }

func (l *itemList) decodeItems() ([]inputItem, error) {
	var w wrapper
	if err := json.Unmarshal(l.Document("data"), &w, lenient); err != nil {
		return nil, errors.New(explainError(err))
	}
	return w.Items, nil
}

// findPlace finds where a value is stored.
func (l *itemList) findPlace(c *change.Item, v change.Value) docedit.Place {
	switch v.Field {
	case session.FieldCallID:
		return docedit.Place{Spot: l.calls[v.Nth].Member("call_id"), Form: docedit.Text}
	case session.FieldResultID:
		return docedit.Place{Spot: l.results[v.Nth].Member("call_id"), Form: docedit.Text}
	case change.FieldArgs:
		return docedit.Place{Spot: l.calls[v.Nth].Member("arguments"), Form: docedit.Text}
	case session.FieldChild:
		return docedit.Place{Spot: l.results[v.Nth].Member("output"), Within: "/" + childMember, Form: docedit.Text, Same: namesSession}
	case session.FieldBlockID: // every item is a block
		return docedit.Place{Spot: itemAt(v.Nth).Member("id"), Form: docedit.Text, Optional: true}
	case session.FieldPosition, change.FieldQuestion, change.FieldDelegation, change.FieldKeptFrom:
		return docedit.Place{Form: docedit.Follows}
	case session.FieldText:
		if v.Of == change.OfItem {
			return docedit.Place{Write: func() error { return l.removeBlank(c.Was.Blocks != nil) }}
		}
	}
	return docedit.Place{}
}

// removeBlank takes texts of white space away, and their messages with them where these are
// blocks of the item, which has no block for a text that it does not have.
func (l *itemList) removeBlank(blocks bool) error {
	stored, err := l.decodeItems()
	if err != nil {
		return err
	}
	for i := range slices.Backward(stored) {
		at, value := itemAt(i), jsontext.Value(nil)
		if stored[i].Role == "" || strings.TrimSpace(textIn(stored[i].Content)) != "" {
			continue
		}
		if !blocks {
			at, value = at.Member("content"), docedit.QuoteText("")
		}
		if err := l.Put(at, value); err != nil {
			return err
		}
	}
	return nil
}

var errChanged = errors.New("it does not hold what was read before")
