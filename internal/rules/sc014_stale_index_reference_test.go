package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// indexed gives the root session an index reference.
func indexed(index int64) func(*session.Tree) {
	return func(tree *session.Tree) {
		ref := tree.Root().Ref()
		ref.Pointer = "/instruction_context/epoch_start"
		tree.Root().IndexRefs = []session.IndexRef{{Ref: ref, Field: "epoch_start", Index: index}}
	}
}

func TestSC014StaleIndexReference(t *testing.T) {
	const two = `
P
  user
  sub GONE
  root "ok"`
	runCases(t, []ruleCase{
		{
			name: "a number beyond the entries that the reader loads", tree: two, tweak: indexed(3),
			want: `
				SC014 warning P
				lossless: set P/instruction_context/epoch_start epoch_start=2
				SC704 warning P.1
				kept with prune: quarantine P.1`,
			says: "epoch_start is 3, but the session has 2 entries",
		},
		{
			name: "a negative number", tree: two, tweak: indexed(-1),
			want: `
				SC014 warning P
				lossless: set P/instruction_context/epoch_start epoch_start=0
				SC704 warning P.1
				kept with prune: quarantine P.1`,
		},
		{name: "the length of the list is legal: it means the end", tree: two, tweak: indexed(2), want: `SC704 warning P.1
				kept with prune: quarantine P.1`},
	})
}
