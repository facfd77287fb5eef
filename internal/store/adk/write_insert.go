package adk

import (
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

// insert makes the row of a result that nobody stored: an event of its own of the
// agent that made the call, in the role of the user, as ADK stores results (2).
func insert(s *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]table.Field, error) {
	if beside == nil || it.Kind != session.Message || it.Role != session.Tool || len(it.Results) != 1 {
		return nil, problem.New(problem.RolledBack, "", "a repair adds nothing to an ADK store but the result of a call")
	}
	near := revise(*beside)
	return near.event(it, id, near.response(s, it))
}

// response is the part with the result that a new event has.
func (r *revision) response(s *session.Session, it *session.Item) []byte {
	result := &it.Results[0]
	answer := "result"
	if result.IsError {
		answer = "error"
	}
	var part, said spot // of the neighbour
	if calls, results := r.said(r.parts()); len(results) > 0 {
		part, said = results[0].holder(), results[0]
	} else if len(calls) > 0 {
		part = calls[0].holder()
	}
	spelled := r.contentSpelling()
	return r.object(spelled, part, member{"function_response", r.object(spelled, said,
		member{"id", quote(result.CallID)}, member{"name", quote(toolOf(s, it))},
		member{"response", r.object(spelled, spot{}, member{answer, quote(result.Text)})})})
}

// partOf makes the row of a result that was one of several in an event: its part stays
// as it is, but for an id that changes.
func partOf(_ *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]table.Field, error) {
	near := revise(row)
	part, err := near.part(it, nth)
	if err != nil {
		return nil, err
	}
	return near.event(it, id, part)
}

// part is the part with one of the results of an event, for the item that it becomes.
func (r *revision) part(it *session.Item, nth int) ([]byte, error) {
	_, results := r.said(r.parts())
	if nth >= len(results) || len(it.Results) != 1 {
		return nil, notAsRead("content")
	}
	at := results[nth]
	err := r.identify(at, r.text(r.inside(at, "id")), it.Results[0].CallID)
	return r.raw(at.holder()), err
}

// toolOf is the name of the tool whose result an item is: that of the call with its
// id that was made last before it, of those that are seen where it is seen.
func toolOf(s *session.Session, it *session.Item) string {
	name, found := it.Results[0].Name, false
	for i := range s.Items {
		other := &s.Items[i]
		if found = found || other.Table == it.Table && other.Key == it.Key; found {
			return name
		}
		for n := range other.Calls {
			if c := &other.Calls[n]; c.ID == it.Results[0].CallID && other.Branch == it.Branch && other.Scope == it.Scope {
				name = c.Name
			}
		}
	}
	return name
}

// event is the row of a new event that has one part: a neighbour of the event that is
// revised, in the same forms.
func (r *revision) event(it *session.Item, id string, part []byte) ([]table.Field, error) {
	column := r.row.Value("timestamp")
	at, err := stampLike(column, it.Position, it.Time)
	if err != nil {
		return nil, err
	}
	row := fields{row: r.row}
	for _, name := range []string{"app_name", "user_id", "session_id"} {
		row.add(name, table.Kept(r.row.Value(name)))
	}
	row.add("id", id)
	row.add("invocation_id", it.Invocation)
	row.add("timestamp", at)
	if r.row.Has("event_data") {
		document, err := r.eventDocument(it, id, part, it.Position-place(column))
		row.add("event_data", string(document))
		return row.list, err
	}
	actions, err := r.emptyActions()
	if err != nil {
		return nil, err
	}
	row.add("author", authorOf(it))
	row.add("branch", orNull(it.Branch))
	row.add("isolation_scope", orNull(it.Scope))
	row.add("node_info_json", orNull(string(r.node(it))))
	row.add("content", string(r.contentOf(part)))
	if actions != nil {
		row.add("actions", actions)
	}
	if !r.pickled() {
		for _, flag := range []string{"partial", "turn_complete", "interrupted"} {
			row.add(flag, int64(0)) // adk-go leaves none of them NULL (1.4)
		}
	}
	return row.list, nil
}

// eventDocument is the document of a new event that has one part, so many
// places later.
func (r *revision) eventDocument(it *session.Item, id string, part []byte, later int64) ([]byte, error) {
	document := spot{column: "event_data"}
	actions, err := r.emptyActions()
	if err != nil {
		return nil, err
	}
	copied, err := r.timeLike(r.raw(r.inside(document, "timestamp")), it, later)
	return r.object(r.documentSpelling(), document,
		member{"content", r.contentOf(part)}, member{"invocation_id", quote(it.Invocation)}, member{"author", quote(authorOf(it))}, member{"actions", actions},
		member{"branch", labelValue(it.Branch)}, member{"node_info", r.node(it)}, member{"isolation_scope", orNone(it.Scope)},
		member{"id", quote(id)}, member{"timestamp", copied}), err
}

// contentOf is a content with one part, in the role of the user.
func (r *revision) contentOf(part []byte) []byte {
	return r.object(inSnake, spot{}, member{"parts", append(append([]byte("["), part...), ']')}, member{"role", quote("user")})
}

func authorOf(it *session.Item) string {
	if it.Agent == "" {
		return "user"
	}
	return it.Agent
}

// node is what an event of the same agent in the same invocation says of its node.
func (r *revision) node(it *session.Item) []byte {
	info, author, invocation := spot{column: "node_info_json"}, textOf(r.row.Value("author")), textOf(r.row.Value("invocation_id"))
	if r.row.Has("event_data") {
		document := spot{column: "event_data"}
		info, author, invocation = r.inside(document, "nodeInfo"), r.text(r.inside(document, "author")), r.text(r.inside(document, "invocationId"))
	}
	path := r.raw(r.inside(info, "path"))
	if path == nil || author != it.Agent || invocation != it.Invocation {
		return nil
	}
	return r.object(inSnake, spot{}, member{"path", path})
}

// fields are the columns of a new row that its table has.
type fields struct {
	row  record
	list []table.Field
}

func (f *fields) add(column string, value any) {
	if f.row.Has(column) {
		f.list = append(f.list, table.Field{Name: column, Value: value})
	}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func orNone(text string) []byte {
	if text == "" {
		return nil
	}
	return quote(text)
}
