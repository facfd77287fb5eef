package adk

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/change"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/docedit"
	"github.com/sessctl/sessctl/internal/store/table"
)

// insertResults makes the row of results that nobody stored: one event of the agent that made the
// calls, in the role of the user, as ADK stores the results of one turn (docs/stores/adk.md#what-is-read).
func insertResults(s *session.Session, it *session.Item, neighbour *docedit.Row, id string) ([]table.Field, error) {
	near := &revision{neighbour}
	return near.composeEvent(it, id, near.composeResponses(s, it))
}

// composeResponses composes the parts with the results that a new event has.
func (r *revision) composeResponses(s *session.Session, it *session.Item) []byte {
	var part, said spot // of the neighbour
	if calls, results := r.callSpots(r.partSpots()); len(results) > 0 {
		part, said = results[0].Holder(), results[0]
	} else if len(calls) > 0 {
		part = calls[0].Holder()
	}
	spelled := r.contentSpelling()
	parts := make([][]byte, len(it.Results))
	for i := range it.Results {
		result := &it.Results[i]
		answer := map[bool]string{false: "result", true: "error"}[result.IsError]
		parts[i] = r.composeObject(spelled, part, member{"function_response", r.composeObject(spelled, said,
			member{"id", quoteText(result.CallID)}, member{"name", quoteText(toolOf(s, it, result))},
			member{"response", r.composeObject(spelled, spot{}, member{answer, quoteText(result.Text)})})})
	}
	return bytes.Join(parts, []byte{','})
}

// insertPart makes the row of a result that was one of several in an event: its part stays as it
// is, but for values that change.
func insertPart(_ *session.Session, c *change.Item, row *docedit.Row, id string) ([]table.Field, error) {
	near := &revision{row}
	return near.composeEvent(c.Is, id, near.revisePart(c))
}

// revisePart is the part with one of the results of an event.
func (r *revision) revisePart(c *change.Item) []byte {
	_, results := r.callSpots(r.partSpots())
	return r.Raw(nthOf(results, c.Part).Holder())
}

// toolOf is the name of the tool whose result an item has: that of the call with its
// id that was made last before it, of those that are seen where it is seen.
func toolOf(s *session.Session, it *session.Item, result *session.Result) string {
	name, found := result.Name, false
	for i := range s.Items {
		other := &s.Items[i]
		if found = found || other.Table() == it.Table() && other.Key == it.Key; found {
			return name
		}
		for n := range other.Calls {
			if c := &other.Calls[n]; c.ID == result.CallID && other.Branch() == it.Branch() && other.Scope() == it.Scope() {
				name = c.Name
			}
		}
	}
	return name
}

// composeEvent composes the row of a new event that has some parts: a neighbour of the event that is
// revised, in the same forms.
func (r *revision) composeEvent(it *session.Item, id string, parts []byte) ([]table.Field, error) {
	stored := r.Value("timestamp")
	at, err := stampLike(stored, it.Position, it.Time)
	if err != nil {
		return nil, err
	}
	row := []table.Field{{Name: r.stored("invocation_id"), Value: it.Invocation()}, {Name: "timestamp", Value: at}}
	if r.hasDocument() {
		document, err := r.composeDocument(it, id, parts, it.Position-placeOf(stored))
		return append(row, table.Field{Name: r.stored("event_data"), Value: string(document)}), err
	}
	actions, err := r.composeEmptyActions()
	if err != nil {
		return nil, err
	}
	row = append(row, table.Field{Name: "author", Value: authorOf(it)}, table.Field{Name: "branch", Value: column.OrNull(it.Branch())},
		table.Field{Name: "isolation_scope", Value: column.OrNull(it.Scope())}, table.Field{Name: "node_info_json", Value: column.OrNull(string(r.nodeInfo(it)))},
		table.Field{Name: "content", Value: string(r.contentOf(parts))})
	if actions != nil {
		row = append(row, table.Field{Name: "actions", Value: actions})
	}
	if !r.hasPickle() {
		for _, flag := range []string{"partial", "turn_complete", "interrupted"} {
			row = append(row, table.Field{Name: flag, Value: int64(0)}) // adk-go leaves none of them NULL (docs/stores/adk.md#what-is-read)
		}
	}
	return row, nil
}

// composeDocument composes the document of a new event that has some parts, so many
// places later.
func (r *revision) composeDocument(it *session.Item, id string, parts []byte, later int64) ([]byte, error) {
	actions, err := r.composeEmptyActions()
	if err != nil {
		return nil, err
	}
	copied, err := r.timeLike(r.Raw(r.memberSpot(r.document(), "timestamp")), it, later)
	return r.composeObject(r.documentSpelling(), r.document(),
		member{"content", r.contentOf(parts)}, member{"invocation_id", quoteText(it.Invocation())}, member{"author", quoteText(authorOf(it))}, member{"actions", actions},
		member{"branch", labelValue(it.Branch())}, member{"node_info", r.nodeInfo(it)}, member{"isolation_scope", orNone(it.Scope())},
		member{"id", quoteText(id)}, member{"timestamp", copied}), err
}

// contentOf is a content with some parts, in the role of the user.
func (r *revision) contentOf(parts []byte) []byte {
	return r.composeObject(inSnake, spot{}, member{"parts", slices.Concat([]byte("["), parts, []byte("]"))}, member{"role", quoteText("user")})
}

func authorOf(it *session.Item) string {
	if it.Agent() == "" {
		return "user"
	}
	return it.Agent()
}

