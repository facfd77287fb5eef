package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC309RecordedRefusal(t *testing.T) {
	const known = "refused(API Error: 400 messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: c1)"
	tail := func(after string) string {
		return `
P
  user
  root
  user
  root refused(API Error: 400 the moon is in the way)
  user
  root refused(API Error: 400 the moon is in the way)` + after
	}
	runCases(t, []ruleCase{
		{name: "twice alike, and only prompts since", tree: tail("\n  user"), want: "SC309 error P.3,5", says: "the last 2 requests were refused alike, and nothing was answered since. It said: API Error: 400 the moon"},
		{name: "a known text once: check sets it against what else is found", tree: `
P
  user
  root ` + known, profile: "anthropic", want: "SC309 error P.1", says: "the last request was refused"},
		{name: "of another provider than is asked", tree: `
P
  user
  root ` + known, want: "SC309 info P.1", says: "It was another provider that refused"},
		{name: "an unknown text twice, with other ids", tree: `
P
  user
  root refused(API Error: 400 the moon is in the way, request req_1)
  user
  root refused(API Error: 400 the moon is in the way, request req_77)`, want: "SC309 error P.1,3", says: "the moon is in the way"},
		{name: "only the last of several texts", tree: `
P
  user
  root refused(error 400 Bad Request: the sun is in the way)
  user
  root refused(error 400 Bad Request: the moon is in the way)
  user
  root refused(error 400 Bad Request: the moon is in the way)`, want: "SC309 error P.3,5"},
		{name: "the sentence of a body", tree: `
P
  user
  root "x" skipped
  user`, tweak: func(tree *session.Tree) {
			s := tree.Root()
			s.Items[1].Own().Refusal = session.RefusalOf(422, `{"error":{"message":"the moon \"M\" is in the way","code":7}}`)
			s.Items = append(s.Items, s.Items[1])
			s.Items[3].Key = "9"
		}, want: "SC309 error P.1,3", says: `It said: the moon "M" is in the way.`},

		{name: "an unknown text once", tree: `
P
  user
  root refused(API Error: 400 the moon is in the way)`},
		{name: "an unknown text without a state of HTTP", tree: `
P
  user
  root refused(the moon is in the way)
  user
  root refused(the moon is in the way)`},
		{name: "answered since", tree: tail("\n  user\n  root")},
		{name: "a result came since", tree: tail("\n  root c1()\n  root <c1")},
		{name: "no matter of what is stored", tree: `
P
  user
  root refused(API Error: 401 unauthorized)
  user
  root refused(API Error: 401 unauthorized)
Q
  user
  root refused(API Error: 529 overloaded)
  user
  root refused(API Error: 529 overloaded)
R
  user
  root refused(API Error: 400 prompt is too long: 210000 tokens)
  user
  root refused(API Error: 400 prompt is too long: 210000 tokens)
S
  user
  root refused(API Error: 400 Your credit balance is too low to access the Anthropic API)
  user
  root refused(API Error: 400 Your credit balance is too low to access the Anthropic API)
T
  user
  root refused(Error code: 400 - Unsupported parameter: temperature)
  user
  root refused(Error code: 400 - Unsupported parameter: temperature)
U
  user
  root refused(error 404 Not Found: something)
  user
  root refused(error 404 Not Found: something)`},

		{name: "compacted since", tree: tail("\n  summary \"so far\"\n  user"), want: "SC309 info P.3,5", says: "The session was compacted since"},
		{name: "off the branch", tree: tail(" archived"), want: "SC309 info P.3,5", says: "branch is not sent any more"},
		{name: "for another model now", tree: tail(" model=gpt-5\n  user model=gpt-5"), want: "SC309 error P.3,5"},
		{name: "to another model now", tree: tail(" model=gpt-5\n  user model=claude-4"), want: "SC309 info P.3,5", says: "The last prompt is for another model"},
		{name: "in a sub-session that is over", tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  user implicit
  worker ` + known, want: "SC309 info C.2"},
		{name: "a repair changed what is sent", tree: tail(""), tweak: func(tree *session.Tree) { tree.Root().Mended = true }, want: `
SC309 error P.3,5
  kept: quarantine P.3; quarantine P.5`},
		{name: "its own provider refuses the next request", tree: tail(""), profile: "own", want: "SC301 info P.2,4\nSC309 error P.3,5"},
	})
}
