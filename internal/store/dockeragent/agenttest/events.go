package agenttest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

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

// event is one event of a stream. The order of the fields is the order of the
// keys in every event that has them (docker-agent.md 5).
type event struct {
	Type string `json:"type"`

	Message         string          `json:"message,omitempty"`
	Content         string          `json:"content,omitempty"`
	ToolCall        *ToolCall       `json:"tool_call,omitempty"`
	ToolCallID      string          `json:"tool_call_id,omitempty"` // v1.34.0
	ToolDefinition  *ToolDefinition `json:"tool_definition,omitempty"`
	Response        string          `json:"response,omitempty"`
	Result          *toolResult     `json:"result,omitempty"`
	Switching       *bool           `json:"switching,omitempty"`
	From            string          `json:"from_agent,omitempty"`
	To              string          `json:"to_agent,omitempty"`
	ParentSession   string          `json:"parent_session_id,omitempty"`
	SubSession      *legacySession  `json:"sub_session,omitempty"`
	AvailableAgents []agentDetails  `json:"available_agents,omitempty"`
	CurrentAgent    string          `json:"current_agent,omitempty"`
	AvailableTools  *int            `json:"available_tools,omitempty"`
	Loading         *bool           `json:"loading,omitempty"`

	SessionID       string      `json:"session_id,omitempty"`
	Error           string      `json:"error,omitempty"`
	Reason          string      `json:"reason,omitempty"` // of a stream_stopped, 2026-06
	SessionPosition *int        `json:"session_position,omitempty"`
	Title           string      `json:"title,omitempty"`
	Summary         string      `json:"summary,omitempty"`
	FirstKept       int64       `json:"first_kept_entry,omitempty"`
	Status          string      `json:"status,omitempty"`
	Usage           *tokenUsage `json:"usage,omitempty"`

	AgentName   string  `json:"agent_name,omitempty"`
	Model       string  `json:"model,omitempty"`
	Description *string `json:"description,omitempty"`
	Timestamp   string  `json:"timestamp"`

	before string // of a partial_tool_call: the arguments that came before
}

// toolResult is what a tool returned. Its keys are spelled otherwise than a
// message's.
type toolResult struct {
	Output  string `json:"output"`
	IsError bool   `json:"isError,omitempty"`
}

type agentDetails struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Provider    string `json:"provider"`
	Model       string `json:"model"`
}

// tokenUsage counts the tokens of a session, and of its last answer.
type tokenUsage struct {
	InputTokens   int64         `json:"input_tokens"`
	OutputTokens  int64         `json:"output_tokens"`
	ContextLength int64         `json:"context_length"`
	ContextLimit  int64         `json:"context_limit"`
	Cost          float64       `json:"cost"`
	LastMessage   *messageUsage `json:"last_message,omitempty"`
}

// messageUsage has two keys in capitals.
type messageUsage struct {
	Usage
	Cost  float64
	Model string
}

// subSession is a conversation as the stream has it, with everything below it.
func (db *DB) subSession(c *conversation) *legacySession {
	sub := db.legacySession(&c.row)
	sub.Messages = []legacyItem{}
	for _, e := range c.entries {
		switch {
		case e.child != nil:
			sub.Messages = append(sub.Messages, legacyItem{SubSession: db.subSession(e.child)})
		case e.message != nil:
			sub.Messages = append(sub.Messages, legacyItem{Message: &legacyMessage{e.agent, encode(e.message), e.implicit}})
		default:
			sub.Messages = append(sub.Messages, legacyItem{Summary: e.summary.Text})
		}
	}
	return sub
}

// noTime is the time of events that the runtime gives none.
const noTime = "0001-01-01T00:00:00Z"

// stream collects what the runtime emits during a run, with all that
// any version tells; Written.Events says it in the words of one.
type stream struct {
	db      *DB
	models  map[string]string
	team    []string // everybody who spoke so far
	events  []event
	waiting []event // tokens of background agents, told at the end of a turn

	pause func() // lets other calls of a parallel batch go on; nil outside one
}

func (st *stream) emit(e event) {
	e.Timestamp = cmp.Or(e.Timestamp, st.db.now.Format(time.RFC3339Nano))
	st.events = append(st.events, e)
	if st.pause != nil {
		st.pause()
	}
}

// opening is what a run tells of itself before it starts.
func (st *stream) opening(c *conversation) {
	st.info(c.agent)
	if !slices.Contains(st.team, c.agent) {
		st.team = append(st.team, c.agent)
	}
	var agents []agentDetails
	for _, name := range st.team {
		provider, model, _ := strings.Cut(st.model(name), "/")
		agents = append(agents, agentDetails{Name: name, Provider: provider, Model: model})
	}
	st.emit(event{Type: "team_info", AvailableAgents: agents, CurrentAgent: c.agent, AgentName: c.agent})
	st.tools(c)
}

func (st *stream) model(agent string) string { return cmp.Or(st.models[agent], modelDefault) }

