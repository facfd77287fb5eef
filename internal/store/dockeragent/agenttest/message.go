package agenttest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/store/builder"
)

// The roles of a message.
const (
	roleSystem    = "system"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)

// Message is what session_items.message_json holds. The order of the fields is
// the order of the keys, and encoding/json encodes it as the runtime does.
type Message struct {
	Role              string           `json:"role"`
	Content           string           `json:"content"`
	MultiContent      []Part           `json:"multi_content,omitempty"`
	ReasoningContent  string           `json:"reasoning_content,omitempty"`
	ThinkingSignature string           `json:"thinking_signature,omitempty"`
	ThoughtSignature  []byte           `json:"thought_signature,omitempty"`
	ToolCalls         []ToolCall       `json:"tool_calls,omitempty"`
	ToolDefinitions   []ToolDefinition `json:"tool_definitions,omitempty"`
	ToolCallID        string           `json:"tool_call_id,omitempty"`
	IsError           bool             `json:"is_error,omitempty"`
	CreatedAt         string           `json:"created_at,omitempty"` // RFC 3339; absent in a row that was still streaming
	Usage             *Usage           `json:"usage,omitempty"`
	Model             string           `json:"model,omitempty"`
	Cost              float64          `json:"cost,omitempty"` // dollars
	CacheControl      bool             `json:"cache_control,omitempty"`
}

// Part is one element of multi_content.
type Part struct {
	Type     string    `json:"type,omitempty"` // text, image_url or (v1.55.0) document
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
	Document *Document `json:"document,omitempty"`
}

// ImageURL is an image of a message.
type ImageURL struct {
	URL    string `json:"url,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// Document is an attachment whose content is stored with the message.
type Document struct {
	Name     string         `json:"name"`
	MimeType string         `json:"mime_type"`
	Size     int64          `json:"size,omitempty"`
	Source   DocumentSource `json:"source"`
}

// DocumentSource is the content of a document, in the one of its forms that is written here.
type DocumentSource struct {
	InlineData []byte `json:"inline_data,omitempty"`
}

// ToolCall is one call of an assistant message.
type ToolCall struct {
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type"`
	Function FunctionCall `json:"function"`
}

// FunctionCall is the tool that a call names, and the arguments as the model
// wrote them.
type FunctionCall struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// ToolDefinition is what an assistant message keeps of a tool that it calls.
type ToolDefinition struct {
	Name         string          `json:"name"`
	Category     string          `json:"category"`
	Description  string          `json:"description,omitempty"`
	Parameters   json.RawMessage `json:"parameters"` // absent is null
	Annotations  Annotations     `json:"annotations"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// Annotations are a tool's hints.
type Annotations struct {
	ReadOnlyHint bool   `json:"readOnlyHint,omitempty"`
	Title        string `json:"title,omitempty"`
}

// Usage counts the tokens of one answer.
type Usage struct {
	InputTokens       int64 `json:"input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	CachedWriteTokens int64 `json:"cached_write_tokens"`
	ReasoningTokens   int64 `json:"reasoning_tokens,omitempty"`
}

// prompt is the size of the whole request, cached or not.
func (u *Usage) prompt() int64 { return u.InputTokens + u.CachedInputTokens + u.CachedWriteTokens }

// encode gives the stored bytes of a message, or of anything else that the
// runtime stores as JSON.
func encode(v any) []byte {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("agenttest: %v", err)) // only an invalid json.RawMessage of the caller
	}
	return encoded
}

// reloaded is the message as the runtime encodes it after it loaded it: the
// schemas of the tool definitions went through a map, which sorts their keys.
func reloaded(stored []byte) ([]byte, error) {
	var m Message
	if err := json.Unmarshal(stored, &m); err != nil {
		return nil, err
	}
	for i := range m.ToolDefinitions {
		d := &m.ToolDefinitions[i]
		for _, schema := range []*json.RawMessage{&d.Parameters, &d.OutputSchema} {
			var decoded any
			if *schema == nil {
				continue
			}
			if err := json.Unmarshal(*schema, &decoded); err != nil {
				return nil, err
			}
			*schema = encode(decoded)
		}
	}
	return encode(m), nil
}

