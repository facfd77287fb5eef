package opencode

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/column"
	"github.com/sessctl/sessctl/internal/store/table"
)

// content is an element of the content of a row of session_message.
type content struct {
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
	Command string           `json:"command"`
	Output  string           `json:"output"`
	Files   []struct {
		MIME string `json:"mime"`
		URI  string `json:"uri"`
	} `json:"files"`
	Time struct {
		Completed any `json:"completed"`
	} `json:"time"`
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Status  any    `json:"status"`
	} `json:"error"` // of an answer (packages/schema/src/session-error.ts; 1.18.33 has no status)
}

// readDraft takes the calls of a message for parts.
func (m *stored) readDraft() {
	var d drafted
	m.wrong, m.whole = decodeData(m.row, &d)
	m.info.Role = roleAssistant
	for _, raw := range d.Content {
		var c content
		if jsonscan.Exact.Unmarshal(raw, &c) == nil && c.Type == typeTool {
			p := c.toPart()
			p.row = table.Image{"id": column.Text(m.row["id"]) + "#" + c.ID, "data": string(raw)}
			m.parts = append(m.parts, p)
		}
	}
}

// toPart is a call as opencode 1 stores it. Arguments that have not arrived are a text. What
// the model is told of a call is its texts, or the error with all else.
func (c *content) toPart() part {
	p := part{Type: typeTool, Tool: c.Name, CallID: c.ID, State: state{Status: c.State.Status, Input: c.State.Input}}
	p.Metadata.Server = c.Provider.Executed
	if kind := p.State.Input.Kind(); kind == jsontext.KindString || len(p.State.Input) == 0 {
		p.State.Input = jsontext.Value("{}")
	}
	var told struct {
		Child string `json:"sessionID"`
	}
	_ = jsonscan.Exact.Unmarshal(c.State.Structured, &told)
	p.State.Metadata.Child = told.Child
	p.State.Error = `{"error":` + string(c.State.Error) + `,"content":` + string(c.State.Content) + `,"structured":` + string(c.State.Structured) + `}`
	var texts []struct {
		Text string `json:"text"`
	}
	_ = jsonscan.Exact.Unmarshal(c.State.Content, &texts)
	for i, said := range texts {
		if i > 0 {
			p.State.Output += "\n"
		}
		p.State.Output += said.Text
	}
	return p
}

// readDraftEvent reads an event of session_message.
func (m *message) readDraftEvent() []session.Fault {
	var d drafted
	_, _ = decodeData(m.row, &d)
	if p := m.eventPart(); p != nil {
		m.makeResult(p.callResult())
		m.Shared.Agent = d.Agent
		return nil
	}
	kind := column.View(m.row["type"])
	m.said.Reset(m.Role, d.Agent)
	m.addMeaning(kind, d.Text, d.Summary, d.Command, d.Output)
	m.plain, m.sends = true, false
	switch kind {
	case "user", "synthetic":
		m.Role = session.User
		m.addText(d.Text)
		for _, f := range d.Files {
			m.addMeaning(f.MIME, f.URI)
			m.addMedia(f.MIME, f.URI)
		}
	case "assistant":
		m.readAnswer(&d)
	case "system":
		m.Role = session.System
		m.addText(d.Text)
	case "shell":
		m.Role = session.User
		m.addText("$ " + d.Command + "\n" + d.Output)
	case "compaction":
		m.Role, m.Kind = session.User, session.Summary
		m.addText(d.Summary)
	case "skill", "agent-switched", "model-switched", "idle", "location-switched":
		m.Kind = session.Other
	default:
		m.Kind = session.Other
		return []session.Fault{{Kind: session.UnknownKind, Field: kind, Detail: fmt.Sprintf("the message is of the unknown type %.40q", kind)}}
	}
	m.Text = session.DigestOf(m.text)
	if m.Flags |= session.TextFlags(m.text); m.Kind == session.Message && strings.TrimSpace(m.text) == "" && len(m.Calls) == 0 && !m.HasBlock(session.MediaBlock) {
		m.Flags |= session.Blank | session.Skipped // which the core sends to nobody
	}
	if m.plain {
		m.Blocks = nil
	}
	return nil
}

// readAnswer reads a message of the assistant.
func (m *message) readAnswer(d *drafted) {
	m.Role, m.Shared.Agent, m.Shared.Model = session.Assistant, d.Agent, d.Model.ID
	if d.Time.Completed == nil {
		m.Flags |= session.Unfinished
	}
	if e := d.Error; e != nil && e.Type != "aborted" {
		status, _ := e.Status.(float64)
		m.Shared.Refusal = session.RefusalOf(int(status), e.Message)
	}
	calls := m.parts
	for _, raw := range d.Content {
		var c content
		if jsonscan.Exact.Unmarshal(raw, &c) != nil {
			continue
		}
		m.addMeaning(c.Type, c.ID, c.Name, c.Text)
		switch {
		case c.Type == typeText && c.Text != "": // an empty one is not sent
			m.addText(c.Text)
		case c.Type == typeReasoning:
			m.addReasoning(c.Text, signed{})
		case c.Type == typeTool:
			m.addCall(&calls[0])
			calls = calls[1:]
		}
	}
}
