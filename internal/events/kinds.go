package events

import "github.com/sessctl/sessctl/internal/recording"

// kinds are the types of events and what they mean to the model. Source:
// docker/docker-agent, pkg/runtime/event.go, v1.20.0 to v1.32.3, and what later
// versions were seen to write. A type that is not here is an OtherEvent, too.
var kinds = map[string]recording.EventKind{
	"user_message":           recording.UserMessage,
	"stream_started":         recording.StreamStarted,
	"stream_stopped":         recording.StreamStopped,
	"agent_choice":           recording.Choice,
	"agent_choice_reasoning": recording.Reasoning,
	"partial_tool_call":      recording.PartialCall,
	"tool_call":              recording.CallStarted,
	"tool_call_confirmation": recording.CallStarted,
	"hook_blocked":           recording.CallStarted,
	"tool_call_response":     recording.CallAnswered,
	"message_added":          recording.MessageAdded,
	"sub_session_completed":  recording.ChildCompleted,
	"token_usage":            recording.TokenUsage,
	"session_title":          recording.TitleSet,
	"session_summary":        recording.Summarized,
	"agent_switching":        recording.Switched,
	"error":                  recording.Failed,

	"agent_info":             recording.OtherEvent,
	"authorization_event":    recording.OtherEvent,
	"connection_lost":        recording.OtherEvent,
	"connection_restored":    recording.OtherEvent,
	"elicitation_request":    recording.OtherEvent,
	"hook_finished":          recording.OtherEvent,
	"hook_started":           recording.OtherEvent,
	"max_iterations_reached": recording.OtherEvent,
	"mcp_init_finished":      recording.OtherEvent,
	"mcp_init_started":       recording.OtherEvent,
	"model_fallback":         recording.OtherEvent,
	"rag_indexing_completed": recording.OtherEvent,
	"rag_indexing_progress":  recording.OtherEvent,
	"rag_indexing_started":   recording.OtherEvent,
	"runtime_paused":         recording.OtherEvent,
	"session_compaction":     recording.OtherEvent, // its summary is an event of its own
	"session_plan_updated":   recording.OtherEvent,
	"shell":                  recording.OtherEvent,
	"team_info":              recording.OtherEvent,
	"tool_call_output":       recording.OtherEvent, // a piece of it, while the tool runs
	"toolset_info":           recording.OtherEvent,
	"warning":                recording.OtherEvent,
}
