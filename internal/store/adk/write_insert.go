package adk

import (
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/sqlite"
)

// insert makes the row of a result that nobody stored: an event of its own of the
// agent that made the call, in the role of the user, as ADK stores results (2).
func insert(s *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]sqlite.Field, error) {
	if beside == nil || it.Kind != session.Message || it.Role != session.Tool || len(it.Results) != 1 {
		return nil, problem.New(problem.RolledBack, "", "a repair adds nothing to an ADK store but the result of a call")
	}
	near := revise(*beside)
	result := &it.Results[0]
	answer := "result"
	if result.IsError {
		answer = "error"
	}
	camel := near.camelContent()
	part := object(camel, member{"function_response", object(camel,
		member{"id", quote(result.CallID)}, member{"name", quote(toolOf(s, it))}, member{"response", object(camel, member{answer, quote(result.Text)})})})
	return near.event(it, id, part)
}

// partOf makes the row of a result that was one of several in an event: its part stays
// as it is, but for an id that changes.
func partOf(_ *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]sqlite.Field, error) {
	near := revise(row)
	_, results := near.said(near.parts())
	if nth >= len(results) || len(it.Results) != 1 {
		return nil, notAsRead("content")
	}
	at := results[nth]
	if err := near.identify(at, near.text(near.inside(at, "id")), it.Results[0].CallID); err != nil {
		return nil, err
	}
	return near.event(it, id, near.raw(at.holder()))
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
func (r *revision) event(it *session.Item, id string, part []byte) ([]sqlite.Field, error) {
	column := r.row.Value("timestamp")
	at, err := stampLike(column, it.Position, it.Time)
	if err != nil {
		return nil, err
	}
	author := it.Agent
	if author == "" {
		author = "user"
	}
	row := fields{row: r.row}
	for _, name := range []string{"app_name", "user_id", "session_id"} {
		row.add(name, sqlite.Kept(r.row.Value(name)))
	}
	row.add("id", id)
	row.add("invocation_id", it.Invocation)
	row.add("timestamp", at)
	content := object(false, member{"parts", append(append([]byte("["), part...), ']')}, member{"role", quote("user")})
	actions, err := r.emptyActions()
	if err != nil {
		return nil, err
	}
	if r.row.Has("event_data") {
		copied, err := shifted(r.raw(r.inside(spot{column: "event_data"}, "timestamp")), it.Position-place(column))
		if err != nil {
			return nil, err
		}
		row.add("event_data", string(object(r.camelDocument(),
			member{"content", content}, member{"invocation_id", quote(it.Invocation)}, member{"author", quote(author)}, member{"actions", actions},
			member{"branch", labelValue(it.Branch)}, member{"node_info", r.node(it)}, member{"isolation_scope", orNone(it.Scope)},
			member{"id", quote(id)}, member{"timestamp", copied})))
		return row.list, nil
	}
	row.add("author", author)
	row.add("branch", orNull(it.Branch))
	row.add("isolation_scope", orNull(it.Scope))
	row.add("node_info_json", orNull(string(r.node(it))))
	row.add("content", string(content))
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
	return object(false, member{"path", path})
}

// fields are the columns of a new row that its table has.
type fields struct {
	row  eventlog.Row
	list []sqlite.Field
}

func (f *fields) add(column string, value any) {
	if f.row.Has(column) {
		f.list = append(f.list, sqlite.Field{Name: column, Value: value})
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
