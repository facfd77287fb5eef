package agenttest

import "bytes"

// EventForm says how a version words the events of its stream.
type EventForm uint8

// The forms of a stream (docker-agent.md 5).
const (
	WithoutIDs  EventForm = iota // until v1.32.0: pieces of answers carry no session id
	WithIDs                      // v1.32.1: they do
	WithDeltas                   // v1.34.0: arguments come in pieces, results name their call by its id
	WithReasons                  // 2026-06-25: errors carry a session id, and a stream says why it stopped
)

// EventStyle says how a stream is written.
type EventStyle struct {
	Form  EventForm
	SSE   bool   // as the API sends it, else one JSON text a line
	Title string // the title that the session gets in the middle of the stream, "" for none
}

// Events is the stream that the runtime emitted while it wrote the session. The
// stream of a process that was killed just stops; the next turn follows it, as
// in a file that a second run was appended to.
func (w *Written) Events(style EventStyle) []byte {
	var out bytes.Buffer
	write := func(e *event) {
		prefix, end := "", "\n"
		if style.SSE {
			prefix, end = "data: ", "\n\n"
		}
		out.WriteString(prefix)
		out.Write(encode(e))
		out.WriteString(end)
	}
	middle := len(w.events) / 2
	for i := range w.events {
		if i == middle && style.Title != "" {
			write(&event{Type: "session_title", SessionID: w.Root.ID, Title: style.Title, Timestamp: noTime})
		}
		e := w.events[i]
		e.inForm(style.Form)
		write(&e)
	}
	return out.Bytes()
}

// inForm words an event as a form has it.
func (e *event) inForm(form EventForm) {
	switch e.Type {
	case "agent_choice", "agent_choice_reasoning":
		if form < WithIDs {
			e.SessionID = ""
		}
	case "error":
		if form < WithReasons {
			e.SessionID = ""
		}
	case "stream_stopped":
		if form < WithReasons {
			e.Reason = ""
		}
	case "partial_tool_call":
		if form < WithDeltas {
			call := *e.ToolCall
			call.Function.Arguments = e.before + call.Function.Arguments
			e.ToolCall = &call
		} else if e.ToolCall.Function.Arguments != "" {
			e.ToolDefinition = nil
		}
	case "tool_call_response":
		if form >= WithDeltas {
			e.ToolCallID, e.ToolCall = e.ToolCall.ID, nil
		}
	}
}
