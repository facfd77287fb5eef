package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC708IsolationBreach(t *testing.T) {
	const copied = `
P agent=root
  user "q"
  root "secret plan"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
  user "q"
  root "secret plan"
  user "do it"
  worker "done"`
	forked := func(tree *session.Tree) { tree.Session("C").Forked = true }
	implicit := func(tree *session.Tree) { tree.Root().Items[1].Flags |= session.Implicit }
	runCases(t, []ruleCase{
		{
			name: "two messages of the parent", tree: copied,
			want: `SC708 warning C.0,1 see P.0 see P.1`,
			says: "the sub-session begins with a copy of 2 messages of its parent P. Nothing says that this copy is intended",
		},
		{
			name: "copies behind the task, as the store tells",
			tree: `
P agent=root
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
  user "do it"
  user "q"
  worker "done"`,
			tweak: func(tree *session.Tree) {
				tree.Session("C").Items[1].Own().Home, tree.Session("C").Items[1].Copied = "P", true
			},
			want: `
				SC708 warning C.1
				kept: quarantine C.1`,
		},
		{name: "a child that says that it is a fork", tree: copied, tweak: forked},
		{
			name: "behind instructions of its own",
			tree: `
P agent=root
  system "lead the team"
  user "q"
  root "secret plan"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
  system "search"
  system "be brief"
  user "q"
  root "secret plan"
  user "do it"
  worker "done"`,
			want: `SC708 warning C.2,3 see P.1 see P.2`,
		},
		{
			name: "with an earlier delegation, whose sub-session stands in the parent only",
			tree: `
P agent=root
  user "q"
  root S1>helper(look)
  sub B
  root <S1 "seen"
  root T1>worker(do it)
  sub C
  root <T1 "done"
B<P agent=helper
  user "look"
  helper "seen"
C<P agent=worker
  user "q"
  root S1>helper(look)
  root <S1 "seen"
  user "do it"
  worker "done"`,
			want: `SC708 warning C.0,1,2 see P.0 see P.1 see P.3`,
		},
		{
			name: "the question alone is handed on",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "q"
  worker "done"`,
		},
		{
			name: "the same messages, but not at the start: SC801",
			tree: `
P
  user "q"
  root "secret plan"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  user "q"
  root "secret plan"
  worker "done"`,
			want: `SC801 warning C.0,1,2 see P.1 see P.2`,
		},
		{
			name: "a worker that asks another one for the same: both begin as all children do",
			tree: `
P
  user "please"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system(do it)
  user implicit
  worker T2>helper(do it)
  sub D
  worker <T2 "done"
  worker "done"
D<C
  system(do it)
  user implicit
  helper "done"`,
		},
		{
			name: "what the runtime wrote for the user does not count; the answer is SC801",
			tree: `
P
  system "rules"
  user "Please proceed."
  root "ok"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  system "rules"
  user "Please proceed." implicit
  root "ok"
  worker "done"`,
			tweak: implicit,
			want:  `SC801 warning C.2 see P.2 see P.3`,
		},
		{
			name: "two children of one parent begin alike",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
  root T2>worker(do it)
  sub D
  root <T2 "done"
C<P
  user "do it"
  worker "done"
D<P
  user "do it"
  worker "done"`,
		},
	})
}
