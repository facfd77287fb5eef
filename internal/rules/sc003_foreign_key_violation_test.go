package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC003ForeignKeyViolation(t *testing.T) {
	fault := session.Fault{Kind: session.ForeignKey, Detail: "row 7 of session_items points to a session that does not exist"}
	runCases(t, []ruleCase{
		{name: "a row that points nowhere", tree: quiet, store: ofStore(fault), want: `SC003 error`, says: "row 7 of session_items"},
		{
			name: "rows that name nothing, whose adapter can remove them", tree: quiet, says: "3 rows name messages that do not exist",
			tweak: func(tree *session.Tree) {
				s := tree.Root()
				s.Faults = append(s.Faults, session.Fault{
					Kind: session.ForeignKey, Item: -1, Ref: s.Ref(), Field: "rows", Default: new(string), Detail: "3 rows name messages that do not exist", Remedy: "remove these rows",
				})
			},
			want: `
				SC003 error P
				kept: set P rows=`,
		},
	})
}