// TextPart is a text of multi_content.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// ImagePart is an image of this size, as it is stored up to v1.54: in a URL.
func ImagePart(width, height int) Part {
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture(width, height))
	return Part{Type: "image_url", ImageURL: &ImageURL{URL: url, Detail: "auto"}}
}

// ImageDocument is an image of this size, as it is stored since v1.55.0.
func ImageDocument(name string, width, height int) Part {
	data := picture(width, height)
	return DocumentPart(Document{Name: name, MimeType: "image/png", Size: int64(len(data)), Source: DocumentSource{InlineData: data}})
}

// DocumentPart is an attachment of any type (v1.55.0).
func DocumentPart(d Document) Part { return Part{Type: "document", Document: &d} }

// picture is a PNG image without colours.
func picture(width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		panic("agenttest: " + err.Error()) // only a size that no PNG has
	}
	return b.Bytes()
}

// The tools of the runtime that change who speaks.
const (
	transferTask   = "transfer_task"
	handoffTool    = "handoff"
	runSkill       = "run_skill"
	backgroundTool = "run_background_agent"
)

// CallTool is a call of any tool; args is the JSON text of the arguments.
func CallTool(id, tool, args string) ToolCall {
	return ToolCall{ID: id, Type: "function", Function: FunctionCall{Name: tool, Arguments: args}}
}

// Transfer is a call that delegates a task to another agent.
func Transfer(id, agent, task, expectedOutput string) ToolCall {
	return CallTool(id, transferTask, string(encode(map[string]string{
		"agent": agent, "task": task, "expected_output": expectedOutput,
	})))
}

// RunSkill is a call that runs a skill in a child, under the caller's own name.
func RunSkill(id, skill, task string) ToolCall {
	return CallTool(id, runSkill, string(encode(map[string]string{"name": skill, "task": task})))
}

// RunBackground is a call that delegates a task without waiting for it.
func RunBackground(id, agent, task, expectedOutput string) ToolCall {
	call := Transfer(id, agent, task, expectedOutput)
	call.Function.Name = backgroundTool
	return call
}

// HandOff is a call after which another agent speaks in the same session.
func HandOff(id, agent string) ToolCall {
	return CallTool(id, handoffTool, string(encode(map[string]string{"agent": agent})))
}

// definitions are the tools whose definition is worth more than a name.
var definitions = map[string]ToolDefinition{
	transferTask: {
		Name:        transferTask,
		Category:    "transfer",
		Description: "Delegate a task to another member of the team.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"agent":{"type":"string","description":"Who gets the task."},` +
			`"task":{"type":"string","description":"What to do."},` +
			`"expected_output":{"type":"string","description":"What to bring back."}},` +
			`"required":["agent","task","expected_output"],"additionalProperties":false}`),
		Annotations: Annotations{ReadOnlyHint: true, Title: "Transfer Task"},
	},
	handoffTool: {
		Name:        handoffTool,
		Category:    "handoff",
		Description: "Let another agent go on with the conversation.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"agent":{"type":"string","description":"Who goes on."}},` +
			`"required":["agent"],"additionalProperties":false}`),
		Annotations: Annotations{ReadOnlyHint: true, Title: "Handoff Conversation"},
	},
}

// Define lists the definitions of the called tools, one for each call.
func Define(calls []ToolCall) []ToolDefinition {
	var list []ToolDefinition
	for _, call := range calls {
		d, ok := definitions[call.Function.Name]
		if !ok {
			d = ToolDefinition{Name: call.Function.Name, Parameters: json.RawMessage("{}")}
		}
		list = append(list, d)
	}
	return list
}

// The texts that the runtime puts around a delegation or a handoff
// (docker-agent.md 3.1 and 2.3).
const (
	childTitle   = "Transferred task"
	skillTitle   = "Skill: "
	childStart   = "Please proceed."
	noOutput     = "(no output)"
	callFailed   = "Error calling tool: "
	inBackground = "The task runs in the background."
	modelDefault = "test/mock"
)

// taskText is the system message that a child starts with.
func taskText(task, expectedOutput string) string {
	text := "You are a member of a team of agents. Your goal is to complete the following task:" +
		"\n\n<task>\n" + task + "\n</task>"
	if expectedOutput != "" {
		text += "\n\n<expected_output>\n" + expectedOutput + "\n</expected_output>"
	}
	return text
}

