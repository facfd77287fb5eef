package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC502ThinkingUnsigned(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "one finding names all turns", profile: "anthropic", tweak: all(inBlocks(1, unsigned, aCall), inBlocks(3, unsigned, sentence)),
			tree: answered,
			want: `SC502 error P.1,3`, says: "2 thinking blocks have no signature, which the provider requires",
		},
		{
			name: "a store that can leave it out", profile: "anthropic", tweak: all(inBlocks(1, unsigned, aCall), inBlocks(3, unsigned)), tree: answered, store: omits,
			want: "SC502 error P.1,3\nkept with lossy: omit P.1/blocks/0; quarantine P.3",
		},
		{name: "signed thinking", profile: "anthropic", tree: oneStep, tweak: inBlocks(1, thought, aCall)},
		{
			name: "a store that has no place for signatures", profile: "anthropic", tree: oneStep,
			tweak: inBlocks(1, session.Block{Kind: session.ReasoningBlock, Text: session.DigestOf("hm")}, aCall),
		},
		{name: "an unsigned call is no thinking", profile: "anthropic", tree: oneStep, tweak: inBlocks(1, bareCall)},
		{
			name: "history that a summary covers", profile: "anthropic", tweak: inBlocks(1, unsigned, sentence),
			tree: `
P
  user
  root "hi"
  summary "they said hi"
  user`,
		},
		{
			name: "what is archived, what leaked and a child that is never sent again", profile: "anthropic",
			tweak: all(inBlocks(1, unsigned), inBlocks(3, unsigned), func(tree *session.Tree) {
				tree.Sessions[1].Items[2].Blocks = []session.Block{unsigned}
			}),
			tree: `
P
  user
  root "hi" archived
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  user implicit
  worker "done"`,
			want: `
				SC701 error P.3
				kept: remove P.3 twin C.2`,
		},
		{name: "another provider", profile: "openai-responses", tree: oneStep, tweak: inBlocks(1, unsigned, aCall)},
		{
			name: "a runtime that leaves them out, and nobody asked", tree: oneStep, profile: "own",
			tweak: all(inBlocks(1, unsigned, aCall), func(tree *session.Tree) { tree.Root().Model = "claude-opus-4-5" }),
			store: func(s *session.Store) { s.Adapts = map[string]string{"SC502": "leaves unsigned thinking out"} },
		},
	})
}
