package agenttest

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

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
	e.Timestamp = or(e.Timestamp, st.db.now.Format(time.RFC3339Nano))
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

func (st *stream) model(agent string) string { return or(st.models[agent], modelDefault) }

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
