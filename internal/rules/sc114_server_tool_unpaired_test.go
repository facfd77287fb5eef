package rules_test

import "testing"

func TestSC114ServerToolUnpaired(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "a call that the provider ran, without its result",
			tree: `
P
  user
  root "I search" srvtoolu_1:web_search()
  user`,
			profile: "anthropic",
			tweak:   byServer(1),
			want:    `SC114 warning P.1`,
			says:    "call srvtoolu_1 (web_search) has no result in its message. The provider ran this tool itself, and its result belongs there",
		},
		{
			name: "a result that the provider made, without its call",
			tree: `
P
  user
  root "found" <srvtoolu_1
  user`,
			profile: "anthropic",
			tweak:   byServer(1),
			want:    `SC114 warning P.1`,
			says:    `result "srvtoolu_1" has no call in its message. The provider ran this tool itself, and its call belongs there`,
		},
		{
			name: "a call with its result in the same message",
			tree: `
P
  user
  root srvtoolu_1:web_search() <srvtoolu_1
  user`,
			profile: "anthropic openai-responses",
			tweak:   byServer(1),
		},
		{
			name: "one of two with the same id",
			tree: `
P
  user
  root srvtoolu_1:web_search() srvtoolu_1:web_search() <srvtoolu_1
  user`,
			profile: "openai-responses",
			tweak:   byServer(1),
			want:    `SC114 warning P.1`,
		},
		{
			name: "a result in the next message is not its result",
			tree: `
P
  user
  root srvtoolu_1:web_search()
  root <srvtoolu_1
  user`,
			profile: "anthropic",
			tweak:   changes(byServer(1), byServer(2)),
			want: `
				SC114 warning P.1
				SC114 warning P.2`,
		},
		{
			name: "the provider may still be at it while only results follow",
			tree: `
P
  user
  root srvtoolu_1:web_search() c1()
  root <c1`,
			profile: "anthropic",
			tweak:   changes(ranByServer(1, 0), inUserItems(2)),
		},
		{
			name: "history is in no request",
			tree: `
P
  user
  root srvtoolu_1:web_search()
  summary "so far"
  user`,
			profile: "anthropic",
			tweak:   byServer(1),
		},
	})
}
