package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedCalls have calls and results that do not answer each other, or of which
// a provider cannot tell what they are.
var damagedCalls = []damagedDatabase{
	{rule: "SC101", name: "a result that a cancelled run lost", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DropResult", o.result.Row)
	}},
	{rule: "SC103", name: "a result of a call that nobody made", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "OrphanResult", o.result.Row, "z9")
	}},
	{rule: "SC103", name: "a message that lost its calls", profile: "openai-chat", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "LoseCall", o.caller.Row)
	}},
	{rule: "SC104", name: "a result behind a later message", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DelayResult", o.lateDone.Row, 1)
	}, also: "SC015"},
	{rule: "SC104", name: "a user who wrote in between", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ConcurrentUser", o.result.Row, "hurry up")
	}},
	{rule: "SC105", name: "a result before its call", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "EarlyResult", o.result.Row)
	}, also: "SC015"},
	{rule: "SC106", name: "a result that is stored twice", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "DuplicateResult", o.result.Row)
	}},
	{rule: "SC107", name: "two results that differ", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ConflictingResult", o.result.Row, "make: done")
	}},
	{rule: "SC111", name: "two results in another order than their calls", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Both, please")
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{
			agenttest.CallTool("r8", "shell", `{"cmd":"make"}`), agenttest.CallTool("r9", "shell", `{"cmd":"ls"}`),
		}})
		o.root.Result("root", "r9", "a.txt")
		o.root.Result("root", "r8", "make: done")
		o.root.Assistant("root", agenttest.Message{Content: "Done."})
		return o
	}},
	{rule: "SC112", name: "a stand-in beside the real result", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "ConflictingResult", o.result.Row, "No result provided")
	}},
	{rule: "SC113", name: "a kept tail that begins with a result", build: func(t *testing.T) *office {
		o := newOffice(t, 29).summarized()
		return o.damage(t, "BoundaryInsidePair", o.summary.Row)
	}},
	{rule: "SC201", name: "two calls of one message with one id", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Both, please")
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{
			agenttest.CallTool("r9", "shell", `{"cmd":"make"}`), agenttest.CallTool("r9", "shell", `{"cmd":"ls"}`),
		}})
		o.root.Result("root", "r9", "make: done")
		o.root.Result("root", "r9", "a.txt")
		o.root.Assistant("root", agenttest.Message{Content: "Done."})
		return o
	}},
	{rule: "SC202", name: "an id that begins anew with every turn", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).works(agenttest.CallTool("r2", "shell", "{}"))
	}},
	{rule: "SC203", name: "an id with a colon", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).works(agenttest.CallTool("functions.shell:0", "shell", "{}"))
	}},
	{rule: "SC204", name: "a call that lost its id", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "EmptyCallID", o.caller.Row)
	}},
	{rule: "SC205", name: "arguments that were cut off", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "BadArguments", o.caller.Row)
	}},
	{rule: "SC206", name: "a tool with a blank in its name", profile: "openai-chat", build: func(t *testing.T) *office {
		return newOffice(t, 29).works(agenttest.CallTool("r9", "read file", "{}"))
	}},
}
