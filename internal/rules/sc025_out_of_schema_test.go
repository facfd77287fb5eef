package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC025OutOfSchema(t *testing.T) {
	const two = `
P
  user "q"
  root "a"`
	misfit := func(f session.Fault) func(*session.Tree) {
		return func(tree *session.Tree) {
			f.Kind, f.Unloads, f.Field, f.Item, f.Ref = session.OutOfSchema, true, "line 2 /data/success", 1, tree.Root().ItemRef(1)
			f.Detail = "line 2 does not fit"
			tree.Root().Faults = append(tree.Root().Faults, f)
		}
	}
	value, nothing := "true", ""
	runCases(t, []ruleCase{
		{
			name: "a value that is known", tree: two, tweak: misfit(session.Fault{Default: &value}), says: "line 2 does not fit",
			want: `
				SC025 error P.1
				kept: set P.1 line 2 /data/success=true`,
		},
		{
			name: "a guess", tree: two, tweak: misfit(session.Fault{Default: &value, Guess: true}),
			want: `
				SC025 error P.1
				kept with guesses: set P.1 line 2 /data/success=true`,
		},
		{
			name: "a value that leaves", tree: two, tweak: misfit(session.Fault{Default: &nothing}),
			want: `
				SC025 error P.1
				kept: clear P.1 line 2 /data/success`,
		},
		{
			name: "nothing mends it", tree: two, tweak: misfit(session.Fault{}),
			want: `
				SC025 error P.1
				kept: quarantine P.1`,
		},
	})
}
