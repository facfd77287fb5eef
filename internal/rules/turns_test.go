package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// TestWhatDoesNotDecodePartsTurns: what the record said is not known, so nothing
// can be said of the messages beside it.
func TestWhatDoesNotDecodePartsTurns(t *testing.T) {
	undecoded := func(item int) func(*session.Tree) {
		return func(tree *session.Tree) {
			s := tree.Root()
			s.Items[item].Kind, s.Items[item].Role = session.Other, session.NoRole
			s.Faults = append(s.Faults, session.Fault{Kind: session.Undecodable, Ref: s.ItemRef(item), Item: item, Field: "message_json"})
		}
	}
	between := "P\n  user\n  root \"gone\"\n  user\n  root \"ok\""
	first := "P\n  user\n  root \"ok\"\n  user"
	runCases(t, []ruleCase{
		{name: "the messages beside it are no run", profile: "generic", tree: between, tweak: undecoded(1), want: "SC010 error P.1\nkept: quarantine P.1"},
		{name: "the one behind it is no start", profile: "generic", tree: first, tweak: undecoded(0), want: "SC010 error P.0\nkept: quarantine P.0"},
		{name: "the one before it is no end", profile: "generic", asIs: true, tree: between, tweak: undecoded(3), want: "SC010 error P.3\nkept: quarantine P.3"},
		{
			name: "what no model sees parts nothing", profile: "generic",
			tree: "P\n  user\n  other\n  user\n  root \"ok\"", want: "SC301 info P.0,2",
		},
		{
			name: "an item of which only a part does not decode is a message as any", profile: "generic",
			tree: "P\n  user\n  user\n  root \"ok\"",
			tweak: func(tree *session.Tree) {
				s := tree.Root()
				s.Faults = append(s.Faults, session.Fault{Kind: session.Undecodable, Ref: s.ItemRef(1), Item: 1, Field: "branch"})
			},
			want: "SC010 error P.1\nkept: quarantine P.1\nSC301 info P.0,1",
		},
	})
}
