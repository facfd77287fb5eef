package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// damagedShapes have messages that a provider does not want where they stand, or
// that say nothing.
var damagedShapes = []damagedDatabase{
	{rule: "SC301", name: "a question that nobody answered", profile: "bedrock", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.User("Are you there?")
		o.root.Assistant("root", agenttest.Message{Content: "Yes."})
		return o
	}},
	{rule: "SC302", name: "an answer before any question", profile: "generic", build: func(t *testing.T) *office {
		return talk(t, func(root *agenttest.Session) {
			root.Assistant("root", agenttest.Message{Content: "What can I do?"})
			root.User("Fix the build")
		})
	}},
	{rule: "SC303", name: "an answer at the end, sent as it is", profile: "anthropic", asIs: true, build: func(t *testing.T) *office {
		return newOffice(t, 29)
	}},
	{rule: "SC304", name: "instructions in the middle", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "MisplacedSystem", o.result.Row)
	}},
	{rule: "SC305", name: "a run that ended with a result", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
		o.root.Result("root", "r9", "make: done")
		return o
	}},
	{rule: "SC306", name: "a call behind another answer", profile: "gemini", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.Assistant("root", agenttest.Message{Content: "I build it."})
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
		o.root.Result("root", "r9", "make: done")
		o.root.Assistant("root", agenttest.Message{Content: "Done."})
		return o
	}},
	{rule: "SC307", name: "a session that was only opened", build: func(t *testing.T) *office {
		return talk(t, func(*agenttest.Session) {})
	}},
	{rule: "SC308", name: "a role that nobody knows", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		return o.damage(t, "UnknownRole", o.user.Row, "critic")
	}},
	{rule: "SC308", name: "a part of a type that nobody knows", build: func(t *testing.T) *office {
		return newOffice(t, 29).asked(agenttest.TextPart("Look at this"), agenttest.Part{Type: "hologram"})
	}},
	{rule: "SC401", name: "an answer of nothing but white space", build: func(t *testing.T) *office {
		o := newOffice(t, 19)
		o.root.User("Thanks")
		return o.damage(t, "BlankMessage", o.root.Assistant("root", agenttest.Message{Content: "You are welcome."}).Row)
	}},
	{rule: "SC402", name: "a line break beside a call", profile: "anthropic", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.Assistant("root", agenttest.Message{Content: "\n", ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
		o.root.Result("root", "r9", "make: done")
		o.root.Assistant("root", agenttest.Message{Content: "Done."})
		return o
	}},
	{rule: "SC403", name: "a line break at the end, sent as it is", profile: "anthropic", asIs: true, build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Thanks")
		o.root.Assistant("root", agenttest.Message{Content: "You are welcome.\n"})
		return o
	}, also: "SC303"},
	{rule: "SC309", name: "the provider refused twice, with the same text", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		for n, asked := range []string{"And now?", "go on"} {
			o.root.User(asked)
			o.Exec(`INSERT INTO session_items (session_id, position, item_type, message_json) VALUES (?, ?, 'error', '{"message":"all models failed: error 400 Bad Request: the moon is in the way","code":"model_error","agent_name":"root"}')`, o.root.ID, 1000+10*n)
		}
		return o
	}, also: "SC301"},
	{rule: "SC310", name: "three prompts that nothing answered", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		for _, asked := range []string{"And now?", "Hello?", "Are you there?"} {
			o.root.User(asked)
		}
		return o
	}, also: "SC301"},
	{rule: "SC406", name: "a tool that failed without a word", profile: "bedrock", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
		o.root.FailedResult("root", "r9", "")
		o.root.Assistant("root", agenttest.Message{Content: "It failed."})
		return o
	}},
	{rule: "SC407", name: "a message that was never finished", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("One more thing")
		o.root.Placeholder("root", "The thing is th", "")
		o.root.User("go on")
		return o
	}},
	{rule: "SC408", name: "an answer that came back as a question", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("What did you do?")
		said := o.root.Assistant("root", agenttest.Message{Content: "I added the rule that make was missing, ran the build again, and looked at what it printed."})
		o.root.Assistant("root", agenttest.Message{Content: "Is there anything else?"})
		return o.damage(t, "StrayPromptCopy", said.Row)
	}},
}
