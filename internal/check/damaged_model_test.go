package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

const claude = "anthropic/claude-sonnet-4-5"

// thought is an answer with thinking, "" for no signature.
func thought(model, reasoning, signature string) agenttest.Message {
	return agenttest.Message{Model: model, Content: "Done.", ReasoningContent: reasoning, ThinkingSignature: signature}
}

// images are small.
func images(n int) []agenttest.Part {
	return slices.Repeat([]agenttest.Part{agenttest.ImagePart(2, 2)}, n)
}

// damagedForModels have thinking and media that a model's provider does not take
// back.
var damagedForModels = []damagedDatabase{
	{rule: "SC501", name: "a tool loop that lost its thinking", profile: "anthropic", asIs: true, build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		thinks := thought(claude, "I make it.", "c2lnbmVk")
		thinks.ToolCalls = []agenttest.ToolCall{agenttest.CallTool("r8", "shell", "{}")}
		o.root.Assistant("root", thinks)
		o.root.Result("root", "r8", "make: no rule")
		o.root.Assistant("root", agenttest.Message{Model: claude, ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")}})
		o.root.Result("root", "r9", "make: done")
		return o
	}},
	{rule: "SC502", name: "thinking that was stored without its signature", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).answers(thought(claude, "It is fine.", ""))
	}},
	{rule: "SC503", name: "two texts under one signature", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).answers(thought(claude, "It is fine.", "c2lnbmVk")).answers(thought(claude, "It is not.", "c2lnbmVk"))
	}},
	{rule: "SC504", name: "thinking of another provider", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).answers(thought("google/gemini-3-pro", "It is fine.", "c2lnbmVk"))
	}},
	{rule: "SC506", name: "a call without a thought signature, sent as it is", asIs: true, build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Build it again")
		o.root.Assistant("root", agenttest.Message{
			Model: "google/gemini-3-pro", ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "shell", "{}")},
		})
		o.root.Result("root", "r9", "make: done")
		return o
	}},
	{rule: "SC509", name: "a model that thinks, and no thought beside its call", build: func(t *testing.T) *office {
		return newOffice(t, 29).answers(agenttest.Message{Model: "deepseek/deepseek-reasoner", Content: "Fixed."})
	}},
	{rule: "SC601", name: "a very wide image", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).asked(agenttest.TextPart("What is this?"), agenttest.ImagePart(8001, 2))
	}},
	{rule: "SC601", name: "a wide image among many", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).asked(append(images(20), agenttest.ImageDocument("plan.png", 2001, 2))...)
	}},
	{rule: "SC602", name: "more than a hundred images", profile: "anthropic", build: func(t *testing.T) *office {
		return newOffice(t, 29).asked(images(101)...)
	}},
	{rule: "SC603", name: "a document in a result", profile: "bedrock", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		o.root.User("Read the plan")
		o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.CallTool("r9", "read", "{}")}})
		plan := agenttest.DocumentPart(agenttest.Document{Name: "plan.pdf", MimeType: "application/pdf"})
		o.root.Message("root", agenttest.Message{Role: "tool", Content: "the plan", ToolCallID: "r9", MultiContent: []agenttest.Part{plan}}, false)
		o.root.Assistant("root", agenttest.Message{Content: "It is clear."})
		return o
	}},
	{rule: "SC604", name: "a text of twenty megabytes", profile: "bedrock", build: func(t *testing.T) *office {
		return newOffice(t, 29).asked(agenttest.TextPart(strings.Repeat("make: no rule. ", 20<<20/15+1)))
	}},
	{rule: "SC605", name: "five marks for the cache", profile: "anthropic", build: func(t *testing.T) *office {
		o := newOffice(t, 29)
		for range 5 {
			o.answers(agenttest.Message{Content: "Still fine.", CacheControl: true})
		}
		return o
	}},
}