// handoffText is the result of a handoff; upstream goes on about the tools.
func handoffText(from string) string {
	return "The agent " + from + " handed off the conversation to you."
}

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
	prefix, end := "", "\n"
	if style.SSE {
		prefix, end = "data: ", "\n\n"
	}
	write := func(kind string, body builder.Object, at string) {
		out.WriteString(prefix + asGo.Text(slices.Concat(builder.Object{{"type", kind}}, body.Given(), builder.Object{{"timestamp", at}})) + end)
	}
	for i, e := range w.events {
		if i == len(w.events)/2 && style.Title != "" {
			write("session_title", builder.Object{{"session_id", w.Root.ID}, {"title", style.Title}}, noTime)
		}
		write(e.kind, e.inForm(style.Form), e.at)
	}
	return out.Bytes()
}

// asGo is how Go's json.Marshal spells JSON.
var asGo = builder.Style{HTML: true}

// inForm is an event as a form has it.
func (e *event) inForm(form EventForm) builder.Object {
	body := slices.Clone(e.body)
	without := func(name string) builder.Object {
		return slices.DeleteFunc(body, func(m builder.Member) bool { return m[0] == name })
	}
	switch {
	case strings.HasPrefix(e.kind, "agent_choice") && form < WithIDs, e.kind == "error" && form < WithReasons:
		return without("session_id")
	case e.kind == "stream_stopped" && form < WithReasons:
		return without("reason")
	case e.kind == "partial_tool_call" && form < WithDeltas:
		call := *e.call
		call.Function.Arguments = e.before + call.Function.Arguments
		body[0][1] = call
	case e.kind == "partial_tool_call" && e.call.Function.Arguments != "":
		return without("tool_definition")
	case e.kind == "tool_call_response" && form >= WithDeltas:
		body[0] = builder.Member{"tool_call_id", e.call.ID}
	}
	return body
}

// event is one event of a stream. The order of its members is the order of the keys in
// every event that has them (docker-agent.md 5); those without a value are left out.
type event struct {
	kind, at string
	body     builder.Object
	call     *ToolCall // that comes, or is answered
	before   string    // of a partial_tool_call: the arguments that came before
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
	e.at = cmp.Or(e.at, st.db.now.Format(time.RFC3339Nano))
	st.events = append(st.events, e)
	if st.pause != nil {
		st.pause()
	}
}

func (st *stream) tell(kind string, body builder.Object) { st.emit(event{kind: kind, body: body}) }

// opening is what a run tells of itself before it starts.
func (st *stream) opening(c *conversation) {
	st.info(c.agent)
	if !slices.Contains(st.team, c.agent) {
		st.team = append(st.team, c.agent)
	}
	var agents builder.List
	for _, name := range st.team {
		provider, model, _ := strings.Cut(st.model(name), "/")
		agents = append(agents, builder.Object{{"name", name}, {"description", ""}, {"provider", provider}, {"model", model}})
	}
	st.tell("team_info", builder.Object{{"available_agents", agents}, {"current_agent", c.agent}, {"agent_name", c.agent}})
	st.tools(c)
}

func (st *stream) model(agent string) string { return cmp.Or(st.models[agent], modelDefault) }

func (st *stream) info(agent string) {
	st.tell("agent_info", builder.Object{{"agent_name", agent}, {"model", st.model(agent)}, {"description", new(string)}})
}

// tools is what comes before every request to a model.
func (st *stream) tools(c *conversation) {
	st.tell("mcp_init_started", builder.Object{{"agent_name", c.agent}})
	st.tell("mcp_init_finished", builder.Object{{"agent_name", c.agent}})
	st.tell("toolset_info", builder.Object{{"available_tools", 1}, {"loading", false}, {"agent_name", c.agent}})
}

func (st *stream) user(c *conversation, text string) {
	st.tell("user_message", builder.Object{{"message", text}, {"session_id", c.row.ID}, {"session_position", len(c.entries) - 1}})
}

func (st *stream) started(c *conversation) {
	st.tell("stream_started", builder.Object{{"session_id", c.row.ID}, {"agent_name", c.agent}})
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
	st.tell("stream_stopped", builder.Object{{"session_id", c.row.ID}, {"reason", reason}, {"agent_name", c.agent}})
}

