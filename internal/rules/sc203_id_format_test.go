package rules_test

import "testing"

func TestSC203IDFormat(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "ids with dots and colons, all in one finding",
			tree: `
P
  user
  root functions.read.0()
  root <functions.read.0
  root toolu_1() functions.read.1()
  root <toolu_1
  root <functions.read.1
  root "ok"`,
			profile: "anthropic",
			want:    `SC203 error P.1,3`,
			says:    `2 calls have an id that Anthropic Messages refuses: "functions.read.0" and "functions.read.1"`,
		},
		{
			name: "nine letters and digits for Mistral",
			tree: `
P
  user
  root abc()
  root <abc
  root a1b2c3d4e()
  root <a1b2c3d4e
  root "ok"`,
			profile: "mistral",
			want:    `SC203 error P.1`,
		},
		{
			name: "an id that older models refuse",
			tree: `
P
  user
  root call_0123456789012345678901234567890123456789()
  root <call_0123456789012345678901234567890123456789
  root "ok"`,
			profile: "openai-chat",
			want:    `SC203 warning P.1`,
			says:    `1 call has an id of more than 40 characters, which older models refuse: "call_0123456789012345678901234567890123456789"`,
		},
		{
			name: "an id that every model refuses",
			tree: `
P
  user
  root call_01234567890123456789012345678901234567890123456789012345678901234567890()
  root <call_01234567890123456789012345678901234567890123456789012345678901234567890
  root "ok"`,
			profile: "openai-chat",
			want:    `SC203 error P.1`,
		},
		{
			name: "the provider's own tools have ids of their own",
			tree: `
P
  user
  root toolu_1:web_search() <toolu_1
  user`,
			profile: "anthropic",
			tweak:   byServer(1),
			want:    `SC203 error P.1`,
		},
		{
			name: "and those are taken",
			tree: `
P
  user
  root srvtoolu_1:web_search() <srvtoolu_1
  user`,
			profile: "anthropic openai-chat",
			tweak:   byServer(1),
		},
		{
			name: "Gemini takes any id",
			tree: `
P
  user
  root functions.read.0()
  root <functions.read.0
  user "go on"
  root "ok"`,
			profile: "gemini",
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root functions.read.0()
  root <functions.read.0
  summary "so far"
  user`,
			profile: "anthropic",
		},
	})
}