func (st *stream) info(agent string) {
	st.emit(event{Type: "agent_info", AgentName: agent, Model: st.model(agent), Description: new(string)})
}

// tools is what comes before every request to a model.
func (st *stream) tools(c *conversation) {
	st.emit(event{Type: "mcp_init_started", AgentName: c.agent})
	st.emit(event{Type: "mcp_init_finished", AgentName: c.agent})
	count := 1
	st.emit(event{Type: "toolset_info", AvailableTools: &count, Loading: new(bool), AgentName: c.agent})
}

func (st *stream) user(c *conversation, text string) {
	position := len(c.entries) - 1
	st.emit(event{Type: "user_message", Message: text, SessionID: c.row.ID, SessionPosition: &position})
}

func (st *stream) started(c *conversation) {
	st.emit(event{Type: "stream_started", SessionID: c.row.ID, AgentName: c.agent})
}

// stopped ends the stream of a session; the tokens of what runs in the
// background may come at any time, here at the end of a turn.
func (st *stream) stopped(c *conversation, reason string) {
	if c.caller == nil {
		for _, e := range st.waiting {
			st.emit(e)
		}
		st.waiting = nil
	}
	st.emit(event{Type: "stream_stopped", SessionID: c.row.ID, Reason: reason, AgentName: c.agent})
}

func (st *stream) failed(c *conversation, err modelError) {
	st.emit(event{Type: "error", SessionID: c.row.ID, Error: string(err), Timestamp: noTime})
}

// answering is what a model says, word by word.
func (st *stream) answering(c *conversation, s *Step) {
	for _, said := range []struct{ kind, text string }{{"agent_choice_reasoning", s.Reasoning}, {"agent_choice", s.Text}} {
		for piece := range strings.SplitAfterSeq(said.text, " ") {
			if piece != "" {
				st.emit(event{Type: said.kind, Content: piece, SessionID: c.row.ID, AgentName: c.agent})
			}
		}
	}
}

// calling is how the calls of an answer arrive: their names first, then their
// arguments in two pieces.
func (st *stream) calling(c *conversation, calls []ToolCall) {
	definitions := Define(calls)
	for i := range calls {
		name, args := calls[i], calls[i].Function.Arguments
		middle := len(args) / 2
		for middle > 0 && !utf8.RuneStart(args[middle]) {
			middle--
		}
		before := ""
		for _, piece := range []string{"", args[:middle], args[middle:]} {
			call := name
			call.Function.Arguments = piece
			st.emit(event{Type: "partial_tool_call", ToolCall: &call, ToolDefinition: &definitions[i], AgentName: c.agent, before: before})
			before += piece
		}
	}
}

func (st *stream) call(agent string, call *ToolCall) {
	st.emit(event{Type: "tool_call", ToolCall: call, ToolDefinition: &Define([]ToolCall{*call})[0], AgentName: agent})
}

func (st *stream) response(agent string, call *ToolCall, m *Message) {
	st.emit(event{
		Type: "tool_call_response", ToolCall: call, ToolDefinition: &Define([]ToolCall{*call})[0],
		Response: m.Content, Result: &toolResult{m.Content, m.IsError}, AgentName: agent,
	})
}

func (st *stream) added(c *conversation, e *entry) {
	st.emit(event{Type: "message_added", SessionID: c.row.ID, AgentName: e.agent})
}

// tokens counts the tokens of a session; usage is that of the last answer, nil
// when the model told none.
func (st *stream) tokens(c *conversation, usage *Usage) {
	row := &c.row
	count := &tokenUsage{InputTokens: row.InputTokens, OutputTokens: row.OutputTokens, ContextLength: row.InputTokens + row.OutputTokens}
	if usage != nil {
		count.LastMessage = &messageUsage{Usage: *usage, Model: st.model(c.agent)}
	}
	st.emit(event{Type: "token_usage", SessionID: row.ID, Usage: count, AgentName: c.agent})
}

// background is a session of which only the tokens are told, and late.
func (st *stream) background(session, agent string) {
	count := &tokenUsage{InputTokens: 40, OutputTokens: 2, ContextLength: 42}
	st.waiting = append(st.waiting, event{Type: "token_usage", SessionID: session, Usage: count, AgentName: agent})
}

func (st *stream) switched(start bool, from, to string) {
	st.emit(event{Type: "agent_switching", Switching: &start, From: from, To: to, AgentName: to})
	st.info(to)
}

func (st *stream) completed(c, child *conversation) {
	st.emit(event{Type: "sub_session_completed", ParentSession: c.row.ID, SubSession: st.db.subSession(child), AgentName: c.agent})
}

func (st *stream) summarized(c *conversation, s *Summary) {
	st.emit(event{Type: "session_compaction", SessionID: c.row.ID, Status: "started", AgentName: c.agent})
	st.emit(event{Type: "session_summary", SessionID: c.row.ID, Summary: s.Text, FirstKept: s.FirstKept, AgentName: c.agent})
	st.emit(event{Type: "session_compaction", SessionID: c.row.ID, Status: "completed", AgentName: c.agent})
}
