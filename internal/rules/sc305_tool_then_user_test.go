package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC305ToolThenUser(t *testing.T) {
	const (
		middle = `
P
  user
  root call00001()
  root <call00001
  user
  root "ok"`
		end = `
P
  user
  root call00001()
  root <call00001`
	)
	runCases(t, []ruleCase{
		{
			name: "Mistral minds every one", profile: "mistral",
			tree: middle + `
  user
  root call00002()
  root <call00002`,
			want: `SC305 warning P.3,7`,
			says: "in 2 places",
		},
		{name: "an unknown server has taken those in the middle", tree: middle, profile: "generic"},
		{name: "the user's next message is still to be sent", tree: end, profile: "generic", want: `SC305 warning P.2`},
		{name: "nobody says anything behind it", tree: end, profile: "generic mistral", asIs: true},
		{name: "others take it", tree: end, profile: "anthropic openai-chat openai-responses bedrock"},
		{
			name: "a result that waits for approval",
			tree: `
P
  user
  root call00001()
  root <call00001?`,
			profile: "generic",
			want:    `SC102 info P.1`,
		},
		{
			name: "a second call may still be running",
			tree: `
P
  user
  root call00001() call00002()
  root <call00001`,
			store: alive, profile: "generic",
			want: `SC102 info P.1`,
		},
		{
			name: "results of a turn that is over, whoever writes them",
			tree: `
P
  user
  root call00001()
  user "go on"
  root "ok"`,
			profile: "mistral",
			want: `
				SC101 error P.1
				lossless: insert placeholder call00001 by root in P after P.1
				SC305 warning P.2`,
		},
		{
			name: "results that are stored as the user's message are no word of the user",
			tree: `
P
  user
  root call00001()
  root <call00001
  root "ok"`,
			profile: "mistral",
			tweak: func(tree *session.Tree) {
				it := &tree.Root().Items[2]
				it.Role, it.Own().Agent, it.Text = session.User, "", 0
			},
		},
		{
			name: "a result out of place",
			tree: `
P
  user
  root call00001()
  root "ok"
  root <call00001`,
			profile: "generic",
			want: `
				SC104 error P.3 see P.1
				lossless: move P.3 to P after P.1`,
		},
	})
}
