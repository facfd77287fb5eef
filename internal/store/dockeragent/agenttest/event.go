package agenttest

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
