package kagenttest

import (
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// snake is the event as adk-python's model_dump writes it: by field names, with
// everything that is not set.
func (e *event) snake() object {
	delta := e.delta
	if delta == nil {
		delta = object{}
	}
	return object{
		{"model_version", nil}, {"content", e.content(Python)}, {"grounding_metadata", nil}, {"partial", nil}, {"turn_complete", nil},
		{"finish_reason", nil}, {"error_code", nil}, {"error_message", nil}, {"interrupted", nil}, {"custom_metadata", nil},
		{"usage_metadata", nil}, {"live_session_resumption_update", nil}, {"input_transcription", nil}, {"output_transcription", nil},
		{"avg_logprobs", nil}, {"logprobs_result", nil}, {"cache_metadata", nil}, {"citation_metadata", nil},
		{"invocation_id", e.invocation}, {"author", e.author},
		{"actions", object{
			{"skip_summarization", nil}, {"state_delta", delta}, {"artifact_delta", object{}}, {"transfer_to_agent", nil}, {"escalate", nil},
			{"requested_auth_configs", object{}}, {"requested_tool_confirmations", e.confirmations()}, {"compaction", nil},
			{"end_of_agent", nil}, {"agent_state", nil}, {"rewind_before_invocation_id", nil},
		}},
		{"long_running_tool_ids", e.waiting()}, {"branch", nil}, {"id", e.id},
		{"timestamp", float64(e.made().UnixMicro()) / 1e6},
	}
}

// pascal is the event as adk-go writes it before 2.2: the fields of session.Event,
// which have no tags.
func (e *event) pascal() object {
	var asked any
	if len(e.asked) > 0 {
		asked = e.confirmations()
	}
	return object{
		{"Content", e.content(Go1)}, {"CitationMetadata", nil}, {"GroundingMetadata", nil}, {"UsageMetadata", nil}, {"CustomMetadata", nil},
		{"LogprobsResult", nil}, {"InputTranscription", nil}, {"OutputTranscription", nil}, {"ModelVersion", ""}, {"Partial", false},
		{"TurnComplete", e.role() == "model"}, {"Interrupted", false}, {"SessionResumptionHandle", ""}, {"ErrorCode", ""}, {"ErrorMessage", ""},
		{"FinishReason", ""}, {"AvgLogprobs", 0},
		{"ID", e.id}, {"Timestamp", e.made().Format(time.RFC3339Nano)}, {"InvocationID", e.invocation}, {"Branch", ""}, {"Author", e.author},
		{"Actions", object{
			{"StateDelta", object{}}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", asked},
			{"SkipSummarization", false}, {"TransferToAgent", ""}, {"Escalate", false},
		}},
		{"LongRunningToolIDs", e.waiting()},
	}
}

// camel is the event as adk-go writes it since 2.2: by tags, most of them with
// omitempty.
func (e *event) camel() object {
	var asked any
	if len(e.asked) > 0 {
		asked = e.confirmations()
	}
	return object{
		{"content", e.content(Go2)}, {"turnComplete", builder.OrNil(e.role() == "model")},
		{"id", e.id}, {"timestamp", e.made().Format(time.RFC3339Nano)}, {"invocationId", e.invocation}, {"author", e.author},
		{"actions", object{{"stateDelta", object{}}, {"artifactDelta", object{}}, {"requestedToolConfirmations", asked}}.Given()},
		{"longRunningToolIds", e.waiting()},
	}.Given()
}

// waiting are the ids of long-running calls, nil for none.
func (e *event) waiting() any {
	if e.waits == nil {
		return nil
	}
	return e.waits
}

// items are what the event says as input items of the Responses API.
func (e *event) items() list {
	var items list
	for _, p := range e.parts {
		switch {
		case p.call != nil:
			items = append(items, object{
				{"arguments", builder.Style{}.Text(p.call.args)}, {"call_id", p.call.id}, {"name", p.call.name}, {"type", "function_call"},
				{"id", "fc_" + e.id}, {"status", "completed"},
			})
		case p.response != nil:
			items = append(items, object{{"call_id", p.response.id}, {"output", builder.Style{}.Text(p.response.value)}, {"type", "function_call_output"}})
		case e.author == "user":
			items = append(items, object{{"content", p.text}, {"role", "user"}})
		default:
			said := object{{"annotations", list{}}, {"text", p.text}, {"type", "output_text"}}
			items = append(items, object{
				{"id", "msg_" + e.id}, {"content", list{said}}, {"role", "assistant"}, {"status", "completed"}, {"type", "message"},
			})
		}
	}
	return items
}

// wrapper is the document of kagent's package for the OpenAI Agents SDK.
func wrapper(at time.Time, items list) string {
	return builder.Style{Spaced: true}.Text(object{
		{"timestamp", at.Format("2006-01-02T15:04:05.000000+00:00")}, {"items", items}, {"type", "conversation_items"},
	})
}
