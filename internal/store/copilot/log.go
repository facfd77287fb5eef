package copilot

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/jsonscan"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/filelog"
)

// kind is the type of a line, as far as it matters.
type kind uint8

// The kinds of lines.
const (
	other  kind = iota
	unread      // it cannot be read
	prompt
	notice // a user's turn that the runtime writes
	answer
	result
	summary
	began // a tool
	resume
	turnStart
	turnEnd
	childStart
	childEnd
	usage
	start
	inner // of the wire log that a compaction leaves
)

var kinds = map[string]kind{
	"user.message": prompt, "system.notification": notice, "assistant.message": answer, "tool.execution_complete": result,
	"session.compaction_complete": summary, "tool.execution_start": began, "session.resume": resume, "assistant.turn_start": turnStart,
	"assistant.turn_end": turnEnd, "subagent.started": childStart, "subagent.completed": childEnd, "subagent.failed": childEnd,
	"session.usage_record": usage, "session.start": start,
}

// isSent reports whether lines of a kind become messages of requests.
func (k kind) isSent() bool { return k >= prompt && k <= summary }

// event is a line.
type event struct {
	Type      string         `json:"type"`
	ID        jsontext.Value `json:"id"`
	Time      jsontext.Value `json:"timestamp"`
	Parent    jsontext.Value `json:"parentId"`
	Agent     jsontext.Value `json:"agentId"`
	Ephemeral jsontext.Value `json:"ephemeral"`
	Data      jsontext.Value `json:"data"`

	members map[string]jsontext.Value // of data
}

// request is a call of an answer.
type request struct {
	ID   string         `json:"toolCallId"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"arguments"`
}

// parseEvent reads a line. A text that is no UTF-8 is none, and what has no type is passed over.
func parseEvent(text []byte) (e event, ok bool) {
	if !utf8.Valid(text) || jsonscan.Exact.Unmarshal(text, &e) != nil {
		return e, false
	}
	e.members = membersOf(e.Data)
	return e, e.Type != ""
}

// text is a text among the members of data.
func (e *event) text(name string) string { return textOf(e.members[name]) }

// textOf is what a JSON text says, "" for another value.
func textOf(v jsontext.Value) (text string) {
	if v.Kind() == '"' {
		_ = jsonscan.Exact.Unmarshal(v, &text)
	}
	return text
}

// requests are the calls of an answer.
func (e *event) requests() (list []request) {
	_ = jsonscan.Exact.Unmarshal(e.members["toolRequests"], &list)
	return list
}

// answerText is what a result says, and whether that is an error.
func (e *event) answerText() (text string, failed bool) {
	if said := membersOf(e.members["result"]); said != nil {
		return textOf(said["content"]), string(e.members["success"]) == "false"
	}
	return textOf(membersOf(e.members["error"])["message"]), true
}

// node is what is kept of a line. There may be a million of them, so that it has no pointers.
type node struct {
	filelog.Span
	number int32

	id, parent, agent filelog.Name
	run, call         filelog.Name // the prompt that it belongs to, and the call that it is about
	under             filelog.Name // the call that started its sub-agent
	turn              filelog.Name
	from, to          int32 // the calls that it makes, in the log's
	in, home          int32 // the agent among whose lines it stands, and whose it is; 0 is the root
	kind              kind
	open              bool // the file ends within it
	hidden            bool // from the model
	delegated         bool // a prompt that an agent gave to another one
	passed            bool // see session.Item.Passed
	stands            bool // a result that says that the call was interrupted
	stale             bool // such a one of a call that has a real result
}

// agent is the root, or a sub-agent.
type agent struct {
	key         filelog.Name // its id, or the call that started it
	call        filelog.Name
	name, title string
	parent      string // the agent that started it, where the line says so
}

// task is what a call says that starts a sub-agent.
type task struct {
	said session.Digest
	ends bool // the caller waits for its end
}

// log is what is known of a file: its lines in their order, and whose they are.
type log struct {
	*filelog.Names
	nodes   []node
	calls   []filelog.Name
	agents  []agent
	index   map[filelog.Name]int32 // of agents by their keys
	starts  map[filelog.Name]int32 // of agents by the calls that started them
	made    map[filelog.Name]int32 // the answer that makes a call first
	tasks   map[filelog.Name]task
	asked   map[int]session.Digest // what delegated prompts say
	from    map[int]string         // and who gave them
	session string                 // its name: that of its folder
	lines   [][]int                // of each agent
	id      string                 // and that in its first line
	folder  string                 // in which it began
	wrong   map[int]string         // why a line cannot be read
	flaws   map[int][]flaw
	mends   map[int][]mend
	gone    map[int]bool // lines that nothing mends
	runs    []*filelog.Run
	faults  []session.Fault
	newer   bool // written by a version that names agents
	began   bool // its first line is there
}

// interrupted begins what the runtime writes as the result of a call that has none.
const interrupted = "Tool execution was interrupted before a result was recorded"

