package session

import (
	"slices"
	"strings"
)

// SyntheticPrefix begins the text of every result that sessctl adds, because
// most stores have no field to mark one with.
const SyntheticPrefix = "[sessctl] "

// placeholder is a text that a runtime or client writes for a result that it
// does not have.
type placeholder struct {
	text string
	part bool // other words stand around it: the name of the tool, advice to the model
}

// placeholders are the texts, each with where it is written. What tells a real
// outcome is not among them (a person rejected the call, a time limit passed),
// nor what a real tool may answer as well: nothing, or a single ".".
var placeholders = []placeholder{
	// huggingface/tau src/tau_agent/tool_history.py
	{text: "Tool call interrupted by user", part: true},
	// pydantic/pydantic-ai pydantic_ai_slim/pydantic_ai/messages.py
	{text: "The tool call was interrupted before a result was produced."},
	// langchain-ai/deepagents middleware/patch_tool_calls.py
	{text: "was cancelled - another message came in before", part: true},
	// langchain-ai/deepagents, the same file, for arguments that do not parse
	{text: "could not be executed - arguments were malformed or truncated", part: true},
	// openclaw/openclaw src/agents/session-transcript-repair.ts; lossless-claw
	{text: "missing tool result in session history", part: true},
	// openai/codex codex-rs/core/src/context_manager/normalize.rs
	{text: "aborted"},
	// anomalyco/opencode packages/opencode/src/session/processor.ts
	{text: "Tool execution aborted", part: true},
	// anomalyco/opencode message-v2.ts, librefang/librefang session_repair.rs, RooCodeInc/Roo-Code validateToolResultIds.ts
	{text: "Tool execution was interrupted", part: true},
	// librefang/librefang crates/librefang-runtime/src/agent_loop/tool_call.rs
	{text: "[tool interrupted: turn aborted before this call could execute]"},
	// QwenLM/qwen-code packages/core/src/core/llm-chat.ts, before that geminiChat.ts
	{text: "Tool execution result was not recorded", part: true},
	// docker/docker-agent pkg/session/session.go; badlogic/pi-mono packages/ai transform-messages.ts
	{text: "No result provided"},
	// docker/docker-agent v1.7.3 pkg/model/provider/anthropic/client.go
	{text: "(tool execution failed)"},
	// BerriAI/litellm litellm_core_utils/prompt_templates
	{text: "Tool execution skipped/interrupted by user. No result provided for", part: true},
	// Claude Code, as its users quote it
	{text: "[Tool result missing due to internal error]"},
	// vertesia/llumiverse drivers/src
	{text: "[Tool interrupted: The user stopped the operation before", part: true},
	// strands-agents/sdk-python src/strands/tools/_tool_helpers.py
	{text: "Tool was interrupted."},
	// RooCodeInc/Roo-Code src/core/task/Task.ts, and Cline's other descendants
	{text: "Task was interrupted before this tool call could be completed", part: true},
}

// LongestPlaceholder is how long a text with a placeholder in it may be, in
// bytes: what is longer is real output that quotes one.
const LongestPlaceholder = 400

// IsPlaceholder reports whether the text of a result is a known stand-in for a
// result that its writer did not have.
func IsPlaceholder(text string) bool {
	if strings.HasPrefix(text, SyntheticPrefix) {
		return true
	}
	if len(text) > LongestPlaceholder {
		return false
	}
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(placeholders, func(p placeholder) bool { return text == p.text || p.part && strings.Contains(text, p.text) })
}
