package dockeragent

import (
	"encoding/json"
	"time"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// marker is the value of the key "sessctl" in the messages that a repair
// writes. docker agent passes over keys that it does not know.
const marker = `{"synthetic":true}`

// newMessage is a message that a repair writes. The order of the fields is that
// of docker agent's keys (2.3), and encoding/json encodes as it does.
type newMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
	CreatedAt  string          `json:"created_at,omitempty"`
	Marker     json.RawMessage `json:"sessctl"`
}

// compose is the record of a new message or result, whose body is complete.
func compose(it *session.Item) ([]byte, error) {
	m := newMessage{Role: it.Role.String(), CreatedAt: stamp(it.Time), Marker: json.RawMessage(marker)}
	switch {
	case it.Kind != session.Message || it.Role == session.Assistant || it.Role == session.NoRole || len(it.Calls) > 0:
		return nil, problem.New(problem.RolledBack, "", "a repair cannot add an item of kind %s and role %q to a docker agent store", it.Kind, it.Role)
	case it.Role == session.Tool && len(it.Results) != 1:
		return nil, problem.New(problem.RolledBack, "", "a tool message of docker agent holds one result, not %d", len(it.Results))
	case it.Role == session.Tool:
		r := &it.Results[0]
		m.Content, m.ToolCallID, m.IsError = r.Text, r.CallID, r.IsError
	case it.Body != nil:
		m.Content = it.Body.Text
	}
	return json.Marshal(m)
}

// stamp is a time as docker agent writes it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
