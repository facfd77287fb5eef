package kagenttest

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// event is an event before a runtime gives it a form.
type event struct {
	id, invocation, author string
	at                     time.Time // when the row is made; the runtime made the event a little before
	parts                  []part
	waits                  []string // ids of long-running calls
	delta                  object   // what it changes of the state
	asked                  []question
}

// part is a text, a call or a response.
type part struct {
	text     string
	call     *call
	response *response
	stamp    string // the session that the call will use, where the caller knows it
}

type call struct {
	id, name string
	args     object
}

type response struct {
	id, name string
	value    object
}

// question is what a person is asked about a call.
type question struct {
	about   *call
	hint    string
	payload object
	callID  string // of the adk_request_confirmation call
}

const confirmation = "adk_request_confirmation"

// madeAt is when the runtime made the event.
func (e *event) madeAt() time.Time { return e.at.Add(-1700 * time.Microsecond) }

// contentRole is that of the content.
func (e *event) contentRole() string {
	if e.author == "user" || len(e.parts) > 0 && e.parts[0].response != nil {
		return "user"
	}
	return "model"
}

// documentText is the document of the event in a dialect.
func (e *event) documentText(d Dialect) string {
	switch d {
	case Go1:
		return asGo.Text(e.pascalObject())
	case Go2:
		return asGo.Text(e.camelObject())
	}
	return builder.Style{}.Text(e.snakeObject())
}

// contentObject is what the event says; nulls are written by pydantic only.
func (e *event) contentObject(d Dialect) any {
	if e.parts == nil {
		return nil
	}
	var parts list
	for _, p := range e.parts {
		if d.isCamel() {
			parts = append(parts, p.camelObject())
		} else {
			parts = append(parts, p.snakeObject())
		}
	}
	return object{{"parts", parts}, {"role", e.contentRole()}}
}

