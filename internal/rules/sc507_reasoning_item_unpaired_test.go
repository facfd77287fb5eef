package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

func TestSC507ReasoningItemUnpaired(t *testing.T) {
	reasoning := session.Block{Kind: session.ReasoningBlock, ID: "rs_1"}
	further := session.Block{Kind: session.ReasoningBlock, ID: "rs_2"}
	call := session.Block{Kind: session.CallBlock, ID: "fc_1", With: "rs_1"}
	second := session.Block{Kind: session.CallBlock, ID: "fc_2", With: "rs_1", Nth: 1}
	lone := `
P
  user
  root blank
  user`
	both := `
P
  user
  root blank
  root c1() c2()
  root <c1
  root <c2
  root "done"`
	calls := strings.Replace(both, "  root blank\n", "", 1)
	runCases(t, []ruleCase{
		{
			name: "reasoning whose call is gone", profile: "openai-responses", tree: lone, tweak: inBlocks(1, reasoning),
			want: `
				SC507 error P.1
				kept: quarantine P.1`,
			says: `reasoning item "rs_1" has no message or call after it that it led to`,
		},
		{
			name: "two of them", profile: "openai-responses", tweak: all(inBlocks(1, reasoning), inBlocks(2, further)),
			tree: `
P
  user
  root blank
  root blank
  user`,
			want: `
				SC507 error P.1
				kept: quarantine P.1
				SC507 error P.2
				kept: quarantine P.2`,
		},
		{name: "its calls follow", profile: "openai-responses", tree: both, tweak: all(inBlocks(1, reasoning), inBlocks(2, call, second))},
		{
			name: "reasoning behind results, at the end of a turn", profile: "openai-responses", tweak: inBlocks(3, reasoning),
			tree: oneStep + `
  root blank
  user`,
			want: `
				SC507 error P.3
				kept: quarantine P.3`,
		},
		{
			name: "one reasoning for calls in several steps", profile: "openai-responses", tweak: all(inBlocks(1, reasoning, call), inBlocks(3, second)),
			tree: `
P
  user
  root c1()
  root <c1
  root c2()
  root <c2`,
		},
		{name: "it may still come", profile: "openai-responses", tree: "P\n  user\n  root blank", tweak: inBlocks(1, reasoning), store: alive},
		{
			name: "it will not come in front of the user's message", profile: "openai-responses", tree: lone, tweak: inBlocks(1, reasoning), store: alive,
			want: `
				SC507 error P.1
				kept: quarantine P.1`,
		},
		{
			name: "reasoning without a server's id", profile: "openai-responses", tree: lone,
			tweak: inBlocks(1, session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm")}),
		},
		{
			name: "calls whose reasoning is gone", profile: "openai-responses", tree: calls, tweak: inBlocks(1, sentence, call, second),
			want: `
				SC507 error P.1
				lossless: clear P.1/blocks/1 item_id
				SC507 error P.1
				lossless: clear P.1/blocks/2 item_id`,
			says: `call item "fc_1" was made with reasoning item "rs_1", which is missing before it`,
		},
		{
			name: "the reasoning stands behind its call", profile: "openai-responses", tree: oneStep, tweak: inBlocks(1, call, reasoning),
			want: `
				SC507 error P.1
				lossless: clear P.1/blocks/0 item_id`,
		},
		{
			name: "the reasoning of an earlier turn does not count", profile: "openai-responses", tweak: all(inBlocks(1, reasoning, sentence), inBlocks(3, call)),
			tree: `
P
  user
  root "hi"
  user
  root c1()
  root <c1`,
			want: `
				SC507 error P.3
				lossless: clear P.3/blocks/0 item_id`,
		},
		{
			name: "nobody knows what the call was made with", profile: "openai-responses", tree: oneStep,
			tweak: inBlocks(1, session.Block{Kind: session.CallBlock, ID: "fc_1"}),
		},
		{
			name: "ids that are not of OpenAI's server", profile: "openai-responses", tree: calls,
			tweak: inBlocks(1, session.Block{Kind: session.CallBlock, ID: "call_1", With: "rs_1"}),
		},
		{
			name: "nor of its reasoning", profile: "openai-responses", tree: lone,
			tweak: inBlocks(1, session.Block{Kind: session.ReasoningBlock, ID: "think_1"}),
		},
		{
			name: "history that a summary covers", profile: "openai-responses", tweak: inBlocks(1, reasoning),
			tree: `
P
  user
  root blank
  summary "so far"
  user`,
		},
		{name: "another provider", profile: "anthropic", tree: calls, tweak: inBlocks(1, sentence, call, second)},
	})
}

// TestALoneCallIsNamedByItsCallID: of two calls of a message, the finding and
// its fingerprint are about the one.
func TestALoneCallIsNamedByItsCallID(t *testing.T) {
	trees := treetest.Trees(t, "P\n  user\n  root c1() c2()\n  root <c1\n  root <c2\n  root \"done\"")
	inBlocks(1, aCall, session.Block{Kind: session.CallBlock, ID: "fc_2", With: "rs_1", Nth: 1})(trees[0])
	found := findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("openai-responses")}})
	if len(found) != 1 || found[0].Call != "c2" || found[0].Nth != 1 {
		t.Errorf("not one finding about c2:\n%s", messages(found))
	}
}
