package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC606BadUnicode(t *testing.T) {
	fault := session.Fault{Kind: session.BadUnicode, Field: "message_json", Detail: "half a character at byte 7"}
	reads := func(s *session.Store) {
		s.Title, s.Loses = "Office", map[string]string{"SC606": "sends U+FFFD in its place"}
	}
	runCases(t, []ruleCase{
		{
			name: "the runtime sends something else in its place", tree: quiet, tweak: ofItem(fault), store: reads,
			want: `SC606 warning P.1`,
			says: "message_json is not valid Unicode: half a character at byte 7. Office sends U+FFFD in its place",
		},
		{name: "so, too, in the session's own record", tree: quiet, tweak: ofSession(fault), store: reads, want: `SC606 info P`},
		{
			name: "a message, for whatever provider", tree: quiet, tweak: ofItem(fault),
			want: `
				SC606 error P.1
				kept: scrub P.1`,
			says: "message_json is not valid Unicode: half a character at byte 7. No provider can read such text",
		},
		{
			name: "several providers are one finding", profile: "anthropic gemini", tree: quiet, tweak: ofItem(fault),
			want: `
				SC606 error P.1
				kept: scrub P.1`,
		},
		{
			name: "the summary that the next request begins with", tweak: ofItem(fault),
			tree: `
P
  user
  summary "so far"
  user`,
			want: `
				SC606 error P.1
				kept: scrub P.1`,
		},
		{
			name: "history that a summary covers", tweak: ofItem(fault),
			tree: `
P
  user
  root "hi"
  summary "so far"
  user`,
			want: `SC606 info P.1`, says: "A summary covers this part of the session, so it is not sent to a model again",
		},
		{
			name: "the summary of a child that is never sent again",
			tweak: func(tree *session.Tree) {
				child := tree.Sessions[1]
				child.Faults = append(child.Faults, session.Fault{Kind: session.BadUnicode, Item: 3, Ref: child.ItemRef(3)})
			},
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  user implicit
  worker "half"
  summary "so far"
  worker "done"`,
			want: `SC606 info C.3`, says: "This sub-session is finished and is never sent to a model again",
		},
		{name: "the session's own record", tree: quiet, tweak: ofSession(fault), want: `SC606 error P`},
		{name: "a record that belongs to no session", tree: quiet, store: ofStore(fault), want: `SC606 error`},
	})
}
