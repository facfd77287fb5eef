package rules_test

import (
	"strings"
	"testing"
)

func TestSC206ToolNameInvalid(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "names with spaces and dots, all in one finding",
			tree: `
P
  user
  root c1:fs/read() c2:fs.write()
  root <c1
  root <c2
  root c3:shell() c4:fs/read()
  root <c3
  root <c4
  root "ok"`,
			profile: "anthropic",
			want:    `SC206 error P.1,4`,
			says:    `3 calls have a tool name that Anthropic Messages refuses: "fs/read" and "fs.write"`,
		},
		{
			name: "Gemini takes a dot, but no digit in front",
			tree: `
P
  user
  root c1:fs.read() c2:2nd()
  root <c1
  root <c2
  root "ok"`,
			profile: "gemini",
			want:    `SC206 error P.1`,
			says:    "\"2nd\"",
		},
		{
			name:    "newer models of Anthropic take longer names than older ones",
			tree:    "P\n  user\n  root c1:" + strings.Repeat("n", 90) + "()\n  root <c1\n  root \"ok\"",
			profile: "anthropic", want: `SC206 warning P.1`, says: `1 call has a tool name of more than 64 characters, which older models refuse: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"…`,
		},
		{
			name:    "but not of any length",
			tree:    "P\n  user\n  root c1:" + strings.Repeat("n", 129) + "()\n  root <c1\n  root \"ok\"",
			profile: "anthropic", want: `SC206 error P.1`,
		},
		{
			name: "a call without a name",
			tree: `
P
  user
  root c1:()
  root <c1
  root "ok"`,
			profile: "generic",
			want:    `SC206 warning P.1`,
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root c1:fs/read()
  root <c1
  summary "so far"
  user`,
			profile: "anthropic",
		},
	})
}
