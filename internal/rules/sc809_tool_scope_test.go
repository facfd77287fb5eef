package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC809ToolScope(t *testing.T) {
	const tree = `
P agent=root
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
  system(do it)
  worker w1:read_file() w2:shell()
  worker <w1
  worker <w2
  worker T2>helper(look)
  sub D
  worker <T2 "seen"
  worker w3:shell()
  worker <w3
  worker "done"
D<C agent=helper
  helper "seen"`
	grant := func(tools ...string) func(*session.Tree) {
		return func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Delegation.Tools = tools }
	}
	runCases(t, []ruleCase{
		{
			name: "a tool that was not granted", only: "SC809", tree: tree, tweak: grant("read_file"),
			want: "SC809 warning C.1,7 see P.1", says: `"worker" calls "shell", which call T1 (transfer_task) did not grant`,
		},
		{name: "all were granted, and delegating is the runtime's own", only: "SC809", tree: tree, tweak: grant("read_file", "shell")},
		{name: "the store does not say", only: "SC809", tree: tree},
		{
			name: "an empty list grants none", only: "SC809", tree: tree,
			tweak: func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Delegation.Tools = []string{} },
			want:  "SC809 warning C.1,7 see P.1", says: `calls "read_file" and "shell"`,
		},
		{
			name: "who took the session over has tools of its own", only: "SC809",
			tree: `
P agent=root
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
  system(do it)
  worker h1:handoff()
  worker <h1
  bob o1:shell()
  bob <o1
  bob "done"`,
			tweak: grant("read_file"),
		},
		{
			name: "a second call grants more to the same child", only: "SC809",
			tree: `
P agent=root
  user
  root T1>worker(do it)=C T2>worker(and this)=C
  root <T1 "done"
  root <T2 "done"
C<P agent=worker
  worker w1:read_file() w2:shell()
  worker <w1
  worker <w2
  worker "done"`,
			tweak: func(tree *session.Tree) {
				calls := tree.Root().Items[1].Calls
				calls[0].Delegation.Tools, calls[1].Delegation.Tools = []string{"read_file"}, []string{"shell"}
			},
		},
	})
}
