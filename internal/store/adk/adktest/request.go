package adktest

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/adk/pickle"
)

// told is an event as the runtime reads it, whatever it is stored as.
type told struct {
	author, branch, scope, role, invocation, rewind string
	last                                            bool    // a summary of adk-js
	at                                              float64 // seconds
	calls, answers, hidden                          []string
	text                                            bool
	from, to                                        float64 // of a summary, 0 without one
}

// Unanswered are the calls that the next request of some agent of a session would carry
// without a response, if the user sent a message now: the contents are built from the
// rows as the runtime builds them (adk-go 2.2 contents_processor.go, adk-python
// contents.py before it left such calls out), and nothing of this program has a part in
// it. An agent's requests are those of every branch on which it ran.
func Unanswered(path string, g Generation, session string) ([]string, error) {
	events, err := readTold(path, g, session)
	if err != nil {
		return nil, err
	}
	type runner struct{ agent, branch string }
	var ran []runner
	var open []string
	for _, e := range events {
		by := runner{e.author, e.branch}
		if e.author == "user" || e.role != "model" || slices.Contains(ran, by) {
			continue
		}
		ran = append(ran, by)
		for _, id := range unanswered(shownTo(by.agent, by.branch, g, events)) {
			if !slices.Contains(open, id) {
				open = append(open, id)
			}
		}
	}
	return open, nil
}

// shownTo are the events that the agent's request is made of; what others said has no
// calls and answers any more.
func shownTo(agent, branch string, g Generation, events []told) []told {
	switch {
	case g == J1:
		events = active(events)
	case !g.isGo():
		events = summarised(annulled(events))
	}
	var list []told
	for _, e := range events {
		above := branch == "" || e.branch == "" || branch == e.branch || strings.HasPrefix(branch, e.branch+".")
		empty := len(e.calls)+len(e.answers) == 0 && !e.text
		if !above || empty || e.scope != "" || len(e.hidden) > 0 {
			continue
		}
		if e.author != agent && e.author != "user" {
			e.calls, e.answers, e.text = nil, nil, true
		}
		list = append(list, e)
	}
	return list
}

// unanswered are the calls whose event is not followed by a response: responses leave
// their places and go behind the event with their call, the last for each.
func unanswered(events []told) []string {
	last := map[string]bool{}
	for _, e := range events {
		for _, id := range e.answers {
			last[id] = true
		}
	}
	var open []string
	for _, e := range events {
		if len(e.answers) > 0 {
			continue
		}
		for _, id := range e.calls {
			if !last[id] {
				open = append(open, id)
			}
		}
	}
	return open
}

// annulled leaves out what a rewind takes back.
func annulled(events []told) []told {
	var list []told
	for i := len(events) - 1; i >= 0; i-- {
		if to := events[i].rewind; to != "" {
			if first := slices.IndexFunc(events[:i], func(e told) bool { return e.invocation == to }); first >= 0 {
				i = first
			}
			continue
		}
		list = append(list, events[i])
	}
	slices.Reverse(list)
	return list
}

// summarised leaves out what a later summary stands for: everything from its start on.
func summarised(events []told) []told {
	var list []told
	since := 1e18
	for i := len(events) - 1; i >= 0; i-- {
		switch e := events[i]; {
		case e.from > 0:
			since = min(since, e.from)
			list = append(list, told{author: "user", role: "user", text: true})
		case e.at < since:
			list = append(list, e)
		}
	}
	slices.Reverse(list)
	return list
}

// active leaves out what the last summary stands for, and all others
// (compaction_utils.ts of adk-js).
func active(events []told) []told {
	last := -1
	for i := range events {
		if events[i].last {
			last = i
		}
	}
	if last < 0 {
		return events
	}
	list := []told{{author: "user", role: "user", text: true}}
	for _, e := range events {
		if !e.last && e.at > events[last].to {
			list = append(list, e)
		}
	}
	return list
}

