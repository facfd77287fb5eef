package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC016DuplicatedKeyCopies(t *testing.T) {
	fault := session.Fault{Kind: session.CopiesDiffer, Field: "invocation_id", Detail: "the column and event_data differ; the reader takes the column"}
	twice := func(tree *session.Tree) {
		other := fault
		other.Field = "timestamp"
		ofItem(fault)(tree)
		ofItem(other)(tree)
	}
	runCases(t, []ruleCase{
		{
			name: "an event with another invocation in its column", tree: quiet, tweak: ofItem(fault),
			want: `SC016 warning P.1`,
			says: "invocation_id is stored in two places that disagree: the column and event_data differ; the reader takes the column",
		},
		{
			name: "two columns of one event are two findings", tree: quiet, tweak: twice,
			want: `
				SC016 warning P.1
				SC016 warning P.1`,
		},
	})
}
