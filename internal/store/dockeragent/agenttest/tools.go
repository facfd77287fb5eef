package agenttest

import "encoding/json"

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
