package view

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/session"
)

// Call is one call of an item, with what became of it.
type Call struct {
	ID     string
	Name   string
	Target string // the agent that a delegation or a handoff names
	About  string // the argument that says most, as stored
	Args   string // all arguments, as stored
	Answer Answer
}

// Answer is what is known of a call's result.
type Answer struct {
	State  State
	Size   int    // bytes of the text
	Text   string // whole
	Item   int    // where it stands, -1 when there is none
	Folded bool   // it is shown with its call only
}

// Result is one result of a tool item that is not folded into its call.
type Result struct {
	Call   string // the call's id
	Label  string // "result of shell (item 3), too late"
	Answer Answer
}

// State says how a call ended.
type State uint8

// The states. Unsaid is for places where the state is not the question.
const (
	Unsaid State = iota
	OK
	Failed
	NoResult
	Placeholder
	Pending
)

func (s State) String() string {
	return [...]string{"", "ok", "error", "no result", "placeholder", "pending"}[s]
}

// Label is the call in few words: "transfer_task → worker".
func (c *Call) Label() string {
	name := c.Name
	if name == "" {
		name = "(a tool without a name)"
	}
	if c.Target != "" {
		return name + " → " + c.Target
	}
	return name
}

// handoffTools are the tools that hand the session to another agent, and the
// argument that names it.
var handoffTools = map[string]string{"handoff": "agent", "transfer_to_agent": "agent_name"}

func callOf(c *session.Call) Call {
	out := Call{ID: c.ID, Name: c.Name, Args: c.Args}
	args, readable := arguments(c.Args)
	out.Target = args.first(handoffTools[c.Name])
	if d := c.Delegation; d != nil {
		out.Target, out.About = d.Agent, args.first("task", "prompt")
	}
	switch {
	case !readable:
		out.About = c.Args
	case out.Target == "" && out.About == "" && len(args) > 0:
		out.About = args[0].text
	}
	return out
}

// argument is a member of a call's arguments: a string's text, or other JSON as
// it is stored.
type argument struct{ name, text string }

type argumentList []argument

// arguments reads the members in stored order; it is false when the text is no
// JSON object.
func arguments(text string) (argumentList, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(text), lenient)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return nil, false
	}
	var list argumentList
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		member := argument{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		member.text = string(value)
		if value.Kind() == jsontext.KindString {
			if plain, err := jsontext.AppendUnquote(nil, value); err == nil {
				member.text = string(plain)
			}
		}
		list = append(list, member)
	}
	return list, true
}

// first is the text of the first of the named members that is there.
func (list argumentList) first(names ...string) string {
	for _, name := range names {
		for _, a := range list {
			if name != "" && a.name == name {
				return a.text
			}
		}
	}
	return ""
}
