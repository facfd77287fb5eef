package events

import "github.com/sessctl/sessctl/internal/recording"

// kinds are the types of events and what they mean to the model. Source:
// docker/docker-agent, pkg/runtime/event.go, v1.20.0 to v1.32.3, and what later
// versions were seen to write. All others are OtherEvents: what screens show, and
// types that are not known.
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
	"model_fallback":         recording.Restarted,
}
