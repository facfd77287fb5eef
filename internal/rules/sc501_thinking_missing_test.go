package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC501ThinkingMissing(t *testing.T) {
	on := thinking(session.Yes)
	twoSteps := `
P
  user
  root c1()
  root <c1
  root c2()
  root <c2`
	runCases(t, []ruleCase{
		{
			name: "thinking is on, and the loop is sent as it is", profile: "anthropic", asIs: true, tree: oneStep, tweak: on,
			want: `SC501 error P.1`, says: "thinking is on, but the last turn with tool calls does not begin with thinking",
		},
		{name: "the user's next message closes the loop", profile: "anthropic", tree: oneStep, tweak: on},
		{name: "a live runtime goes on by itself", profile: "anthropic", tree: oneStep, tweak: on, store: alive, want: `SC501 error P.1`},
		{
			name: "the turn before it in the loop has thinking", profile: "anthropic", asIs: true, tree: twoSteps, tweak: inBlocks(1, thought, aCall),
			want: `SC501 error P.3`,
		},
		{name: "the last turn alone has to have it", profile: "anthropic", asIs: true, tree: twoSteps, tweak: all(on, inBlocks(3, thought, aCall))},
		{
			name: "thinking behind a text is not the beginning", profile: "anthropic", asIs: true, tree: oneStep, tweak: inBlocks(1, sentence, thought, aCall),
		},
		{
			name: "and where thinking is on, it is missed", profile: "anthropic", asIs: true, tree: oneStep, tweak: all(on, inBlocks(1, sentence, thought, aCall)),
			want: `SC501 error P.1`,
		},
		{name: "nothing says that thinking is on", profile: "anthropic", asIs: true, tree: oneStep},
		{
			name: "thinking was switched off since", profile: "anthropic", asIs: true, tree: twoSteps,
			tweak: all(thinking(session.No), inBlocks(1, thought, aCall)),
		},
		{
			name: "thinking of an earlier turn of the user does not say so", profile: "anthropic", asIs: true, tweak: inBlocks(1, thought, sentence),
			tree: `
P
  user
  root "hi"
  user
  root c1()
  root <c1`,
		},
		{
			name: "text of the user behind the result closes the loop", profile: "anthropic", asIs: true, tweak: on,
			tree: oneStep + `
  user`,
		},
		{
			name: "a result that waits for approval", profile: "anthropic", asIs: true, tweak: on,
			tree: `
P
  user
  root c1()
  root <c1?`,
			want: `SC102 info P.1`,
		},
		{
			name: "a child that is never sent again", profile: "anthropic", asIs: true,
			tweak: func(tree *session.Tree) { tree.Sessions[1].Thinking = session.Yes },
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
  user
C<P
  system(do it)
  user implicit
  worker c1()
  worker <c1`,
		},
		{name: "another provider", profile: "openai-chat", asIs: true, tree: oneStep, tweak: on},
	})
}