// readLog reads all lines of a file once.
func readLog(ctx context.Context, file *filelog.Log, name string) (*log, error) {
	l := &log{
		session: name, Names: filelog.NewNames(), agents: make([]agent, 1), index: map[filelog.Name]int32{}, starts: map[filelog.Name]int32{},
		made: map[filelog.Name]int32{}, tasks: map[filelog.Name]task{}, asked: map[int]session.Digest{}, from: map[int]string{}, wrong: map[int]string{},
		flaws: map[int][]flaw{}, mends: map[int][]mend{}, gone: map[int]bool{},
	}
	var e event
	var ok bool
	is := func(text []byte) bool {
		e, ok = parseEvent(text)
		return ok && (len(e.ID) > 0 || len(e.Data) > 0)
	}
	for at, err := range file.Records(ctx, is) {
		if err != nil {
			return l, err
		}
		n := node{Span: at.Span, number: int32(at.Number), open: at.Open}
		if r := at.Run; r != nil && (len(l.runs) == 0 || l.runs[len(l.runs)-1] != r) {
			l.runs = append(l.runs, r)
		}
		switch {
		case at.Err != nil:
			n.kind, l.wrong[len(l.nodes)] = unread, at.Err.Error()
		case ok:
			if l.fillNode(len(l.nodes), &n, &e); at.Run != nil {
				n.passed = at.Run.Joined || at.Run.Records > 0
			}
			if flaws := e.checkEvent(); len(flaws) > 0 {
				l.flaws[len(l.nodes)] = flaws
			}
		case jsontext.Value(at.Text).IsValid(jsontext.AllowDuplicateNames(true)) && at.Text[0] == '{': // it has no type
			continue
		default:
			n.kind, l.wrong[len(l.nodes)] = unread, describeBroken(at.Text)
		}
		l.nodes = append(l.nodes, n)
	}
	return l, l.mendLines(file.Window())
}

// describeBroken says why a line is none that the runtime reads.
func describeBroken(text []byte) string {
	switch {
	case len(bytes.Trim(text, "\x00")) == 0:
		return "it holds nothing but NUL bytes"
	case !utf8.Valid(text):
		return "it is no UTF-8"
	}
	return "it is no JSON object"
}

// fillNode sets what a line says of its place.
func (l *log) fillNode(i int, n *node, e *event) {
	n.kind = kinds[e.Type]
	if strings.HasPrefix(e.Type, "model.") {
		n.kind = inner
	}
	n.id, n.parent, n.agent = l.Name(textOf(e.ID)), l.Name(textOf(e.Parent)), l.Name(textOf(e.Agent))
	n.run, n.call, n.under, n.turn = l.Name(e.text("interactionId")), l.Name(e.text("toolCallId")), l.Name(e.text("parentToolCallId")), l.Name(e.text("turnId"))
	n.hidden = string(e.Ephemeral) == "true"
	l.newer = l.newer || n.agent != 0
	switch n.kind {
	case start:
		l.id, l.began = e.text("sessionId"), true
		l.folder = textOf(membersOf(e.members["context"])["cwd"])
	case prompt:
		if from, delegated := strings.CutPrefix(e.text("source"), "agent-"); delegated {
			n.delegated, l.from[i], l.asked[i] = true, from, session.DigestOf(e.text("content"))
		}
	case answer:
		n.from = int32(len(l.calls))
		for _, r := range e.requests() {
			call := l.Name(r.ID)
			if _, again := l.made[call]; !again {
				l.made[call] = int32(i)
			}
			if l.calls = append(l.calls, call); r.Name == "task" {
				args := membersOf(r.Args)
				l.tasks[call] = task{session.DigestOf(textOf(args["prompt"])), textOf(args["mode"]) != "background"}
			}
		}
		n.to = int32(len(l.calls))
	case result:
		text, _ := e.answerText()
		n.stands = strings.HasPrefix(text, interrupted)
	case summary:
		if string(e.members["success"]) != "true" || e.text("summaryContent") == "" {
			n.kind = other
		}
	case usage:
		n.under = l.Name(textOf(membersOf(e.members["usage"])["parentToolCallId"]))
	case childStart:
		a := &l.agents[l.agentOf(n)]
		a.call, a.name, a.title, a.parent = n.call, e.text("agentName"), e.text("agentDisplayName"), e.text("parentId")
		l.starts[n.call] = l.index[a.key]
	}
}

// agentOf is the index of the agent that a line of its own names.
func (l *log) agentOf(n *node) int32 {
	key := n.agent
	if key == 0 && n.kind == childStart { // up to 1.0.24 agents had no names
		key = n.call
	}
	at, known := l.index[key]
	if !known && key != 0 {
		at = int32(len(l.agents))
		l.agents, l.index[key] = append(l.agents, agent{key: key}), at
	}
	return at
}

// callsOf are the calls that a line makes.
func (l *log) callsOf(n *node) []filelog.Name { return l.calls[n.from:n.to] }
