package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/events"
	"github.com/sessctl/sessctl/internal/recording"
)

// writeLong writes at least count events as JSON lines, in the shape of a long run: an
// agent that answers in pieces, runs tools with long definitions, and delegates,
// again and again. Most events are pieces of answers, most bytes are around them.
func writeLong(w io.Writer, count int) error {
	out := bufio.NewWriter(w)
	s := stream{out: out}
	s.write(`"user_message","message":"please go on","session_id":"root","session_position":0`)
	s.write(`"stream_started","session_id":"root","agent_name":"root"`)
	for run := 0; s.written < count; run++ {
		s.delegate(run)
	}
	s.write(`"stream_stopped","session_id":"root","agent_name":"root"`)
	if s.err != nil {
		return s.err
	}
	return out.Flush()
}

// What the agents say, and the definitions of their tools, about as long as those
// of docker agent.
const (
	piece  = " and the next piece"
	pieces = 60 // of an answer

	shell = `"tool_definition":{"name":"shell","category":"shell","description":"Runs a command in the user's shell.\n` +
		`Give the whole command as one string; it runs in the working folder of the session.","parameters":{"type":"object","properties":{` +
		`"cmd":{"type":"string","description":"The command to run."},"cwd":{"type":"string","description":"The folder to run it in."}},` +
		`"required":["cmd"]},"annotations":{"title":"Shell","readOnlyHint":false},"outputSchema":{"type":"string"}}`
	transfer = `"tool_definition":{"name":"transfer_task","category":"transfer","description":"Gives a task to a member of the team.\n` +
		`Say clearly what is to be done and what is expected.","parameters":{"type":"object","properties":{` +
		`"agent":{"type":"string","description":"Who is to do it."},"task":{"type":"string","description":"What is to be done."},` +
		`"expected_output":{"type":"string","description":"What is expected."}},"required":["agent","task","expected_output"]},` +
		`"annotations":{"title":"Transfer Task","readOnlyHint":true},"outputSchema":{"type":"string"}}`

	shellArgs    = `{\"cmd\":\"ls\"}`
	transferArgs = `{\"agent\":\"worker\",\"task\":\"look around\",\"expected_output\":\"a list\"}`
)

type stream struct {
	out     io.Writer
	written int
	err     error
}

// write adds an event, whose text begins with its type.
func (s *stream) write(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.out, `{"type":`+format+`,"timestamp":"2026-02-03T09:56:40.346973962Z"}`+"\n", args...)
		s.written++
	}
}

// answer writes an answer in pieces, with one call.
func (s *stream) answer(session, agent, call, definition string) {
	for range pieces {
		s.write(`"agent_choice","content":"`+piece+`","session_id":"%s","agent_name":"%s"`, session, agent)
	}
	s.write(`"partial_tool_call","tool_call":%s,%s,"agent_name":"%s"`, call, definition, agent)
	s.write(`"message_added","session_id":"%s","agent_name":"%s"`, session, agent)
	s.write(`"token_usage","session_id":"%s","usage":{"input_tokens":10,"output_tokens":5,"context_length":15,"context_limit":0,"cost":0,`+
		`"last_message":{"input_tokens":10,"output_tokens":5,"cached_input_tokens":0,"cached_write_tokens":0,"Cost":0,"Model":"test/mock"}},`+
		`"agent_name":"%s"`, session, agent)
	s.write(`"tool_call","tool_call":%s,%s,"agent_name":"%s"`, call, definition, agent)
}

func (s *stream) respond(session, agent, call, definition string) {
	s.write(`"tool_call_response","tool_call":%s,%s,"response":"a file","result":{"output":"a file"},"agent_name":"%s"`, call, definition, agent)
	s.write(`"message_added","session_id":"%s","agent_name":"%s"`, session, agent)
}

// delegate writes an answer of the root that delegates, what the child does, and
// the result.
func (s *stream) delegate(run int) {
	child := fmt.Sprintf("child-%d", run)
	task := call(fmt.Sprintf("r%d", run), "transfer_task", transferArgs)
	s.answer("root", "root", task, transfer)
	s.write(`"agent_switching","switching":true,"from_agent":"root","to_agent":"worker","agent_name":"worker"`)
	s.write(`"stream_started","session_id":"%s","agent_name":"worker"`, child)
	var messages []string
	for i := range 4 {
		id := fmt.Sprintf("w%d-%d", run, i)
		tool := call(id, "shell", shellArgs)
		s.answer(child, "worker", tool, shell)
		s.respond(child, "worker", tool, shell)
		messages = append(messages, stored(tool), fmt.Sprintf(`{"message":{"agentName":"worker","message":{"role":"tool","content":"a file",`+
			`"tool_call_id":"%s","created_at":"2026-02-03T09:56:40Z"}}}`, id))
	}
	s.write(`"stream_stopped","session_id":"%s","agent_name":"worker"`, child)
	s.write(`"sub_session_completed","parent_session_id":"root","sub_session":{"id":"%s","title":"Transferred task","messages":[%s],`+
		`"created_at":"2026-02-03T09:56:40.5Z"},"agent_name":"worker"`, child, strings.Join(messages, ","))
	s.write(`"agent_switching","switching":false,"from_agent":"worker","to_agent":"root","agent_name":"root"`)
	s.respond("root", "root", task, transfer)
}

// call is a call as events and messages hold it.
func call(id, tool, args string) string {
	return fmt.Sprintf(`{"id":"%s","type":"function","function":{"name":"%s","arguments":"%s"}}`, id, tool, args)
}

// stored is the message of an answer of the worker as its session holds it.
func stored(call string) string {
	return fmt.Sprintf(`{"message":{"agentName":"worker","message":{"role":"assistant","content":"%s","tool_calls":[%s],`+
		`"created_at":"2026-02-03T09:56:40Z","model":"test/mock"}}}`, strings.Repeat(piece, pieces), call)
}

// Every line of a long stream is a whole event, and every delegation has a child.
func TestLongStream(t *testing.T) {
	var stream bytes.Buffer
	if err := writeLong(&stream, 2000); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(stream.Bytes(), []byte("\n"))
	r := events.NewReader(&stream)
	var e recording.Event
	read, children, starts := 0, 0, 0
	for ; r.Next(&e) == nil; read++ {
		if e.Start {
			starts++
		}
		if e.Child != nil && e.Child.Items() == 8 {
			children++
		}
	}
	if read < 2000 || read != lines || r.SkippedCount() > 0 {
		t.Errorf("%d events in %d lines, skipped %v", read, lines, r.Skipped())
	}
	if starts == 0 || children != starts {
		t.Errorf("%d children of %d delegations", children, starts)
	}
}
