package springai

import (
	"github.com/go-json-experiment/json"

	"github.com/sessctl/sessctl/internal/jsonedit"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/eventlog"
	"github.com/sessctl/sessctl/internal/store/table"
)

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

// response is an element of message_data as the library writes it (b).
type response struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Data string `json:"responseData"`
}

// insert is the row of a new result: a TOOL message like the library's own.
func (sc *schema) insert(s *session.Session, it *session.Item, beside *eventlog.Row, id string) ([]table.Field, error) {
	if it.Kind != session.Message || it.Role != session.Tool || len(it.Results) != 1 || it.Body == nil {
		return nil, problem.New(problem.RolledBack, "", "%s %s cannot be added: a repair adds nothing but results to this kind of store", it.Kind, it.Role)
	}
	r := &it.Results[0]
	text, err := json.Marshal([]response{{r.CallID, calledName(s, it), r.Text}})
	if err != nil {
		return nil, problem.New(problem.RolledBack, "repair the text of the call first", "the result of a call cannot be written: %v", err)
	}
	like := eventlog.Row{}
	if beside != nil {
		like = *beside
	}
	row := fields{events: &sc.events}
	row.set("id", id)
	row.set("session_id", s.ID)
	row.set("message_type", "TOOL")
	row.set("message_content", "")
	row.set("message_data", string(text))
	row.set("synthetic", truthLike(sc.events.value(like, "synthetic"), false))
	row.set("archived", truthLike(sc.events.value(like, "archived"), it.Flags.Has(session.Archived)))
	row.set("branch", orNull(it.Branch))
	row.set("metadata", sc.metadataFor(it.Agent, like))
	return append(row.list, sc.placeOf(it, like)...), nil
}

// placeOf are the columns that say when and where an item stands. seq is left to
// SQLite where it gives one out.
func (sc *schema) placeOf(it *session.Item, like eventlog.Row) []table.Field {
	row := fields{events: &sc.events}
	if !sc.given {
		row.set("seq", numberLike(sc.events.value(like, "seq"), it.Position))
	}
	stored := sc.events.value(like, "timestamp")
	if t, _ := parseTime(stored); !t.Equal(it.Time) || it.Time.IsZero() {
		stored = sc.clock.render(it.Time)
	}
	row.set("timestamp", stored)
	return row.list
}

// calledName is the name of the tool that a result is of: that of the last call
// before it with its id.
func calledName(s *session.Session, it *session.Item) string {
	name := ""
	for i := range s.Items {
		if s.Items[i].Table == it.Table && s.Items[i].Key == it.Key {
			break
		}
		for _, c := range s.Items[i].Calls {
			if c.ID == it.Results[0].CallID {
				name = c.Name
			}
		}
	}
	return name
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
func (sc *schema) part(s *session.Session, it *session.Item, row eventlog.Row, nth int, id string) ([]table.Field, error) {
	stored := sc.events.value(row, "message_data")
	text, _ := textOf(stored)
	doc, ok := jsonedit.Raw([]byte(text), pointer(nth))
	if !ok || len(it.Results) != 1 {
		return nil, notAsPlanned(it)
	}
	list := append(append([]byte("["), doc...), ']')
	before := it.Results[0]
	if d, wrong := parseData(text); wrong == "" && nth < len(d.parts) {
		before.CallID = d.parts[nth].ID.text
	}
	list, err := rename(list, pointer(0)+"/id", before.CallID, it.Results[0].CallID)
	if err != nil {
		return nil, err
	}
	made := fields{events: &sc.events}
	for _, column := range []string{"message_type", "message_content", "synthetic", "metadata"} {
		made.set(column, sc.events.value(row, column))
	}
	made.set("id", id)
	made.set("session_id", s.ID)
	made.set("message_data", like(stored, string(list)))
	made.set("archived", truthLike(sc.events.value(row, "archived"), it.Flags.Has(session.Archived)))
	made.set("branch", orNull(it.Branch))
	return append(made.list, sc.placeOf(it, row)...), nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
