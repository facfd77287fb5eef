package crush

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// document is where parts are.
var document = docedit.Spot{Column: "parts"}

// nth is the nth part of a type.
func nth(r *docedit.Row, kind string, n int) docedit.Spot { return r.OfType(document, kind, n) }

// partOf is the type of the parts of an item that values belong to, and member where they
// are in its data.
var (
	partOf = map[change.Part]string{change.OfItem: typeText, change.OfCall: typeCall, change.OfResult: typeResult, change.OfBlock: typeReasoning}
	member = map[string]string{
		session.FieldText: "text", session.FieldCallID: "id", session.FieldResultID: "tool_call_id", change.FieldArgs: "input", change.FieldName: "name",
	}
)

// update is the difference of a message that a repair changed.
func update(row eventlog.Row, c *change.Item) ([]table.FieldChange, error) {
	r := docedit.Of(row)
	err := r.Apply(c, func(v change.Value) docedit.Place { return place(r, c, v) }, func(n int) docedit.Spot { return nth(r, typeResult, n) })
	return r.Changes(), err
}

// place is where a value of a message is stored.
func place(r *docedit.Row, c *change.Item, v change.Value) docedit.Place {
	switch {
	case v.Of == change.OfItem && v.Field == session.FieldPosition:
		return docedit.Place{Write: func() error {
			if eventlog.SameSecond(c.Is.Position, c.Was.Position) {
				return nil
			}
			second, err := eventlog.SecondOf(c.Is.Position, r.Value("created_at"))
			r.Set("created_at", second)
			return err
		}}
	case v.Of == change.OfItem && v.Field == session.FieldUnfinished:
		return docedit.Place{Write: func() error { return end(r) }}
	case v.Of == change.OfCall && v.Field == change.FieldArgs:
		return docedit.Place{Write: func() error { return complete(r, v) }}
	case v.Of == change.OfBlock || member[v.Field] == "" || v.Of == change.OfResult && v.Field == session.FieldText:
		return docedit.Place{}
	}
	return docedit.Place{Spot: nth(r, partOf[v.Of], v.Nth).Member("data").Member(member[v.Field]), Form: docedit.Text}
}

// complete gives a call its arguments, which are all that it will get.
func complete(r *docedit.Row, v change.Value) error {
	data := nth(r, typeCall, v.Nth).Member("data")
	if r.Text(data.Member("input")) != v.Was {
		return docedit.NotAsRead(document.Column)
	}
	if err := r.Put(data.Member("input"), docedit.Quote(v.Is)); err != nil {
		return err
	}
	return r.Put(data.Member("finished"), jsontext.Value("true"))
}

// end gives an answer the end that Crush gives to one that a person cancelled, at the time
// at which it began: a repair has no clock.
func end(r *docedit.Row) error {
	began, ok := column.Int(r.Value("created_at"))
	if !ok {
		return problem.New(problem.RolledBack, "", "the message has no time that its end could have")
	}
	finish := `{"type":"finish","data":{"reason":"canceled","time":` + strconv.FormatInt(began, 10) + `,"message":"User canceled request"}}]`
	parts, open := bytes.CutSuffix(bytes.TrimSpace(r.Document(document.Column)), []byte("]"))
	if !open {
		return docedit.NotAsRead(document.Column)
	}
	if len(r.Elements(document)) > 0 {
		finish = "," + finish
	}
	r.Set("finished_at", began)
	r.SetText(document.Column, slices.Concat(parts, []byte(finish)))
	return nil
}

// ended is the last part of every message that is no answer.
const ended = `,{"type":"finish","data":{"reason":"stop","time":0}}]`

// insert is the row of a new result, like Crush's own.
func (r *reader) insert(s *session.Session, it *session.Item, _ *eventlog.Row, id string) ([]table.Field, error) {
	res := &it.Results[0]
	parts := `[{"type":"tool_result","data":{"tool_call_id":` + string(docedit.Quote(res.CallID)) + `,"name":` + string(docedit.Quote(s.ToolBefore(it, res.CallID))) +
		`,"content":` + string(docedit.Quote(res.Text)) + `,"data":"","mime_type":"","metadata":"","is_error":` + strconv.FormatBool(res.IsError) + `}}` + ended
	return r.row(s, it, id, parts)
}

// row is a new row with a result.
func (r *reader) row(s *session.Session, it *session.Item, id, parts string) ([]table.Field, error) {
	second, err := eventlog.SecondOf(it.Position, int64(0))
	return []table.Field{
		{Name: "id", Value: id}, {Name: "session_id", Value: s.ID}, {Name: "role", Value: "tool"}, {Name: "parts", Value: parts},
		{Name: "model", Value: ""}, {Name: "created_at", Value: second}, {Name: "updated_at", Value: second},
	}, err
}

// part is the row of a result that was one of several in a row.
func (r *reader) part(s *session.Session, c *change.Item, row eventlog.Row, id string) ([]table.Field, error) {
	edited := docedit.Of(row)
	at := func(n int) docedit.Spot { return nth(edited, typeResult, n) }
	if err := edited.Apply(c, func(v change.Value) docedit.Place { return place(edited, c, v) }, at); err != nil {
		return nil, err
	}
	return r.row(s, c.Is, id, "["+string(edited.Raw(at(c.Part)))+ended)
}

// setSession sets columns of a session's row; nothing else changes there, because Crush's
// triggers count messages.
func setSession(row eventlog.Row, c *change.Session) (fields []table.FieldChange, _ error) {
	for _, e := range c.Sets {
		if e.Value == nil || e.Field != session.FieldSummary || !row.Has(e.Field) {
			return nil, problem.New(problem.RolledBack, "", "a store of this kind cannot change %s of a session", e.Field)
		}
		var value any
		if *e.Value != "" {
			value = *e.Value
		}
		fields = append(fields, table.FieldChange{Name: e.Field, Old: table.Kept(row.Value(e.Field)), New: value})
	}
	return fields, nil
}
