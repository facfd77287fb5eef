package events

import "github.com/sessctl/sessctl/internal/replay"

// kinds are the types of events and what they mean to the model. Source:
// docker/docker-agent, pkg/runtime/event.go, v1.20.0 to v1.32.3, and what later
// versions were seen to write. A type that is not here is an OtherEvent, too.
var kinds = map[string]replay.EventKind{
	"user_message":           replay.UserMessage,
	"stream_started":         replay.StreamStarted,
	"stream_stopped":         replay.StreamStopped,
	"agent_choice":           replay.Choice,
	"agent_choice_reasoning": replay.Reasoning,
	"partial_tool_call":      replay.PartialCall,
	"tool_call":              replay.CallStarted,
	"tool_call_confirmation": replay.CallStarted,
	"hook_blocked":           replay.CallStarted,
	"tool_call_response":     replay.CallAnswered,
	"message_added":          replay.MessageAdded,
	"sub_session_completed":  replay.ChildCompleted,
	"token_usage":            replay.TokenUsage,
	"session_title":          replay.TitleSet,
	"session_summary":        replay.Summarized,
	"agent_switching":        replay.Switched,
	"error":                  replay.Failed,

	"agent_info":             replay.OtherEvent,
	"authorization_event":    replay.OtherEvent,
	"connection_lost":        replay.OtherEvent,
	"connection_restored":    replay.OtherEvent,
	"elicitation_request":    replay.OtherEvent,
	"hook_finished":          replay.OtherEvent,
	"hook_started":           replay.OtherEvent,
	"max_iterations_reached": replay.OtherEvent,
	"mcp_init_finished":      replay.OtherEvent,
	"mcp_init_started":       replay.OtherEvent,
	"model_fallback":         replay.OtherEvent,
	"rag_indexing_completed": replay.OtherEvent,
	"rag_indexing_progress":  replay.OtherEvent,
	"rag_indexing_started":   replay.OtherEvent,
	"runtime_paused":         replay.OtherEvent,
	"session_compaction":     replay.OtherEvent, // its summary is an event of its own
	"session_plan_updated":   replay.OtherEvent,
	"shell":                  replay.OtherEvent,
	"team_info":              replay.OtherEvent,
	"tool_call_output":       replay.OtherEvent, // a piece of it, while the tool runs
	"toolset_info":           replay.OtherEvent,
	"warning":                replay.OtherEvent,
}
