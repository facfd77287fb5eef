package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/treetest"
)

// TestMessageNumbers: the numbers of the items of a conversation, and of the next
// message behind it.
func TestMessageNumbers(t *testing.T) {
	secondCall := session.Block{Kind: session.CallBlock, Nth: 1}
	for _, tc := range []struct {
		name, tree, profile string
		tweak               func(*session.Tree)
		want                []int
	}{
		{name: "results join", tree: answered, profile: "anthropic", want: []int{0, 1, 2, 3, 4}},
		{name: "every call and result counts", tree: oneStep, profile: "openai-responses", want: []int{0, 1, 2, 3}},
		{
			name: "and so does all reasoning", profile: "openai-responses",
			tree: `
P
  user
  root "text" c1() c2()
  root <c1
  root <c2`,
			tweak: inBlocks(1, thought, sentence, thought, aCall, secondCall),
			want:  []int{0, 1, 6, 7, 8},
		},
		{
			name: "reasoning alone, which elsewhere is nothing", profile: "openai-responses",
			tree: "P\n  user\n  root blank\n  user", tweak: inBlocks(1, thought), want: []int{0, 1, 2, 3},
		},
		{name: "as there", profile: "openai-chat", tree: "P\n  user\n  root blank\n  user", tweak: inBlocks(1, thought), want: []int{0, -1, 1, 2}},
		{name: "what says nothing at all", profile: "openai-responses", tree: "P\n  user\n  root blank\n  user", want: []int{0, -1, 1, 2}},
		{name: "reasoning is a part of the message elsewhere", profile: "openai-chat", tree: oneStep, tweak: inBlocks(1, thought, aCall), want: []int{0, 1, 2, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tree := treetest.Tree(t, tc.tree)
			if tc.tweak != nil {
				tc.tweak(tree)
			}
			profile := rules.FindProfile(tc.profile)
			pass := rules.NewPass(&session.Store{}, tree, rules.Judge{Profiles: []*rules.Profile{profile}}, nil)
			if diff := cmp.Diff(tc.want, pass.Subjects[0].MessageNumbers(profile)); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// TestCallsAreNumberedWithTheReasoning: what a provider says of a call names the
// input item that the call is.
func TestCallsAreNumberedWithTheReasoning(t *testing.T) {
	long := "c234567890123456789012345678901234567890123456789012345678901234567890"
	for name, tc := range map[string]struct {
		blocks []session.Block
		want   string
	}{
		"the parts are not known":      {nil, "input[3]"},
		"reasoning in front":           {[]session.Block{thought, sentence, aCall, {Kind: session.CallBlock, Nth: 1}}, "input[4]"},
		"between the calls too":        {[]session.Block{thought, sentence, aCall, thought, {Kind: session.CallBlock, Nth: 1}}, "input[5]"},
		"two parts of text are one":    {[]session.Block{sentence, sentence, aCall, {Kind: session.CallBlock, Nth: 1}}, "input[3]"},
		"the text behind":              {[]session.Block{aCall, {Kind: session.CallBlock, Nth: 1}, sentence}, "input[2]"},
		"only the reasoning is stored": {[]session.Block{thought}, "input[4]"},
	} {
		trees := treetest.Trees(t, "P\n  user\n  root \"text\" c1() "+long+"()\n  root <c1\n  root <"+long)
		inBlocks(1, tc.blocks...)(trees[0])
		found := findFor(&session.Store{}, trees, rules.Judge{Profiles: []*rules.Profile{rules.FindProfile("openai-responses")}})
		want := "Invalid '" + tc.want + ".call_id': string too long. Expected a string with maximum length 64, but got a string with length 70 instead."
		if len(found) != 1 || found[0].ProviderError != want {
			t.Errorf("%s: want %q of\n%s", name, want, messages(found))
			for _, f := range found {
				t.Log(f.ProviderError)
			}
		}
	}
}
