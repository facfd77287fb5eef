package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC024ForeignOwner(t *testing.T) {
	owned := func(items ...int) func(*session.Tree) {
		return func(tree *session.Tree) {
			for n, i := range items {
				owner := "ada"
				f := session.Fault{Kind: session.ForeignOwner, Field: "resourceId", Default: &owner, Item: i, Ref: tree.Root().ItemRef(i)}
				if n > 0 {
					f.Detail = "bob"
				}
				tree.Root().Faults = append(tree.Root().Faults, f)
				tree.Root().Items[i].Flags |= session.Unshown
			}
		}
	}
	const two = `
P
  user "q"
  root "a"`
	runCases(t, []ruleCase{
		{
			name: "nobody's", tree: two, tweak: owned(1), says: "1 message has no resourceId, so that its runtime does not send it",
			want: `
				SC024 warning P.1
				lossless: set P.1 resourceId=ada`,
		},
		{
			name: "nothing is sent, and one is another's", tree: two, tweak: owned(0, 1), says: "Nothing of the session is sent",
			want: `
				SC024 error P.0
				lossless: set P.0 resourceId=ada
				SC024 error P.1
				lossless with guesses: set P.1 resourceId=ada`,
		},
	})
}
