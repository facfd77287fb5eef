package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC027KeptBeside(t *testing.T) {
	text := "12 files"
	line := session.Fault{Kind: session.KeptBeside, Field: "backup line 3", Detail: "backup line 3 is not in the file"}
	result := line
	result.Calls, result.Default = []string{"c1"}, &text
	runCases(t, []ruleCase{
		{name: "a line that somebody has to look at", tree: quiet, tweak: ofSession(line), want: "SC027 warning P\nmanual:", says: "is not in the file"},
		{
			name: "the result of a call that has none, which SC101 puts back", tweak: ofSession(result),
			tree: `
P
  user
  root "on it" c1()
  user
  root "ok"`,
			want: `
				SC027 warning P
				SC101 error P.1
				lossless: insert result c1 from backups/backup line 3 in P after P.1`,
		},
	})
}
