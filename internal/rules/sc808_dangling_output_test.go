package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC808DanglingOutput(t *testing.T) {
	const tree = `
P agent=root
  user
  root r1:write_file()
  root <r1
  root "done"`
	refers := func(o session.Output) func(*session.Tree) {
		return func(tree *session.Tree) { output(tree, "P", 1, o) }
	}
	gone := session.Output{Path: "outputs/plan_001.md"}
	runCases(t, []ruleCase{
		{name: "a file that is gone", only: "SC808", tree: tree, tweak: refers(gone), want: "SC808 warning P.1", says: `the file "outputs/plan_001.md" does not exist`},
		{name: "a file that is there", only: "SC808", tree: tree, tweak: refers(session.Output{Path: "a", Real: "P/a"})},
		{
			name: "another content than its name says", only: "SC808", tree: tree,
			tweak: refers(session.Output{Path: "a_0123456789abcdef.txt", Real: "P/a", Hash: true}), want: "SC808 warning P.1", says: "was changed, because its content does not match the digest in its name. A program that follows",
		},
		{name: "outside the folder nobody looks: SC807", only: "SC808", tree: tree, tweak: refers(session.Output{Path: "/etc/x", Outside: true})},
		{
			name: "a call that failed never made it", only: "SC808", tree: tree,
			tweak: func(tree *session.Tree) {
				refers(gone)(tree)
				tree.Root().Items[2].Results[0].IsError = true
			},
		},
		{
			name: "two files of one item", only: "SC808", tree: tree,
			tweak: func(tree *session.Tree) {
				refers(gone)(tree)
				refers(session.Output{Path: "b"})(tree)
			},
			want: "SC808 warning P.1\nSC808 warning P.1",
		},
	})
}