func (p part) camelObject() object {
	switch {
	case p.call != nil:
		return object{{"functionCall", object{{"id", p.call.id}, {"args", p.call.args}, {"name", p.call.name}}}}
	case p.response != nil:
		return object{{"functionResponse", object{{"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}}}
	}
	return object{{"text", p.text}}
}

// snakeObject is a part as pydantic writes it.
func (p part) snakeObject() object {
	var text, called, answered any
	switch {
	case p.call != nil:
		called = object{{"id", p.call.id}, {"args", p.call.args}, {"name", p.call.name}, {"partial_args", nil}, {"will_continue", nil}}
	case p.response != nil:
		answered = object{{"will_continue", nil}, {"scheduling", nil}, {"parts", nil}, {"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}
	default:
		text = p.text
	}
	return object{
		{"media_resolution", nil}, {"code_execution_result", nil}, {"executable_code", nil}, {"file_data", nil},
		{"function_call", called}, {"function_response", answered}, {"inline_data", nil}, {"text", text},
		{"thought", nil}, {"thought_signature", nil}, {"video_metadata", nil},
	}
}

// confirmationsByCall are what persons are asked, by the ids of the calls.
func (e *event) confirmationsByCall() object {
	asked := object{}
	for _, q := range e.asked {
		asked = append(asked, member{q.about.id, q.askedObject()})
	}
	return asked
}

// askedObject is the question as the tool asked it.
func (q question) askedObject() object {
	var payload any
	if q.payload != nil {
		payload = q.payload
	}
	return object{{"hint", q.hint}, {"confirmed", false}, {"payload", payload}}
}

// taskDocument is the A2A task of a request.
func (w *world) taskDocument(v *visit) string {
	d := taskWriter{visit: v, v1: w.form.Shape == V1}
	status, history, artifacts := d.taskStatus(), d.taskHistory(), d.taskArtifacts()
	o := object{{"artifacts", artifacts}, {"contextId", v.session.ID}, {"history", history}, {"id", v.task}}
	if !d.v1 {
		o = append(o, member{"kind", "task"}, member{"metadata", d.taskMetadata()})
	}
	return asGo.Text(append(o, member{"status", status}))
}

// taskWriter writes one task in one of the shapes.
type taskWriter struct {
	*visit
	v1 bool
}

// metadataPrefix is what names of metadata begin with: the Python runtime of released
// versions has its own.
func (d taskWriter) metadataPrefix() string {
	if d.dialect.isCamel() || d.v1 {
		return "adk_"
	}
	return "kagent_"
}

// taskMetadata is the metadata of a task of a released version. adk-go's converter says no
// more than the app there; runtimes without invocations have none to name.
func (d taskWriter) taskMetadata() object {
	if d.dialect.isCamel() {
		return object{{d.metadataPrefix() + "app_name", d.session.Agent}}
	}
	return d.eventMetadata(d.log[len(d.log)-1])
}

// eventMetadata is what a message or an artifact says of its event.
func (d taskWriter) eventMetadata(e *event) object {
	o := object{
		{d.metadataPrefix() + "app_name", d.session.Agent}, {d.metadataPrefix() + "user_id", d.session.User}, {d.metadataPrefix() + "session_id", d.session.ID},
	}
	if d.dialect.hasEvents() && d.dialect != OpenAI {
		o = append(o, member{d.metadataPrefix() + "invocation_id", e.invocation}, member{d.metadataPrefix() + "author", e.author})
	}
	return o
}

func (d taskWriter) taskStatus() object {
	state, at := d.state, d.now.Format("2006-01-02T15:04:05.000000+00:00")
	if d.v1 {
		state, at = "TASK_STATE_"+strings.ToUpper(strings.ReplaceAll(state, "-", "_")), d.now.Format(time.RFC3339Nano)
	}
	o := object{{"state", state}, {"timestamp", at}}
	if d.state == inputRequired {
		o = append(o, member{"message", d.eventMessage(d.log[len(d.log)-1])})
	}
	return o
}

// taskHistory are the requests and, of released versions, a message for each event. The
// last one becomes the status while the task waits for a person.
func (d taskWriter) taskHistory() list {
	said := d.log
	if d.state == inputRequired {
		said = said[:len(said)-1]
	}
	var messages list
	for _, e := range said {
		if e.author == "user" || !d.v1 {
			messages = append(messages, d.eventMessage(e))
		}
	}
	return messages
}

func (d taskWriter) eventMessage(e *event) object {
	role, kind := "agent", any("message")
	if e.author == "user" {
		role = "user"
	}
	if d.v1 {
		role, kind = "ROLE_"+strings.ToUpper(role), nil
	}
	return object{
		{"contextId", d.session.ID}, {"kind", kind}, {"messageId", e.id}, {"metadata", d.eventMetadata(e)}, {"parts", d.eventParts(e)},
		{"role", role}, {"taskId", d.task},
	}.WithoutEmpty()
}

// taskArtifacts are one for each event, or one with the answer.
func (d taskWriter) taskArtifacts() list {
	artifacts := list{}
	for _, e := range d.log {
		last := e == d.log[len(d.log)-1] && d.state == completed
		if e.author != "user" && (d.v1 || last) {
			artifacts = append(artifacts, object{{"artifactId", "a-" + e.id}, {"metadata", d.eventMetadata(e)}, {"parts", d.eventParts(e)}})
		}
	}
	return artifacts
}

func (d taskWriter) eventParts(e *event) list {
	var parts list
	for _, p := range e.parts {
		o := d.partObject(p)
		if !d.v1 {
			kind := "data"
			if p.call == nil && p.response == nil {
				kind = "text"
			}
			o = append(object{{"kind", kind}}, o...)
		}
		parts = append(parts, o)
	}
	return parts
}

func (d taskWriter) partObject(p part) object {
	kind := d.metadataPrefix() + "type"
	switch {
	case p.call != nil:
		about := object{{kind, "function_call"}}
		if p.call.name == confirmation {
			about = append(about, member{d.metadataPrefix() + "is_long_running", true})
		}
		if p.stamp != "" {
			about = append(about, member{"kagent_subagent_session_id", p.stamp})
		}
		return object{{"data", object{{"id", p.call.id}, {"name", p.call.name}, {"args", p.call.args}}}, {"metadata", about}}
	case p.response != nil:
		data := object{{"id", p.response.id}, {"name", p.response.name}, {"response", p.response.value}}
		return object{{"data", data}, {"metadata", object{{kind, "function_response"}}}}
	}
	return object{{"text", p.text}}
}

// What documents are made of.
type (
	object = builder.Object
	member = builder.Member
	list   = builder.List
)

// asGo is how Go's json.Marshal spells JSON.
var asGo = builder.Style{HTML: true}

// Form is how a database is written. The zero Form is none: take one of Forms.
type Form struct {
	Generation Generation
	Dialect    Dialect // of agents for which a program names no other
	Shape      Shape
	Times      Times
	Quoted     bool // documents are JSON strings that hold the JSON
}

// Dialect is how an agent's runtime writes its events.
type Dialect string

// The runtimes. LangGraph and CrewAI leave no events: they keep what they know in
// tables of their own.
const (
	Python    Dialect = "python"    // adk-python: snake case, nulls included
	Go1       Dialect = "go 1"      // adk-go before 2.2: names of Go's fields outside, camel case within the content
	Go2       Dialect = "go 2"      // adk-go since 2.2: camel case
	OpenAI    Dialect = "openai"    // OpenAI Agents SDK: lists of items of the Responses API
	LangGraph Dialect = "langgraph" // lg_checkpoint
	CrewAI    Dialect = "crewai"    // crewai_flow_state
)

// Shape is how A2A tasks are written.
type Shape string

// The shapes. V1 has an artifact for each event in place of a message in the history.
const (
	Legacy Shape = ""    // kind and "completed"; protocol_version is NULL
	V1     Shape = "1.0" // TASK_STATE_COMPLETED
)

// Times is how the driver writes times: a layout of package time.
type Times string

// The forms of times. GORM with a pure Go driver cuts zeros at the end of fractions.
const (
	GORM    Times = "2006-01-02 15:04:05.999999999-07:00"
	RFC3339 Times = "2006-01-02T15:04:05.000000000Z07:00"
	Named   Times = "2006-01-02 15:04:05.999999999 -0700 MST"
	Bare    Times = "2006-01-02 15:04:05.999999" // without a zone
)

// Forms are the forms to test with, by name.
var Forms = map[string]Form{
	"python 0.5":       {Generation: V05, Dialect: Python, Times: GORM},
	"python 0.7":       {Generation: V07, Dialect: Python, Times: RFC3339},
	"python":           {Generation: Current, Dialect: Python, Times: GORM},
	"python main":      {Generation: Current, Dialect: Python, Shape: V1, Times: Named},
	"go 1":             {Generation: Current, Dialect: Go1, Times: GORM},
	"go 1, quoted":     {Generation: V07, Dialect: Go1, Times: GORM, Quoted: true},
	"go 2":             {Generation: Current, Dialect: Go2, Shape: V1, Times: GORM},
	"go 2, quoted":     {Generation: Current, Dialect: Go2, Shape: V1, Times: Bare, Quoted: true},
	"python, no zones": {Generation: Current, Dialect: Python, Times: Bare},
}

// isCamel reports whether the names in a message's parts are in camel case.
func (d Dialect) isCamel() bool { return d == Go1 || d == Go2 }

// hasEvents reports whether the runtime stores events.
func (d Dialect) hasEvents() bool { return d != LangGraph && d != CrewAI }

// hasMarkers reports whether a Python runtime puts the headers of a request in an event
// of their own: from v0.7.0 to v0.10.x.
func (f Form) hasMarkers() bool { return f.Generation != V05 && f.Shape == Legacy }

// snakeObject is the event as adk-python's model_dump writes it: by field names, with
// everything that is not set.
func (e *event) snakeObject() object {
	delta := e.delta
	if delta == nil {
		delta = object{}
	}
	return object{
		{"model_version", nil}, {"content", e.contentObject(Python)}, {"grounding_metadata", nil}, {"partial", nil}, {"turn_complete", nil},
		{"finish_reason", nil}, {"error_code", nil}, {"error_message", nil}, {"interrupted", nil}, {"custom_metadata", nil},
		{"usage_metadata", nil}, {"live_session_resumption_update", nil}, {"input_transcription", nil}, {"output_transcription", nil},
		{"avg_logprobs", nil}, {"logprobs_result", nil}, {"cache_metadata", nil}, {"citation_metadata", nil},
		{"invocation_id", e.invocation}, {"author", e.author},
		{"actions", object{
			{"skip_summarization", nil}, {"state_delta", delta}, {"artifact_delta", object{}}, {"transfer_to_agent", nil}, {"escalate", nil},
			{"requested_auth_configs", object{}}, {"requested_tool_confirmations", e.confirmationsByCall()}, {"compaction", nil},
			{"end_of_agent", nil}, {"agent_state", nil}, {"rewind_before_invocation_id", nil},
		}},
		{"long_running_tool_ids", e.waitingIDs()}, {"branch", nil}, {"id", e.id},
		{"timestamp", float64(e.madeAt().UnixMicro()) / 1e6},
	}
}

// pascalObject is the event as adk-go writes it before 2.2: the fields of session.Event,
// which have no tags.
func (e *event) pascalObject() object {
	var asked any
	if len(e.asked) > 0 {
		asked = e.confirmationsByCall()
	}
	return object{
		{"Content", e.contentObject(Go1)}, {"CitationMetadata", nil}, {"GroundingMetadata", nil}, {"UsageMetadata", nil}, {"CustomMetadata", nil},
		{"LogprobsResult", nil}, {"InputTranscription", nil}, {"OutputTranscription", nil}, {"ModelVersion", ""}, {"Partial", false},
		{"TurnComplete", e.contentRole() == "model"}, {"Interrupted", false}, {"SessionResumptionHandle", ""}, {"ErrorCode", ""}, {"ErrorMessage", ""},
		{"FinishReason", ""}, {"AvgLogprobs", 0},
		{"ID", e.id}, {"Timestamp", e.madeAt().Format(time.RFC3339Nano)}, {"InvocationID", e.invocation}, {"Branch", ""}, {"Author", e.author},
		{"Actions", object{
			{"StateDelta", object{}}, {"ArtifactDelta", object{}}, {"RequestedToolConfirmations", asked},
			{"SkipSummarization", false}, {"TransferToAgent", ""}, {"Escalate", false},
		}},
		{"LongRunningToolIDs", e.waitingIDs()},
	}
}

// camelObject is the event as adk-go writes it since 2.2: by tags, most of them with
// omitempty.
func (e *event) camelObject() object {
	var asked any
	if len(e.asked) > 0 {
		asked = e.confirmationsByCall()
	}
	return object{
		{"content", e.contentObject(Go2)}, {"turnComplete", builder.OrNil(e.contentRole() == "model")},
		{"id", e.id}, {"timestamp", e.madeAt().Format(time.RFC3339Nano)}, {"invocationId", e.invocation}, {"author", e.author},
		{"actions", object{{"stateDelta", object{}}, {"artifactDelta", object{}}, {"requestedToolConfirmations", asked}}.WithoutEmpty()},
		{"longRunningToolIds", e.waitingIDs()},
	}.WithoutEmpty()
}

// waitingIDs are the ids of long-running calls, nil for none.
func (e *event) waitingIDs() any {
	if e.waits == nil {
		return nil
	}
	return e.waits
}

// inputItems are what the event says as input items of the Responses API.
func (e *event) inputItems() list {
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

// wrapItems is the document of kagent's package for the OpenAI Agents SDK.
func wrapItems(at time.Time, items list) string {
	return builder.Style{Spaced: true}.Text(object{
		{"timestamp", at.Format("2006-01-02T15:04:05.000000+00:00")}, {"items", items}, {"type", "conversation_items"},
	})
}