// readTold reads the rows in the order in which the runtime does.
func readTold(path string, g Generation, session string) ([]told, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_texttotime=0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	columns, order := "invocation_id, unixepoch(timestamp, 'subsec'), author, branch, content, actions, null", "timestamp DESC"
	switch {
	case g == PS:
		columns, order = "invocation_id, timestamp, '', '', null, null, event_data", "timestamp DESC, rowid DESC"
	case g.inJSON():
		columns = "invocation_id, 0, '', '', null, null, event_data"
	}
	rows, err := db.Query("SELECT "+columns+" FROM events WHERE session_id = ? ORDER BY "+order, session)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var events []told
	for rows.Next() {
		var e told
		var branch sql.NullString
		var content, actions, document []byte
		if err := rows.Scan(&e.invocation, &e.at, &e.author, &branch, &content, &actions, &document); err != nil {
			return nil, err
		}
		e.branch = branch.String
		if err := errors.Join(e.readContent(content), e.readActions(actions), e.readDocument(document)); err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	slices.Reverse(events)
	return events, rows.Err()
}

func (e *told) readDocument(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var doc struct {
		Author  string          `json:"author"`
		Branch  string          `json:"branch"`
		Scope   string          `json:"isolation_scope"`
		At      float64         `json:"timestamp"`
		Last    bool            `json:"is_compacted"`
		End     float64         `json:"end_time"`
		Content json.RawMessage `json:"content"`
		Actions struct {
			Rewind     string `json:"rewind_before_invocation_id"`
			Compaction struct {
				From float64 `json:"start_timestamp"`
				To   float64 `json:"end_timestamp"`
			} `json:"compaction"`
		} `json:"actions"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	e.author, e.branch, e.scope, e.at = doc.Author, doc.Branch, doc.Scope, doc.At
	e.rewind, e.from, e.to = doc.Actions.Rewind, doc.Actions.Compaction.From, doc.Actions.Compaction.To
	if e.last = doc.Last; e.last {
		e.to = doc.End
	}
	return e.readContent(doc.Content)
}

// readActions reads what adk-python pickled; adk-go stores nothing there that matters.
func (e *told) readActions(data []byte) error {
	if len(data) == 0 || data[0] != 0x80 {
		return nil
	}
	value, err := pickle.Decode(data)
	if err != nil {
		return err
	}
	e.rewind, _ = pickle.Field(value, "rewind_before_invocation_id").(string)
	if c := pickle.Field(value, "compaction"); c != nil {
		e.from, _ = pickle.Field(c, "start_timestamp").(float64)
		e.to, _ = pickle.Field(c, "end_timestamp").(float64)
	}
	return nil
}

// readContent reads a content with keys in snake or in camel case.
func (e *told) readContent(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	type named struct{ ID, Name string }
	var content struct {
		Role  string
		Parts []struct {
			Text             string
			FunctionCall     *named
			FunctionResponse *named
		}
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte(`"function_call"`), []byte(`"functionCall"`)), []byte(`"function_response"`), []byte(`"functionResponse"`))
	if err := json.Unmarshal(data, &content); err != nil {
		return err
	}
	e.role = content.Role
	hides := []string{"adk_request_credential", "adk_request_confirmation", "adk_request_input"}
	for _, p := range content.Parts {
		e.text = e.text || p.Text != ""
		if c := p.FunctionCall; c != nil {
			e.calls = append(e.calls, c.ID)
			if slices.Contains(hides, c.Name) {
				e.hidden = append(e.hidden, c.Name)
			}
		}
		if r := p.FunctionResponse; r != nil {
			e.answers = append(e.answers, r.ID)
			if slices.Contains(hides, r.Name) {
				e.hidden = append(e.hidden, r.Name)
			}
		}
	}
	return nil
}

// python are actions in an event_data of adk-python: dictionaries are always
// there, everything else only when it is set.
func (a Actions) python() object {
	o := object{{"skip_summarization", true}, {"state_delta", delta(a.StateDelta)}, {"artifact_delta", object{}}}
	if !a.SkipSummary {
		o = o[1:]
	}
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	o = append(o, member{"requested_auth_configs", object{}}, member{"requested_tool_confirmations", a.confirmations()})
	if c := a.Compaction; c != nil {
		o = append(o, member{"compaction", c.python()})
	}
	if a.RewindBefore != "" {
		o = append(o, member{"rewind_before_invocation_id", a.RewindBefore})
	}
	return o
}

func (c *Compaction) python() object {
	return object{
		{"start_timestamp", seconds(c.From)}, {"end_timestamp", seconds(c.To)},
		{"compacted_content", object{{"parts", []object{{{"text", c.Text}}}}, {"role", "model"}}},
	}
}

// golang are the actions as adk-go 2.2 writes them.
func (a Actions) golang() object {
	var o object
	if a.Transfer != "" {
		o = append(o, member{"transfer_to_agent", a.Transfer})
	}
	o = append(o, member{"state_delta", delta(a.StateDelta)}, member{"artifact_delta", object{}})
	if a.Escalate {
		o = append(o, member{"escalate", true})
	}
	if a.SkipSummary {
		o = append(o, member{"skip_summarization", true})
	}
	if len(a.Confirmations) > 0 {
		o = append(o, member{"requested_tool_confirmations", a.confirmations()})
	}
	return o
}

// pascal are the actions as adk-go writes them up to 2.1: all fields, by their names.
func (a Actions) pascal() object {
	confirmations := json.RawMessage("null")
	if len(a.Confirmations) > 0 {
		confirmations = a.confirmations()
	}
	return object{
		{"StateDelta", delta(a.StateDelta)}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", confirmations},
		{"SkipSummarization", a.SkipSummary}, {"TransferToAgent", a.Transfer}, {"Escalate", a.Escalate},
	}
}

// confirmations are what was asked of a person, by the id of the call.
func (a Actions) confirmations() json.RawMessage {
	asked := map[string]any{}
	for _, id := range a.Confirmations {
		asked[id] = map[string]any{"hint": "please confirm", "confirmed": false}
	}
	text, _ := json.Marshal(asked) // texts always have a form
	return text
}

func delta(text string) json.RawMessage {
	if text == "" {
		text = "{}"
	}
	return json.RawMessage(text)
}

// object is a JSON object whose members keep their order; the names are adk-python's.
type object []member

type member struct {
	name  string
	value any // string, bool, float64, []string, object, []object or json.RawMessage
}

// document is the JSON text of an object, with names in camel case for adk-go.
func document(o object, camel bool) string { return string(appendJSON(nil, o, camel)) }

func appendJSON(b []byte, value any, camel bool) []byte {
	switch v := value.(type) {
	case []object:
		b = append(b, '[')
		for i, o := range v {
			b = appendJSON(comma(b, i), o, camel)
		}
		return append(b, ']')
	case object:
		b = append(b, '{')
		for i, m := range v {
			name := m.name
			if camel {
				name = inCamel(name)
			}
			b = append(appendJSON(comma(b, i), name, camel), ':')
			b = appendJSON(b, m.value, camel)
		}
		return append(b, '}')
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic("a described session holds text that is not JSON: " + err.Error())
	}
	return append(b, text...)
}

func comma(b []byte, before int) []byte {
	if before > 0 {
		b = append(b, ',')
	}
	return b
}

func inCamel(snake string) string {
	words := strings.Split(snake, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// content is what an event with parts says.
func (e *Event) content() object {
	parts := make([]object, len(e.Parts))
	for i, p := range e.Parts {
		switch {
		case p.Call != nil:
			o := object{{"id", p.Call.ID}, {"args", json.RawMessage(p.Call.Args)}, {"name", p.Call.Name}}
			parts[i] = object{{"function_call", without(o)}}
		case p.Response != nil:
			o := object{{"id", p.Response.ID}, {"name", p.Response.Name}}
			if p.Response.Value != "" {
				o = append(o, member{"response", json.RawMessage(p.Response.Value)})
			}
			parts[i] = object{{"function_response", without(o)}}
		case p.Thought:
			parts[i] = object{{"text", p.Text}, {"thought", true}}
		default:
			parts[i] = object{{"text", p.Text}}
		}
	}
	return object{{"parts", parts}, {"role", e.role()}}
}

// without leaves members with an empty text out, as every writer does.
func without(o object) object {
	var left object
	for _, m := range o {
		if m.value != "" {
			left = append(left, m)
		}
	}
	return left
}

// data is the document that holds a whole event, as adk-python writes it.
func (e *Event) data() object {
	var o object
	if len(e.Parts) > 0 {
		o = append(o, member{"content", e.content()})
	}
	o = append(o, member{"invocation_id", e.Invocation}, member{"author", e.Author}, member{"actions", e.Actions.python()})
	if len(e.Waits) > 0 {
		o = append(o, member{"long_running_tool_ids", e.Waits})
	}
	switch {
	case strings.HasPrefix(e.Branch, "{"):
		o = append(o, member{"branch", json.RawMessage(e.Branch)})
	case e.Branch != "":
		o = append(o, member{"branch", e.Branch})
	}
	if e.Node != "" {
		o = append(o, member{"node_info", object{{"path", e.Node}}})
	}
	if e.Scope != "" {
		o = append(o, member{"isolation_scope", e.Scope})
	}
	return append(o, member{"id", e.ID}, member{"timestamp", seconds(e.Time)})
}

// dataJS is the same as adk-js writes it: times are in milliseconds, some members are
// always there, and a summary says itself that it is one.
func (e *Event) dataJS() object {
	summary := e.Actions.Compaction
	if summary != nil {
		e.Author, e.Invocation, e.Role, e.Parts, e.Actions.Compaction = "system", "", "model", []Part{Text(summary.Text)}, nil
	}
	var o object
	for _, m := range e.data() {
		switch m.name {
		case "timestamp":
			m.value = e.Time.UnixMilli()
		case "id":
			waits := append([]string{}, e.Waits...)
			o = append(o, member{"long_running_tool_ids", waits})
		case "long_running_tool_ids":
			continue
		}
		o = append(o, m)
	}
	if summary != nil {
		o = append(o, member{"is_compacted", true}, member{"start_time", summary.From.UnixMilli()}, member{"end_time", summary.To.UnixMilli()},
			member{"compacted_content", summary.Text})
	}
	return o
}

// seconds is a time as adk-python has it in documents and in the columns of its
// service for files.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
