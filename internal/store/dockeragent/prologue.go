package dockeragent

import (
	"encoding/json"

	"github.com/sessctl/sessctl/internal/session"
)

// The tools that start a child (docs/stores/docker-agent.md#what-is-read).
const (
	toolBackground = "run_background_agent"
	toolSkill      = "run_skill"
)

// childStart is what the user says in a child that got a task.
const childStart = "Please proceed."

// composePrologue composes what a child of the call starts with: its title, and the two
// messages that docker agent begins it with (docs/stores/docker-agent.md#what-is-read). What a skill says is nowhere
// in the store, so that its message only names it. Arguments that do not parse
// are the task as they are.
func composePrologue(call *session.Call) (title string, items []session.Item) {
	var args struct {
		Task           string `json:"task"`
		ExpectedOutput any    `json:"expected_output"`
		Name           any    `json:"name"`
	}
	if err := json.Unmarshal([]byte(call.Args), &args); err != nil {
		args.Task, args.ExpectedOutput, args.Name = call.Args, nil, nil
	}
	name, _ := args.Name.(string)
	expected, _ := args.ExpectedOutput.(string)
	system, user := "You are a member of a team of agents. Your goal is to complete the following task:", childStart
	switch call.Name {
	case toolBackground:
		title = "Background agent task"
	case toolSkill:
		title = "Skill: " + name
		system = "You run the skill \"" + name + "\". Its text was not kept with this session. This is the task:"
		if args.Task != "" {
			user = args.Task
		}
	default:
		title = "Transferred task"
	}
	system += "\n\n<task>\n" + args.Task + "\n</task>"
	if expected != "" {
		system += "\n\n<expected_output>\n" + expected + "\n</expected_output>"
	}
	return title, []session.Item{composeSaidItem(session.System, system, 0), composeSaidItem(session.User, user, session.Implicit)}
}

// composeSaidItem composes a new message without a time, with the digests that it will have when
// it is read.
func composeSaidItem(role session.Role, text string, flags session.Flags) session.Item {
	it := session.Item{
		Kind: session.Message, Role: role, Flags: flags | session.Synthetic, Body: &session.Body{Text: text},
	}
	data, err := composeMessage(&it)
	var d decoder
	var m message
	if err == nil && d.decodeMessage(data, "", &m) == nil { // both never fail on a text
		it.Text, it.Meaning = m.text, m.meaning
	}
	return it
}
