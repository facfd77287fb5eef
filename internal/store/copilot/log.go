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

// The kinds of lines. Those from prompt to summary are sent.
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
	inner // of what a compaction leaves of its requests, which has a chain of its own
)

var kinds = map[string]kind{
	"user.message": prompt, "system.notification": notice, "assistant.message": answer, "tool.execution_complete": result,
	"session.compaction_complete": summary, "tool.execution_start": began, "session.resume": resume, "assistant.turn_start": turnStart,
	"assistant.turn_end": turnEnd, "subagent.started": childStart, "subagent.completed": childEnd, "subagent.failed": childEnd,
	"session.usage_record": usage, "session.start": start,
}

func (k kind) isSent() bool { return k >= prompt && k <= summary }

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
	ID   jsontext.Value `json:"toolCallId"`
	Name jsontext.Value `json:"name"`
	Args jsontext.Value `json:"arguments"`
}

// parseEvent reads a line; nil where it is none. What is no UTF-8 is dropped, and what has no type passed over.
func parseEvent(text []byte) *event {
	var e event
	if !utf8.Valid(text) || jsonscan.Exact.Unmarshal(text, &e) != nil || e.Type == "" {
		return nil
	}
	e.members = membersOf(e.Data)
	return &e
}

// membersOf are the members of an object, nil for another value.
func membersOf(v jsontext.Value) (members map[string]jsontext.Value) {
	_ = jsonscan.Exact.Unmarshal(v, &members)
	return members
}

// textOf is what a JSON text says, "" for another value.
func textOf(v jsontext.Value) (text string) {
	if v.Kind() == '"' {
		_ = jsonscan.Exact.Unmarshal(v, &text)
	}
	return text
}

// text is a text among the members of data.
func (e *event) text(name string) string { return textOf(e.members[name]) }

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
	run, call, under  filelog.Name // the prompt that it belongs to, the call that it is about, and the one that started its sub-agent
	turn              filelog.Name
	from, to          int32 // its calls, in the log's
	in, home          int32 // the agent among whose lines it stands, and whose it is; 0 is the root
	kind              kind
	open              bool // the file ends within it
	hidden            bool // from the model
	delegated         bool // a prompt that an agent gave to another one
	passed            bool // see session.Item.Passed
	stands            bool // a result that says that the call was interrupted
	placed            bool // a result that is sent behind its call
	stale             bool // such a one of a call that has a real result
}

// agent is the root, or a sub-agent.
type agent struct {
	key, call           filelog.Name // its id, or else the call that started it, and that
	name, title, parent string       // parent is the agent that started it, where the line says so
}

// task is what a call says that starts a sub-agent.
type task struct {
	said session.Digest
	ends bool // the caller waits for its end
}

// trouble is why a line cannot be read or loaded.
type trouble struct {
	why   string
	mends []mend // what lets it load
	gone  bool   // nothing does
}

// log is what is known of a file: its lines in their order, and whose they are.
type log struct {
	*filelog.Names
	text    *filelog.Window
	session string // the root's id
	nodes   []node
	calls   []filelog.Name
	agents  []agent
	index   map[filelog.Name]int32 // of agents by their keys
	starts  map[filelog.Name]int32 // and by the calls that started them
	lines   [][]int                // of each agent
	made    map[filelog.Name]int   // the answer that makes a call first
	ids     map[filelog.Name]int   // how many lines have an id
	tasks   map[filelog.Name]task
	asked   map[int]task     // what delegated prompts say
	from    map[int]string   // and who gave them
	trouble map[int]*trouble // by the line
	runs    []*filelog.Run
	newer   bool // written by a version that names agents
}

func readLog(ctx context.Context, file *filelog.Log, id string) (*log, error) {
	l := &log{
		Names: filelog.NewNames(), text: file.Window(), session: id, agents: make([]agent, 1), index: map[filelog.Name]int32{}, starts: map[filelog.Name]int32{}, made: map[filelog.Name]int{},
		ids: map[filelog.Name]int{}, tasks: map[filelog.Name]task{}, asked: map[int]task{}, from: map[int]string{}, trouble: map[int]*trouble{},
	}
	var e *event
	is := func(text []byte) bool {
		e = parseEvent(text)
		return e != nil && len(e.ID)+len(e.Data) > 0
	}
	for at, err := range file.Records(ctx, is) {
		if err != nil {
			return l, err
		}
		i, n := len(l.nodes), node{Span: at.Span, number: int32(at.Number), open: at.Open, passed: at.Run != nil}
		if r := at.Run; r != nil && (len(l.runs) == 0 || l.runs[len(l.runs)-1] != r) {
			l.runs = append(l.runs, r)
		}
		switch {
		case at.Err != nil:
			l.trouble[i] = &trouble{why: at.Err.Error()}
		case e != nil:
			if l.fillNode(i, &n, e); len(e.checkEvent()) > 0 {
				l.trouble[i] = &trouble{}
			}
		case len(bytes.Trim(at.Text, "\x00")) == 0:
			l.trouble[i] = &trouble{why: "it holds nothing but NUL bytes"}
		case !utf8.Valid(at.Text):
			l.trouble[i] = &trouble{why: "it is not valid UTF-8"}
		case at.Text[0] == '{' && jsontext.Value(at.Text).IsValid(jsontext.AllowDuplicateNames(true)): // it has no type
			continue
		default:
			l.trouble[i] = &trouble{why: "it is no JSON object"}
		}
		if n.kind == other && l.trouble[i] != nil && l.trouble[i].why != "" {
			n.kind, n.passed = unread, false
		}
		l.ids[n.id]++
		l.nodes = append(l.nodes, n)
	}
	return l, l.mendLines()
}

// fillNode sets what a line says of its place.
func (l *log) fillNode(i int, n *node, e *event) {
	if n.kind = kinds[e.Type]; strings.HasPrefix(e.Type, "model.") {
		n.kind = inner
	}
	n.id, n.parent, n.agent = l.Name(textOf(e.ID)), l.Name(textOf(e.Parent)), l.Name(textOf(e.Agent))
	n.run, n.call, n.under, n.turn = l.Name(e.text("interactionId")), l.Name(e.text("toolCallId")), l.Name(e.text("parentToolCallId")), l.Name(e.text("turnId"))
	n.hidden, l.newer = string(e.Ephemeral) == "true", l.newer || n.agent != 0
	switch n.kind {
	case prompt:
		l.from[i], n.delegated = strings.CutPrefix(e.text("source"), "agent-")
		l.asked[i] = task{said: session.DigestOf(e.text("content"))}
	case answer:
		n.from = int32(len(l.calls))
		for _, r := range e.requests() {
			call := l.Name(textOf(r.ID))
			if _, again := l.made[call]; !again {
				l.made[call] = i
			}
			if l.calls = append(l.calls, call); textOf(r.Name) == "task" {
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
		key := n.agent
		if key == 0 { // up to 1.0.24 agents had no names
			key = n.call
		}
		a := &l.agents[l.agentOf(key)]
		a.call, a.name, a.title, a.parent = n.call, e.text("agentName"), e.text("agentDisplayName"), e.text("parentId")
		l.starts[n.call] = l.index[key]
	}
}

// agentOf is the index of the agent with a key, a new one if there is none.
func (l *log) agentOf(key filelog.Name) int32 {
	at, known := l.index[key]
	if !known && key != 0 {
		at = int32(len(l.agents))
		l.agents, l.index[key] = append(l.agents, agent{key: key}), at
	}
	return at
}

func (l *log) callsOf(n *node) []filelog.Name { return l.calls[n.from:n.to] }
