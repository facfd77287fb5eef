package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC509ReasoningContentMissing(t *testing.T) {
	of := func(model string) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Root().Model = model }
	}
	reasons := session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm")}
	twoSteps := `
P
  user
  root c1()
  root <c1
  root c2()
  root <c2
  root "done"`
	runCases(t, []ruleCase{
		{
			name: "the session says that it thinks", profile: "kimi deepseek", tree: twoSteps, tweak: thinking(session.Yes),
			want: `SC509 error P.1,3`, says: "2 turns with tool calls have no reasoning",
		},
		{name: "the model always thinks", profile: "deepseek", tree: oneStep, tweak: of("deepseek/DeepSeek-Reasoner"), want: `SC509 error P.1`},
		{name: "the other one that does", profile: "kimi", tree: oneStep, tweak: of("kimi-k2-thinking"), want: `SC509 error P.1`},
		{
			name: "another turn has reasoning", profile: "deepseek", tree: twoSteps, tweak: inBlocks(1, reasons, aCall),
			want: `SC509 error P.3`,
		},
		{
			name: "nothing says it", profile: "kimi", tree: oneStep, want: `SC509 warning P.1`,
			says: "The session does not say whether it does",
		},
		{name: "thinking is off", profile: "kimi", tree: oneStep, tweak: all(thinking(session.No), of("kimi-k2-thinking"))},
		{name: "a model that never thinks", profile: "deepseek", tree: twoSteps, tweak: all(of("deepseek-chat"), inBlocks(1, reasons, aCall))},
		{name: "Kimi K2 does not think by itself", profile: "kimi", tree: oneStep, tweak: of("moonshotai/kimi-k2-0905-preview")},
		{name: "nor does DeepSeek V3", profile: "deepseek", tree: oneStep, tweak: of("deepseek-v3")},
		{name: "a later V3 does both", profile: "deepseek", tree: oneStep, tweak: of("deepseek-v3.1"), want: `SC509 warning P.1`},
		{name: "its reasoner thinks", profile: "deepseek", tree: oneStep, tweak: of("deepseek-v3.2-reasoner"), want: `SC509 error P.1`},
		{
			name: "every turn that calls has its reasoning", profile: "deepseek kimi", tree: twoSteps,
			tweak: all(thinking(session.Yes), inBlocks(1, reasons, aCall), inBlocks(3, reasons, aCall)),
		},
		{name: "turns without calls need none", profile: "deepseek", tree: quiet, tweak: thinking(session.Yes)},
		{
			name: "history that a summary covers", profile: "deepseek", tweak: thinking(session.Yes),
			tree: oneStep + `
  summary "so far"
  user`,
		},
		{name: "another provider", profile: "openai-chat", tree: oneStep, tweak: thinking(session.Yes)},
	})
}
