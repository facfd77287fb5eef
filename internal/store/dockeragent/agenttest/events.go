package agenttest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/store/builder"
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
	prefix, end := "", "\n"
	if style.SSE {
		prefix, end = "data: ", "\n\n"
	}
	write := func(kind string, body builder.Object, at string) {
		out.WriteString(prefix + asGo.Text(slices.Concat(builder.Object{{"type", kind}}, body.WithoutEmpty(), builder.Object{{"timestamp", at}})) + end)
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

// noTime is the time of events that the runtime gives none.
const noTime = "0001-01-01T00:00:00Z"

// The events of a run have all that any version tells; Written.Events says it in the
// words of one.
func (r *run) emitEvent(e event) {
	e.at = cmp.Or(e.at, r.db.now.Format(time.RFC3339Nano))
	r.written.events = append(r.written.events, e)
	if r.pause != nil {
		r.pause()
	}
}

func (r *run) tellEvent(kind string, body builder.Object) { r.emitEvent(event{kind: kind, body: body}) }

// tellOpening is what a run tells of itself before it starts.
func (r *run) tellOpening(c *Session) {
	r.tellInfo(c.agent)
	if !slices.Contains(r.team, c.agent) {
		r.team = append(r.team, c.agent)
	}
	var agents builder.List
	for _, name := range r.team {
		provider, model, _ := strings.Cut(r.modelOf(name), "/")
		agents = append(agents, builder.Object{{"name", name}, {"description", ""}, {"provider", provider}, {"model", model}})
	}
	r.tellEvent("team_info", builder.Object{{"available_agents", agents}, {"current_agent", c.agent}, {"agent_name", c.agent}})
	r.tellTools(c)
}

func (r *run) modelOf(agent string) string { return cmp.Or(r.program.Models[agent], modelDefault) }

func (r *run) tellInfo(agent string) {
	r.tellEvent("agent_info", builder.Object{{"agent_name", agent}, {"model", r.modelOf(agent)}, {"description", new(string)}})
}

// tellTools is what comes before every request to a model.
func (r *run) tellTools(c *Session) {
	r.tellEvent("mcp_init_started", builder.Object{{"agent_name", c.agent}})
	r.tellEvent("mcp_init_finished", builder.Object{{"agent_name", c.agent}})
	r.tellEvent("toolset_info", builder.Object{{"available_tools", 1}, {"loading", false}, {"agent_name", c.agent}})
}

// tellStopped ends the stream of a session; the tokens of what runs in the
// background may come at any time, here at the end of a turn.
func (r *run) tellStopped(c *Session, reason string) {
	if c.caller == nil {
		for _, e := range r.waiting {
			r.emitEvent(e)
		}
		r.waiting = nil
	}
	r.tellEvent("stream_stopped", builder.Object{{"session_id", c.ID}, {"reason", reason}, {"agent_name", c.agent}})
}

// tellAnswer is what a model says, word by word.
func (r *run) tellAnswer(c *Session, s *Step) {
	for _, said := range []struct{ kind, text string }{{"agent_choice_reasoning", s.Reasoning}, {"agent_choice", s.Text}} {
		for piece := range strings.SplitAfterSeq(said.text, " ") {
			if piece != "" {
				r.tellEvent(said.kind, builder.Object{{"content", piece}, {"session_id", c.ID}, {"agent_name", c.agent}})
			}
		}
	}
}

// tellCalls is how the calls of an answer arrive: their names first, then their
// arguments in two pieces.
func (r *run) tellCalls(c *Session, calls []ToolCall) {
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
			r.emitEvent(event{kind: "partial_tool_call", body: body, call: &call, before: before})
			before += piece
		}
	}
}

// tellTokens counts the tokens of a session; usage is that of the last answer, nil
// when the model told none.
func (r *run) tellTokens(c *Session, usage *Usage) {
	count := tokenCounts(c.row.InputTokens, c.row.OutputTokens)
	if usage != nil {
		count = append(count, builder.Member{"last_message", messageUsage{Usage: *usage, Model: r.modelOf(c.agent)}})
	}
	r.tellEvent("token_usage", builder.Object{{"session_id", c.ID}, {"usage", count}, {"agent_name", c.agent}})
}

func tokenCounts(input, output int64) builder.Object {
	return builder.Object{{"input_tokens", input}, {"output_tokens", output}, {"context_length", input + output}, {"context_limit", 0}, {"cost", 0}}
}

func (r *run) tellSwitch(start bool, from, to string) {
	r.tellEvent("agent_switching", builder.Object{{"switching", start}, {"from_agent", from}, {"to_agent", to}, {"agent_name", to}})
	r.tellInfo(to)
}