// nodeInfo is what an event of the same agent in the same invocation says of its node.
func (r *revision) nodeInfo(it *session.Item) []byte {
	info, author, invocation := spot{Column: "node_info_json"}, column.Text(r.Value("author")), column.Text(r.Value("invocation_id"))
	if r.hasDocument() {
		document := r.document()
		info, author, invocation = r.memberSpot(document, "nodeInfo"), r.Text(r.memberSpot(document, "author")), r.Text(r.memberSpot(document, "invocationId"))
	}
	path := r.Raw(r.memberSpot(info, "path"))
	if path == nil || author != it.Agent() || invocation != it.Invocation() {
		return nil
	}
	return r.composeObject(inSnake, spot{}, member{"path", path})
}

func orNone(text string) []byte {
	if text == "" {
		return nil
	}
	return quoteText(text)
}

// Revision is the document of an event, as another store keeps it, while it is being
// changed: in whatever names it is, single values change and every other byte stays.
// Its errors are problems of class RolledBack.
type Revision struct{ revision }

// Revise begins to change a document. It is kept and not changed itself.
func Revise(document []byte) *Revision {
	return &Revision{*newRevision(docedit.Whole{Column: "event_data", Text: document})}
}

// Update makes the event say what becomes of its item, and its time as much later as its
// place is. own is asked first where a value stands that only the other store knows of.
func (r *Revision) Update(c *change.Item, own func(v change.Value) docedit.Place) error {
	return r.applyChange(c, own)
}

// Answers are where the results answer something as a member of an object, which is named
// as it is stored.
func (r *Revision) Answers(member string) []docedit.Spot {
	_, results := r.callSpots(r.partSpots())
	return lists.MapEach(results, func(result spot) docedit.Spot { return r.memberSpot(result, "response").Member(member) })
}

// Document is what the revision has come to.
func (r *Revision) Document() []byte { return r.Row.Document("event_data") }

// ComposeResponse composes the document of a new event of session s with the result that its item
// it has, so many microseconds later than the event that is revised, in whose form it
// is.
func (r *Revision) ComposeResponse(s *session.Session, it *session.Item, id string, later int64) ([]byte, error) {
	return r.composeDocument(it, id, r.composeResponses(s, it), later)
}

// ComposePart composes the same for a result that was one of the event that is revised; own as in
// Update.
func (r *Revision) ComposePart(c *change.Item, own func(v change.Value) docedit.Place, id string, later int64) ([]byte, error) {
	if err := r.applyChange(c, own); err != nil {
		return nil, err
	}
	return r.composeDocument(c.Is, id, r.revisePart(c), later)
}

// moveEvent gives an event another place in its session: its time changes, and the copy of it
// in its document by as much.
func (r *revision) moveEvent(c *change.Item) error {
	if r.HasColumn("timestamp") {
		at, err := stampLike(r.Value("timestamp"), c.Is.Position, time.Time{})
		if err != nil {
			return err
		}
		r.Set("timestamp", at)
	}
	if !r.hasDocument() {
		return nil
	}
	return r.shiftTime(c.Is.Position - c.Was.Position)
}

// shiftTime makes the time in a document so many places later.
func (r *revision) shiftTime(by int64) error {
	copied := r.memberSpot(r.document(), "timestamp")
	if value := r.wholeLater(r.Raw(copied), by); value != nil {
		return r.Put(copied, value)
	}
	value, err := shiftStamp(r.Raw(copied), r.timeUnit(), by)
	if err != nil || value == nil {
		return err
	}
	return r.Put(copied, value)
}

// timeUnit is what the times of a row count that are numbers: a column with an integer is
// in milliseconds, and so is the copy beside it.
func (r *revision) timeUnit() column.Unit {
	if _, whole := r.Value("timestamp").(int64); whole {
		return column.Milliseconds
	}
	return column.Seconds
}

// stampLike is the time that has a place in the order of a session, in the form of
// another one: a number of seconds, or a text with the same separators and the same
// offset, or the one that makes it the given instant.
func stampLike(like any, position int64, instant time.Time) (any, error) {
	switch like.(type) {
	case int64:
		return position, nil
	case float64:
		return float64(position) / 1e6, nil
	}
	if text, ok := columnTimes.Like(column.View(like), position, instant); ok {
		return column.Like(like, text), nil
	}
	return nil, problem.New(problem.RolledBack, "", "an event cannot be moved beside one whose timestamp is not a time")
}

// shiftStamp is a time in a document, so many places later: milliseconds where it counts
// these, else microseconds; nil when there is none.
func shiftStamp(value jsontext.Value, in column.Unit, by int64) (jsontext.Value, error) {
	stored := jsonStamp(value, in)
	switch {
	case stored.Wrong != "":
		return nil, problem.New(problem.RolledBack, "", "an event cannot be moved: the copy of its time in event_data is not a time")
	case stored.IsZero():
		return nil, nil
	case value.Kind() == jsontext.KindString:
		return quoteText(stored.Add(time.Duration(by) * time.Microsecond).Format(time.RFC3339Nano)), nil
	case in == column.Milliseconds:
		return jsontext.Value(strconv.FormatInt(stored.UnixMilli()+by, 10)), nil
	}
	return inSeconds(stored.UnixMicro() + by), nil
}

// inSeconds are microseconds as JSON has them: seconds since 1970, with as few digits
// as tell them from others, as Python writes a float.
func inSeconds(micros int64) jsontext.Value {
	value := float64(micros) / 1e6
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if value == math.Trunc(value) {
		text += ".0"
	}
	return jsontext.Value(text)
}
