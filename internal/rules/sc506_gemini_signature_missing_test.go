package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC506GeminiSignatureMissing(t *testing.T) {
	of := func(model string) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Root().Model = model }
	}
	twoSteps := `
P
  user
  root c1() c2()
  root <c1
  root <c2
  root c3()
  root <c3`
	second := bareCall
	second.Nth = 1
	runCases(t, []ruleCase{
		{
			name: "an unsigned call", profile: "gemini", asIs: true, tree: oneStep, tweak: all(named, inBlocks(1, bareCall)),
			want: `SC506 error P.1`, says: "the first call of 1 step since the last user message has no thought signature. Gemini 3 requires that signature",
		},
		{
			name: "every step of the turn", profile: "gemini", asIs: true, tree: twoSteps,
			tweak: all(named, of("google/gemini-3-flash"), inBlocks(1, bareCall, second), inBlocks(4, bareCall)),
			want:  `SC506 error P.1,4`,
		},
		{name: "its parallel siblings need none", profile: "gemini", asIs: true, tree: twoSteps, tweak: all(named, inBlocks(1, doneCall, second), inBlocks(4, doneCall))},
		{
			name: "another call of the session is signed", profile: "gemini", asIs: true, tree: twoSteps, tweak: all(named, inBlocks(1, doneCall, aCall)),
			want: `SC506 error P.4`,
		},
		{name: "a store that keeps no signatures", profile: "gemini", asIs: true, tree: oneStep, tweak: all(named, inBlocks(1, sentence, aCall))},
		{
			name: "the turn is not over while nothing of the user follows", profile: "gemini", asIs: true, tree: answered,
			tweak: all(named, inBlocks(1, bareCall)),
			want: `
				SC303 warning P.3
				SC506 error P.1`,
		},
		{
			name: "results that the user's message holds are not of the user", profile: "gemini", asIs: true, tree: oneStep,
			tweak: all(named, inBlocks(1, bareCall), func(tree *session.Tree) { tree.Root().Items[2].Role, tree.Root().Items[2].Text = session.User, 0 }),
			want:  `SC506 error P.1`,
		},
		{name: "a next message begins a new turn", profile: "gemini", tree: answered, tweak: all(named, inBlocks(1, bareCall))},
		{
			name: "the turn before the last message", profile: "gemini", asIs: true, tweak: all(named, inBlocks(1, bareCall)),
			tree: answered + `
  user`,
		},
		{name: "Gemini 2.5 takes it", profile: "gemini", asIs: true, tree: oneStep, tweak: all(named, of("gemini-2.5-pro"), inBlocks(1, bareCall))},
		{
			name: "a session of Claude goes on with Gemini", profile: "gemini", asIs: true, tree: oneStep,
			tweak: all(named, of("claude-opus-4-5"), inBlocks(1, bareCall)), want: `SC506 error P.1`,
		},
		{name: "another provider", profile: "openai-chat", asIs: true, tree: oneStep, tweak: inBlocks(1, bareCall)},
	})
}
