package adk_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/adk/members"
	"github.com/sessctl/sessctl/internal/store/adk/pickle"
)

// spoken is an event as the runtime reads it, whatever it is stored as.
type spoken struct {
	author, branch, scope, role, invocation, rewind string
	last                                            bool    // a summary of adk-js
	at                                              float64 // seconds
	calls, answers, hidden                          []string
	text                                            bool
	from, to                                        float64 // of a summary, 0 without one
}

// openCalls are the calls that the next request of some agent of a session would carry
// without a response, if the user sent a message now: the contents are built from the
// rows as the runtime builds them (adk-go 2.2 contents_processor.go, adk-python
// contents.py before it left such calls out), and nothing of this program has a part in
// it. An agent's requests are those of every branch on which it ran.
func openCalls(path string, g adktest.Generation, session string) ([]string, error) {
	events, err := readSpoken(path, g, session)
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
		for _, id := range unansweredOf(requestTo(by.agent, by.branch, g, events)) {
			if !slices.Contains(open, id) {
				open = append(open, id)
			}
		}
	}
	return open, nil
}

// requestTo are the events that the agent's request is made of; what others said has no
// calls and answers any more.
func requestTo(agent, branch string, g adktest.Generation, events []spoken) []spoken {
	switch {
	case g == adktest.J1:
		events = active(events)
	case g == adktest.K1:
		events = uncovered(annulled(events))
	case g != adktest.G1 && g != adktest.G2:
		events = summarised(annulled(events))
	}
	var list []spoken
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

// unansweredOf are the calls whose event is not followed by a response: responses leave
// their places and go behind the event with their call, the last for each.
func unansweredOf(events []spoken) []string {
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
func annulled(events []spoken) []spoken {
	var list []spoken
	for i := len(events) - 1; i >= 0; i-- {
		if to := events[i].rewind; to != "" {
			if first := slices.IndexFunc(events[:i], func(e spoken) bool { return e.invocation == to }); first >= 0 {
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
func summarised(events []spoken) []spoken {
	var list []spoken
	since := 1e18
	for i := len(events) - 1; i >= 0; i-- {
		switch e := events[i]; {
		case e.from > 0:
			since = min(since, e.from)
			list = append(list, spoken{author: "user", role: "user", text: true})
		case e.at < since:
			list = append(list, e)
		}
	}
	slices.Reverse(list)
	return list
}

// active leaves out what the last summary stands for, and all others
// (compaction_utils.ts of adk-js).
func active(events []spoken) []spoken {
	last := -1
	for i := range events {
		if events[i].last {
			last = i
		}
	}
	if last < 0 {
		return events
	}
	list := []spoken{{author: "user", role: "user", text: true}}
	for _, e := range events {
		if !e.last && e.at > events[last].to {
			list = append(list, e)
		}
	}
	return list
}

// uncovered leaves out what a later summary covers, and summaries whose time another one
// has within its own (HistoryRewriterProcessor.kt of adk-kotlin).
func uncovered(events []spoken) []spoken {
	var list []spoken
	for i, e := range events {
		covered := slices.ContainsFunc(events[i+1:], func(s spoken) bool { return s.from > 0 && s.from <= e.at && e.at <= s.to })
		if e.from > 0 {
			covered = slices.ContainsFunc(events, func(s spoken) bool {
				return s.from > 0 && s.from <= e.from && e.to <= s.to && (s.from < e.from || e.to < s.to)
			})
			e = spoken{author: "user", role: "user", text: true}
		}
		if !covered {
			list = append(list, e)
		}
	}
	return list
}

// readSpoken reads the rows in the order in which the runtime does.
func readSpoken(path string, g adktest.Generation, session string) ([]spoken, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&_texttotime=0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	if err := showAsUsual(db); err != nil {
		return nil, err
	}
	columns, order := "invocation_id, unixepoch(timestamp, 'subsec'), author, branch, content, actions, null", "timestamp DESC"
	switch g {
	case adktest.PS:
		columns, order = "invocation_id, timestamp, '', '', null, null, event_data", "timestamp DESC, rowid DESC"
	case adktest.P1, adktest.J1:
		columns = "invocation_id, 0, '', '', null, null, event_data"
	case adktest.K1:
		columns, order = "coalesce(invocation_id, ''), 0, '', '', null, null, event_data", "timestamp DESC, id DESC"
	}
	rows, err := db.Query("SELECT "+columns+" FROM events WHERE session_id = ? ORDER BY "+order, session)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var events []spoken
	for rows.Next() {
		var e spoken
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

func (e *spoken) readDocument(data []byte) error {
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
	for _, name := range []string{"rewind_before_invocation_id", "start_timestamp", "end_timestamp"} {
		data = bytes.ReplaceAll(data, []byte(members.InCamel(name)), []byte(name))
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
func (e *spoken) readActions(data []byte) error {
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
func (e *spoken) readContent(data []byte) error {
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
