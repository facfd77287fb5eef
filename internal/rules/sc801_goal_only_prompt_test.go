package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

func TestSC801GoalOnlyPrompt(t *testing.T) {
	untold := func(tree *session.Tree) { // as the outlines of a store are
		for _, s := range tree.Sessions {
			for i := range s.Items {
				s.Items[i].Body = nil
			}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "two different messages before the first answer",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "the user lives in Bonn"
  user "do it"
  worker "done"`,
			want:  `SC801 warning C.0,1 see P.1`,
			says:  "the sub-session of call T1 (transfer_task) begins with 2 different prompts, where one goal is enough",
			tweak: untold,
		},
		{
			name: "an answer of the parent behind the goal",
			tree: `
P
  user "q"
  root "secret plan"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  root "secret plan"
  worker "done"`,
			want: `SC801 warning C.1 see P.1 see P.2`,
			says: "the sub-session of call T1 (transfer_task) has 1 message that agents wrote in P before the delegation",
		},
		{
			name: "the same agent in the child, but the answer is older than the call",
			tree: `
P
  user "q"
  root "ok" at=1
  root T1>root(do it) at=5
  sub C
  root <T1 "done" at=9
C<P
  user "do it" at=5
  root "ok" at=1
  root "done" at=8`,
			only: "SC801",
			want: `SC801 warning C.1 see P.1 see P.2`,
		},
		{
			name: "the same agent in the child says the same again",
			tree: `
P
  user "q"
  root "ok" at=1
  root T1>root(do it) at=5
  sub C
  root <T1 "ok" at=9
C<P
  user "do it" at=5
  root "ok" at=8`,
		},
		{
			name: "another agent in the child says the same as the parent did",
			tree: `
P
  user "q"
  root "ok"
  root T1>worker(do it)
  sub C
  root <T1 "ok"
C<P
  user "do it"
  worker "ok"`,
		},
		{
			name: "the parent's agent speaks in the child after a handoff, as it did before",
			tree: `
P
  user "q"
  root "ok"
  root T1>worker(do it)
  sub C
  root <T1 "ok"
C<P
  user "do it"
  worker h1:handoff(root)
  worker <h1
  root "ok"`,
		},
		{
			name: "an agent whose messages have another name than the one it is asked by",
			tree: `
P
  user "q"
  helper "ok"
  helper T1>other__helper(do it)
  sub C
  helper <T1 "ok"
C<P
  user "do it"
  helper "ok"`,
		},
		{
			name: "system messages, and what the runtime says for the user",
			tree: `
P
  user "q"
  root "plan"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system "be brief"
  system(do it)
  user "Today is Monday." implicit
  user "Please proceed." implicit
  worker "done"`,
		},
		{
			name: "the goal, sent twice",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  user "do it"
  worker "done"`,
		},
		{
			name: "the reminder that the user gave the parent, too",
			tree: `
P
  user "use tabs"
  user "review"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "use tabs"
  user "do it"
  worker "done"`,
		},
		{
			name: "what the user says to the parent later explains nothing",
			tree: `
P
  user "review"
  root T1>worker(do it)
  sub C
  root <T1 "done"
  user "use tabs"
C<P
  user "use tabs"
  user "do it"
  worker "done"`,
			want: `SC801 warning C.0,1 see P.1`,
		},
		{
			name: "an image beside the goal",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  user
  worker "done"`,
			tweak: func(tree *session.Tree) {
				it := &tree.Session("C").Items[1]
				it.Text, it.Body.Text, it.Blocks = 0, "", []session.Block{{Kind: session.MediaBlock, Name: "image"}}
			},
		},
		{
			name: "an answer that clocks put a moment before the call",
			tree: `
P
  user "q"
  root "ok" at=1
  root T1>root(do it) at=5
  sub C
  root <T1 "done" at=9
C<P
  user "do it" at=4
  root "ok" at=4
  root "done" at=8`,
		},
		{
			name: "a question after the first answer",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  worker "which one?"
  user "the first"
  worker "done"`,
		},
		{
			name: "two requests that a worker served: each begins with one",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it" run=r1
  user "do that" run=r2
  worker "done" run=r1
  worker "done" run=r2`,
		},
		{
			name: "a child that says that it is a fork",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "what was said"
  user "do it"
  worker "done"`,
			tweak: func(tree *session.Tree) { tree.Session("C").Forked = true },
		},
		{
			name: "a child that begins with the summary of what it did",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  summary "so far"
  user "do it"
  user "go on"
  worker "done"`,
		},
		{
			name: "an answer that leaked from a sibling with the same task",
			tree: `
P
  user "q"
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1 "done"
  root T2>worker(do it)
  sub D
  root <T2 "done"
C<P
  system(do it)
  worker "done"
D<P
  system(do it)
  worker "done"`,
			only: "SC801",
		},
		{
			name: "a child that several calls share is that of SC707",
			tree: `
P
  user "q"
  root T1>worker(do it)=C T2>worker(do that)=C
  root <T1 "done"
  root <T2 "done"
C
  user "do it"
  user "do that"
  worker "done"
  worker "done"`,
			only: "SC801",
		},
	})
}

// TestSC801PassagesOfTheParent: what was said before, word by word in a prompt.
func TestSC801PassagesOfTheParent(t *testing.T) {
	const tree = `
P
  user "QUESTION"
  root "PLAN" s1()
  root <s1 "FILE"
  root T1>worker(GOAL)
  sub C
  root <T1 "done"
C<P
  system "SYSTEM"
  user "PROMPT"
  worker "done"`
	// words are n different words, so that no passage is in another one.
	words := func(name string, n int) string {
		text := ""
		for i := range n {
			text += name + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + " "
		}
		return strings.TrimSpace(text)
	}
	plan, file, question := words("plan", 60), words("file", 60), words("ask", 60)
	for _, tc := range []struct {
		name                          string
		goal, prompt, system          string
		parentPlan, parentFile, asked string
		limit                         *rules.Isolation
		want                          string
	}{
		{name: "the parent's plan in front of the goal", prompt: plan + " do it", want: "SC801 warning C.1 see P.1 see P.3"},
		{name: "in other white space", prompt: strings.ReplaceAll(plan, " ", "  ") + " do it", want: "SC801 warning C.1 see P.1 see P.3"},
		{name: "a result behind the goal", prompt: "do it with " + file, want: "SC801 warning C.1 see P.2 see P.3"},
		{name: "the plan in the system message", system: "Context: " + plan, prompt: "do it", want: "SC801 warning C.0 see P.1 see P.3"},
		{name: "a file that both read, in the system message", system: "Rules: " + file, prompt: "do it"},
		{name: "the plan is the goal", goal: plan, prompt: "Your task: " + plan},
		{name: "a part of the goal", goal: plan, prompt: "Your task: " + plan[:300]},
		{name: "less than the limit", prompt: plan[:150] + " do it"},
		{name: "a lower limit", prompt: plan[:150] + " do it", limit: &rules.Isolation{Passage: 100}, want: "SC801 warning C.1 see P.1 see P.3"},
		{name: "no limit", prompt: plan + " do it", limit: &rules.Isolation{}},
		{name: "the user's own words, which the parent repeated", asked: question, parentPlan: "You say: " + question, prompt: question + " do it"},
	} {
		or := func(text, usual string) string {
			if text == "" {
				return usual
			}
			return text
		}
		text := strings.NewReplacer(
			"QUESTION", or(tc.asked, "q"), "PLAN", or(tc.parentPlan, plan), "FILE", or(tc.parentFile, file),
			"GOAL", or(tc.goal, "do it"), "SYSTEM", or(tc.system, "be brief"), "PROMPT", tc.prompt,
		).Replace(tree)
		runCases(t, []ruleCase{{name: tc.name, tree: text, only: "SC801", limit: tc.limit, want: tc.want}})
	}
}
