package opencode

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
)

// call is a call in the content of a row of session_message, with its result.
type call struct {
	raw jsontext.Value // all of it

	Type     string `json:"type"`
	ID       string `json:"id"`
	Name     string `json:"name"`
	Text     string `json:"text"`
	Provider struct {
		Executed bool `json:"executed"`
	} `json:"provider"`
	State struct {
		Status     string         `json:"status"`
		Input      jsontext.Value `json:"input"`
		Content    jsontext.Value `json:"content"`
		Structured jsontext.Value `json:"structured"`
		Error      jsontext.Value `json:"error"`
	} `json:"state"`
}

// drafted is what is read of the data of a row of session_message, whatever its type.
type drafted struct {
	Text  string `json:"text"`
	Agent string `json:"agent"`
	Model struct {
		ID string `json:"id"`
	} `json:"model"`
	Content []jsontext.Value `json:"content"`
	Summary string           `json:"summary"`
	Status  string           `json:"status"`
	Command string           `json:"command"`
	Output  string           `json:"output"`
	Files   []struct {
		MIME string `json:"mime"`
		URI  string `json:"uri"`
	} `json:"files"`
	Time struct {
		Completed any `json:"completed"`
	} `json:"time"`
}

// readDraft finds the calls of a message.
func (m *stored) readDraft() {
	var d drafted
	if js.Unmarshal(column.Bytes(m.row["data"]), &d) != nil {
		return // draft tells of it
	}
	for _, raw := range d.Content {
		c := call{raw: raw}
		if js.Unmarshal(raw, &c) == nil && c.Type == typeTool {
			m.calls = append(m.calls, c)
		}
	}
}

func (c *call) final() bool {
	return !c.Provider.Executed && (c.State.Status == statusCompleted || c.State.Status == statusError)
}

// draft reads an event of session_message.
func (m *message) draft() []session.Fault {
	var d drafted
	if err := js.Unmarshal(column.Bytes(m.row["data"]), &d); err != nil {
		return []session.Fault{m.broken(explain(err), true)}
	}
	if m.nth > 0 {
		m.result(m.calls[m.nth-1].result())
		m.Agent = d.Agent
		return nil
	}
	kind := column.View(m.row["type"])
	m.said.Reset(m.Role, d.Agent)
	m.add(kind, d.Text, d.Summary, d.Command, d.Output)
	m.plain, m.sends = true, false
	switch kind {
	case "user", "synthetic":
		m.Role = session.User
		m.write(d.Text)
		for _, f := range d.Files {
			m.add(f.MIME, f.URI)
			m.media(f.MIME, f.URI)
		}
	case "assistant":
		m.answer(&d)
	case "system":
		m.Role = session.System
		m.write(d.Text)
	case "shell":
		m.Role = session.User
		m.write("$ " + d.Command + "\n" + d.Output)
	case "compaction":
		m.Role, m.Kind = session.User, session.Summary
		m.write(d.Summary)
	case "skill", "agent-switched", "model-switched", "idle", "location-switched":
		m.Kind = session.Other
	default:
		m.Kind = session.Other
		return []session.Fault{{Kind: session.UnknownKind, Field: kind, Detail: fmt.Sprintf("the message is of the unknown type %.40q", kind)}}
	}
	m.Text = session.DigestOf(m.text)
	if m.Flags |= session.TextFlags(m.text); m.Kind == session.Message && strings.TrimSpace(m.text) == "" && len(m.Calls) == 0 && !m.Has(session.MediaBlock) {
		m.Flags |= session.Blank | session.Skipped // which the core sends to nobody
	}
	if m.plain {
		m.Blocks = nil
	}
	return nil
}

// answer reads a message of the assistant.
func (m *message) answer(d *drafted) {
	m.Role, m.Agent, m.Model = session.Assistant, d.Agent, d.Model.ID
	if d.Time.Completed == nil {
		m.Flags |= session.Unfinished
	}
	for _, raw := range d.Content {
		c := call{}
		if js.Unmarshal(raw, &c) != nil {
			continue
		}
		m.add(c.Type, c.ID, c.Name, c.Text)
		switch {
		case c.Type == typeText && c.Text != "": // an empty one is not sent
			m.write(c.Text)
		case c.Type == typeReasoning:
			m.think(c.Text, signed{})
		case c.Type == typeTool:
			m.ask(&c)
		}
	}
}

// ask adds a call. Arguments that have not arrived are a text.
func (m *message) ask(c *call) {
	args := string(c.State.Input)
	if c.State.Input.Kind() == jsontext.KindString || args == "" {
		args = "{}"
	}
	asked := session.Call{ID: c.ID, Name: c.Name, Args: args, Form: session.FormOf(args), Server: c.Provider.Executed}
	if c.Name == "subagent" || c.Name == "task" {
		var told struct {
			Child string `json:"sessionID"`
		}
		_ = js.Unmarshal(c.State.Structured, &told)
		asked.Delegation = delegation(c.State.Input, told.Child)
	}
	m.add(args)
	m.Blocks = append(m.Blocks, session.Block{Kind: session.CallBlock, Nth: len(m.Calls)})
	m.Calls = append(m.Calls, asked)
	m.sends, m.Size = true, m.Size+int64(len(args))
}

// result is what the model is told of a call: its texts, or the error with all else.
func (c *call) result() session.Result {
	r := session.Result{CallID: c.ID, Name: c.Name, IsError: c.State.Status == statusError}
	if r.IsError {
		r.Text = `{"error":` + string(c.State.Error) + `,"content":` + string(c.State.Content) + `,"structured":` + string(c.State.Structured) + `}`
	} else {
		var content []struct {
			Text string `json:"text"`
		}
		_ = js.Unmarshal(c.State.Content, &content)
		for i, part := range content {
			if i > 0 {
				r.Text += "\n"
			}
			r.Text += part.Text
		}
	}
	r.Digest, r.Synthetic = session.DigestOf(r.Text), session.IsPlaceholder(r.Text)
	return r
}