func (st *stream) failed(c *conversation, err modelError) {
	st.emit(event{kind: "error", body: builder.Object{{"session_id", c.row.ID}, {"error", string(err)}}, at: noTime})
}

// answering is what a model says, word by word.
func (st *stream) answering(c *conversation, s *Step) {
	for _, said := range []struct{ kind, text string }{{"agent_choice_reasoning", s.Reasoning}, {"agent_choice", s.Text}} {
		for piece := range strings.SplitAfterSeq(said.text, " ") {
			if piece != "" {
				st.tell(said.kind, builder.Object{{"content", piece}, {"session_id", c.row.ID}, {"agent_name", c.agent}})
			}
		}
	}
}

// calling is how the calls of an answer arrive: their names first, then their
// arguments in two pieces.
func (st *stream) calling(c *conversation, calls []ToolCall) {
	for i, definition := range Define(calls) {
		args := calls[i].Function.Arguments
		middle := len(args) / 2
		for middle > 0 && !utf8.RuneStart(args[middle]) {
			middle--
		}
		before := ""
		for _, piece := range []string{"", args[:middle], args[middle:]} {
			call := calls[i]
			call.Function.Arguments = piece
			body := builder.Object{{"tool_call", call}, {"tool_definition", definition}, {"agent_name", c.agent}}
			st.emit(event{kind: "partial_tool_call", body: body, call: &call, before: before})
			before += piece
		}
	}
}

func (st *stream) call(agent string, call *ToolCall) {
	st.tell("tool_call", builder.Object{{"tool_call", call}, {"tool_definition", Define([]ToolCall{*call})[0]}, {"agent_name", agent}})
}

func (st *stream) response(agent string, call *ToolCall, m *Message) {
	st.emit(event{kind: "tool_call_response", call: call, body: builder.Object{
		{"tool_call", call}, {"tool_definition", Define([]ToolCall{*call})[0]}, {"response", m.Content},
		{"result", builder.Object{{"output", m.Content}, {"isError", builder.OrNil(m.IsError)}}.Given()}, {"agent_name", agent},
	}})
}

func (st *stream) added(c *conversation, e *entry) {
	st.tell("message_added", builder.Object{{"session_id", c.row.ID}, {"agent_name", e.agent}})
}

// tokens counts the tokens of a session; usage is that of the last answer, nil
// when the model told none.
func (st *stream) tokens(c *conversation, usage *Usage) {
	count := counted(c.row.InputTokens, c.row.OutputTokens)
	if usage != nil {
		count = append(count, builder.Member{"last_message", messageUsage{Usage: *usage, Model: st.model(c.agent)}})
	}
	st.tell("token_usage", builder.Object{{"session_id", c.row.ID}, {"usage", count}, {"agent_name", c.agent}})
}

func counted(input, output int64) builder.Object {
	return builder.Object{{"input_tokens", input}, {"output_tokens", output}, {"context_length", input + output}, {"context_limit", 0}, {"cost", 0}}
}

// background is a session of which only the tokens are told, and late.
func (st *stream) background(session, agent string) {
	body := builder.Object{{"session_id", session}, {"usage", counted(40, 2)}, {"agent_name", agent}}
	st.waiting = append(st.waiting, event{kind: "token_usage", body: body})
}

func (st *stream) switched(start bool, from, to string) {
	st.tell("agent_switching", builder.Object{{"switching", start}, {"from_agent", from}, {"to_agent", to}, {"agent_name", to}})
	st.info(to)
}

func (st *stream) completed(c, child *conversation) {
	st.tell("sub_session_completed", builder.Object{{"parent_session_id", c.row.ID}, {"sub_session", st.db.subSession(child)}, {"agent_name", c.agent}})
}

func (st *stream) summarized(c *conversation, s *Summary) {
	st.tell("session_compaction", builder.Object{{"session_id", c.row.ID}, {"status", "started"}, {"agent_name", c.agent}})
	st.tell("session_summary", builder.Object{
		{"session_id", c.row.ID}, {"summary", s.Text}, {"first_kept_entry", builder.OrNil(s.FirstKept)}, {"agent_name", c.agent},
	})
	st.tell("session_compaction", builder.Object{{"session_id", c.row.ID}, {"status", "completed"}, {"agent_name", c.agent}})
}
