package dockeragent

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The legacy column (2.4) as docker agent encodes it: the order of the fields
// is the order of the keys.
type (
	legacyItem struct {
		Message    *legacyMessage `json:"message,omitempty"`
		SubSession *legacySession `json:"sub_session,omitempty"`
		Summary    string         `json:"summary,omitempty"`
	}

	legacyMessage struct {
		AgentName string          `json:"agentName"`
		Message   json.RawMessage `json:"message"`
		Implicit  bool            `json:"implicit,omitempty"`
	}

	legacySession struct {
		ID                  string          `json:"id"`
		Title               string          `json:"title"`
		Messages            []legacyItem    `json:"messages"`
		CreatedAt           time.Time       `json:"created_at"`
		ToolsApproved       bool            `json:"tools_approved"`
		Thinking            bool            `json:"thinking"`
		HideToolResults     bool            `json:"hide_tool_results"` // never stored in a column
		WorkingDir          string          `json:"working_dir,omitempty"`
		SendUserMessage     bool            // without a name of its own upstream, too
		MaxIterations       int64           `json:"max_iterations"`
		Starred             bool            `json:"starred"`
		InputTokens         int64           `json:"input_tokens"`
		OutputTokens        int64           `json:"output_tokens"`
		Cost                float64         `json:"cost"`
		Permissions         json.RawMessage `json:"permissions,omitempty"`
		AgentModelOverrides json.RawMessage `json:"agent_model_overrides,omitempty"`
		CustomModelsUsed    json.RawMessage `json:"custom_models_used,omitempty"`
	}
)

// load takes a column of the session's row. It is false for a value that docker
// agent cannot scan.
func (s *legacySession) load(column string, v driver.Value) bool {
	if need, needed := required[column]; needed && (v == nil || need.fits(v) != "") {
		return false
	}
	text := textOf(v)
	var err error
	switch column {
	case "id":
		s.ID = text
	case "title":
		s.Title = text
	case "created_at":
		s.CreatedAt, err = time.Parse(time.RFC3339, text)
	case "tools_approved":
		s.ToolsApproved, _ = isTrue(v)
	case "thinking":
		s.Thinking, _ = isTrue(v)
	case "working_dir":
		s.WorkingDir = text
	case "send_user_message":
		s.SendUserMessage, _ = isTrue(v)
	case "max_iterations":
		s.MaxIterations, err = strconv.ParseInt(text, 10, 64)
	case "starred":
		s.Starred, _ = isTrue(v)
	case "input_tokens":
		s.InputTokens, err = strconv.ParseInt(text, 10, 64)
	case "output_tokens":
		s.OutputTokens, err = strconv.ParseInt(text, 10, 64)
	case "cost":
		s.Cost, err = strconv.ParseFloat(text, 64)
	case "permissions":
		s.Permissions = unlessEmpty(text)
	case "agent_model_overrides":
		s.AgentModelOverrides = unlessEmpty(text)
	case "custom_models_used":
		s.CustomModelsUsed = unlessEmpty(text)
	}
	return err == nil
}

// unlessEmpty is JSON text, nil for what an encoder leaves out.
func unlessEmpty(text string) json.RawMessage {
	switch text {
	case "", "{}", "[]", "null":
		return nil
	}
	return json.RawMessage(text)
}

// reloaded is a message as docker agent encodes it after it loaded it: the
// schemas of tool definitions go through a map, which sorts their keys. Unlike
// docker agent it keeps keys that docker agent does not know.
func reloaded(stored []byte) (json.RawMessage, error) {
	var m chatMessage
	if err := json.Unmarshal(stored, &m); err != nil {
		return nil, err
	}
	if len(m.ToolDefinitions) == 0 {
		return stored, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(stored), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out []byte
	last := 0
	for {
		token, err := d.ReadToken()
		if err != nil { // the end
			return append(out, stored[last:]...), nil
		}
		if token.Kind() != '"' || !isSchema(d) {
			continue
		}
		raw, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		var schema any
		if err := json.Unmarshal(raw, &schema); err != nil {
			return nil, err
		}
		sorted, err := json.Marshal(schema)
		if err != nil {
			return nil, err
		}
		end := int(d.InputOffset())
		out = append(append(out, stored[last:end-len(raw)]...), sorted...)
		last = end
	}
}

// isSchema reports whether the decoder stands behind the key of a schema.
func isSchema(d *jsontext.Decoder) bool {
	if d.StackDepth() != 3 {
		return false
	}
	pointer := d.StackPointer()
	if key := pointer.LastToken(); key != "parameters" && key != "outputSchema" {
		return false
	}
	return pointer.Parent().Parent() == "/tool_definitions"
}
