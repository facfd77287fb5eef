package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC110ResultsNotFirst(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a text in front of the result",
			tree: `
P
  user
  root c1()
  root <c1
  root "ok"`,
			profile: "anthropic",
			tweak:   changes(inUserItems(2), blocks(2, session.TextBlock, session.ResultBlock)),
			want:    `SC110 error P.2 see P.1`,
			says:    "the message has other content before its results",
		},
		{
			name: "an image between two results",
			tree: `
P
  user
  root c1() c2()
  root <c1 <c2
  root "ok"`,
			profile: "bedrock",
			tweak:   changes(inUserItems(2), blocks(2, session.ResultBlock, session.MediaBlock, session.ResultBlock)),
			want:    `SC110 error P.2 see P.1`,
		},
		{
			name: "a text behind the result is in its place",
			tree: `
P
  user
  root c1()
  root <c1
  root "ok"`,
			profile: "anthropic bedrock",
			tweak:   changes(inUserItems(2), blocks(2, session.ResultBlock, session.TextBlock)),
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root c1()
  root <c1
  summary "so far"
  user`,
			profile: "anthropic",
			tweak:   changes(inUserItems(2), blocks(2, session.TextBlock, session.ResultBlock)),
		},
	})
}
