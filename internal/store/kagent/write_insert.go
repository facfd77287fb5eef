package kagent

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/adk"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// insert makes the row of a result that nobody stored (K1): an event of its own of the
// agent that made the call, as the runtime would have stored it.
func insert(s *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]table.Field, error) {
	if beside == nil || it.Kind != session.Message || it.Role != session.Tool || len(it.Results) != 1 {
		return nil, problem.New(problem.RolledBack, "", "a repair adds nothing to a kagent store but the result of a call")
	}
	return newEvent(*beside, it, id, func(doc []byte, later int64) ([]byte, error) {
		if dialectOf(doc) == responses {
			return responseItem(doc, &it.Results[0], later)
		}
		return adk.Revise(doc).Response(s, it, id, later)
	})
}

// part makes the row of a result that was one of several in an event: what is stored
// of it stays as it is, but for an id that changes.
func part(_ *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]table.Field, error) {
	return newEvent(row, it, id, func(doc []byte, later int64) ([]byte, error) {
		if dialectOf(doc) == responses {
			return partItem(doc, it, nth, later)
		}
		return adk.Revise(doc).Part(it, nth, id, later)
	})
}

// newEvent is the row of a new event, a neighbour of another one in whose forms it is.
func newEvent(near eventlog.Row, it *session.Item, id string, compose func(doc []byte, later int64) ([]byte, error)) ([]table.Field, error) {
	place, _ := placeOf(near.Value("created_at"))
	at, err := timeLike(table.Kept(near.Value("created_at")), it.Position)
	if err != nil {
		return nil, err
	}
	doc, err := openDocument(near.Value("data"))
	if err == nil && (dialectOf(doc.was) == message || dialectOf(doc.was) == unknown) {
		err = errors.New("the one beside it is no event of an agent's runtime")
	}
	if err == nil {
		err = doc.edit(func(json []byte) ([]byte, error) { return compose(json, it.Position-place) })
	}
	if err != nil {
		return nil, problem.New(problem.RolledBack, "Check the store again.", "an event with the result of call %s cannot be added: %v", it.Results[0].CallID, err)
	}
	row := newRow{like: near}
	for _, column := range []string{"session_id", "user_id"} {
		row.set(column, table.Kept(near.Value(column)))
	}
	row.set("id", id)
	row.set("created_at", at)
	row.set("updated_at", at)
	row.set("data", doc.column())
	return row.fields, nil
}

// responseItem is the document of an event of the OpenAI Agents SDK with the result of
// a call.
func responseItem(near []byte, r *session.Result, later int64) ([]byte, error) {
	item := []byte(`{"call_id": `)
	item = append(append(item, quote(r.CallID)...), `, "output": `...)
	item = append(append(item, quote(r.Text)...), `, "type": "function_call_output"}`...)
	return aloneIn(near, item, later)
}

// partItem is the document of an event with one of the results of another one.
func partItem(near []byte, it *session.Item, nth int, later int64) ([]byte, error) {
	l, err := openItems(near)
	if err != nil {
		return nil, err
	}
	if nth >= len(l.results) || len(it.Results) != 1 {
		return nil, errChanged
	}
	was := session.Result{CallID: l.items[l.results[nth]].CallID, Child: it.Results[0].Child}
	if err := l.changeResult(l.results[nth], &was, &it.Results[0]); err != nil {
		return nil, err
	}
	item, _ := jsonedit.Raw(l.doc, itemAt(l.results[nth]))
	return aloneIn(near, item, later)
}

// aloneIn is the document of an event with one item in place of those of its
// neighbour, so many microseconds later.
func aloneIn(near, item []byte, later int64) ([]byte, error) {
	doc, err := jsonedit.Set(near, "/items", append(append([]byte("["), item...), ']'))
	if err != nil {
		return nil, errChanged
	}
	return shifted(doc, later)
}

// shifted is such a document with its time so many microseconds later.
func shifted(doc []byte, later int64) ([]byte, error) {
	value, _ := jsonedit.Raw(doc, "/timestamp")
	if jsontext.Value(value).Kind() != jsontext.KindString {
		return doc, nil
	}
	text := stringOf(value)
	place, _ := placeOf(text)
	at, err := timeLike(text, place+later)
	if err != nil {
		return nil, errors.New("its timestamp is no time")
	}
	return jsonedit.Set(doc, "/timestamp", quote(textOf(at)))
}
