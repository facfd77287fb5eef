package kagent_test

import (
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// places holds every place that names the session of a call against the truth.
func (s *splitter) places(t tester, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	stored := func(query string, args ...any) (home string, data any) {
		var text string
		if err := db.QueryRow(query, args...).Scan(&home, &text); err != nil {
			t.Fatalf("%s %v: %v", query, args, err)
		}
		return home, decoded(t, text)
	}
	for _, call := range s.truth.Calls {
		if call.Task == "" {
			continue
		}
		child := s.child(call)
		for _, event := range append([]string{call.Marker}, call.Events...) {
			if event == "" || event == call.Marker && s.loose {
				continue
			}
			if home, _ := stored("select session_id, data from event where id = ? and user_id = ?", event, call.User); home != child {
				t.Errorf("event %s of call %s is in %s, not in %s", event, call.Call, home, child)
			}
		}
		home, task := stored("select session_id, data from task where id = ?", call.Task)
		if home != child {
			t.Errorf("task %s of call %s is in %s, not in %s", call.Task, call.Call, home, child)
		}
		for _, name := range []string{"contextId", "adk_session_id", "kagent_session_id"} {
			for _, value := range valuesOf(task, name) {
				if value != child {
					t.Errorf("%s is %v in task %s of call %s, which is in %s", name, value, call.Task, call.Call, child)
				}
			}
		}
		for _, event := range call.Responses {
			_, doc := stored("select session_id, data from event where id = ? and user_id = ?", event, call.User)
			answers(t, doc, call, child)
		}
		_, doc := stored("select session_id, data from task where id = ?", call.ParentTask)
		answers(t, doc, call, child)
	}
}

// answers makes sure that every answer to a call, and every stamp beside it, names a
// session.
func answers(t tester, doc any, call kagenttest.Worked, child string) {
	t.Helper()
	each(doc, func(object map[string]any) {
		if object["id"] == call.Call {
			if response, _ := object["response"].(map[string]any); response["subagent_session_id"] != nil && response["subagent_session_id"] != child {
				t.Errorf("the answer to call %s names %v, not %s", call.Call, response["subagent_session_id"], child)
			}
		}
		data, _ := object["data"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		if stamp := metadata["kagent_subagent_session_id"]; data["id"] == call.Call && stamp != nil && stamp != child {
			t.Errorf("call %s is stamped with %v, not with %s", call.Call, stamp, child)
		}
	})
}

// valuesOf are the values of members with a name, wherever they are.
func valuesOf(doc any, name string) (values []any) {
	each(doc, func(object map[string]any) {
		if value, ok := object[name]; ok {
			values = append(values, value)
		}
	})
	return values
}

// each visits all objects of a document.
func each(value any, visit func(object map[string]any)) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			each(element, visit)
		}
	case map[string]any:
		visit(v)
		for _, member := range v {
			each(member, visit)
		}
	}
}

// decoded is the document of a column, out of the string that it may be in.
func decoded(t tester, text string) (doc any) {
	t.Helper()
	if strings.HasPrefix(text, `"`) {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
