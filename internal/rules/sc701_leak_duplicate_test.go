package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC701LeakDuplicate(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "every leaked message has its twin in the child",
			tree: `
P
  user
  root T1>worker(do it)
  worker "doing" w1()
  worker "done"
  sub C
  root <T1 "done"
  root "fine"
C<P
  system(do it)
  user implicit
  worker "doing" w1()
  worker <w1
  worker "done"`,
			want: `
				SC701 error P.2,3
				kept: remove P.2 twin C.2; remove P.3 twin C.4`,
			says: `2 messages of sub-agent "worker" are stored twice: in sub-session C, where they belong, and here`,
		},
		{
			name: "leaked results count as messages",
			tree: `
P
  root T1>worker(do it)
  worker "doing" w1()
  worker <w1
  sub C
  root <T1
C<P
  system(do it)
  worker "doing" w1()
  worker <w1
  worker "done"`,
			want: `
				SC701 error P.1,2
				kept: remove P.1 twin C.1; remove P.2 twin C.2`,
		},
		{
			name: "nested three deep with the same agent names and ids: one finding",
			tree: `
P
  root T>worker(one)
  worker "1" T>deep(two)
  deep "2" T>worker(three)
  worker "3"
  deep "4"
  worker "5"
  sub A
  root <T
A<P
  system(one)
  worker "1" T>deep(two)
  sub B
  worker <T
  worker "5"
B<A
  system(two)
  deep "2" T>worker(three)
  sub C
  deep <T
  deep "4"
C<B
  system(three)
  worker "3"`,
			want: `
				SC701 error P.1,2,3,4,5
				kept: remove P.1 twin A.1; remove P.2 twin B.1; remove P.3 twin C.1; remove P.4 twin B.4; remove P.5 twin A.4`,
		},
		{
			name: "two delegations of one message: a finding each",
			tree: `
P
  root T1>alpha(a) T2>beta(b)
  alpha "x"
  sub A
  root <T1
  beta "y"
  sub B
  root <T2
A<P
  system(a)
  alpha "x"
B<P
  system(b)
  beta "y"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin A.1
				SC701 error P.4
				kept: remove P.4 twin B.1`,
		},
		{
			name: "two runs of one worker hold identical records: each twin vouches for its own run",
			tree: `
P
  root T1>worker(same)
  worker "ok" w1()
  sub A
  root <T1
  root T2>worker(same)
  worker "ok" w1()
  sub B
  root <T2
A<P
  system(same)
  worker "ok" w1()
  worker <w1
  worker "done"
B<P
  system(same)
  worker "ok" w1()
  worker <w1
  worker "done"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin A.1
				SC701 error P.5
				kept: remove P.5 twin B.1`,
		},
		{
			name: "a message under the caller's own name leaked when it has a twin",
			tree: `
P
  root T1>root(do it)
  root "on it"
  sub C
  root <T1
C<P
  system(do it)
  root "on it"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin C.1`,
		},
		{
			name: "after a handoff the new agent delegates",
			tree: `
P
  user
  root h1:handoff(beta)
  root <h1
  beta T1>alpha(do it)
  alpha "done"
  sub C
  beta <T1
  beta "fine"
C<P
  system(do it)
  alpha "done"`,
			want: `
				SC701 error P.4
				kept: remove P.4 twin C.1`,
		},
		{
			name: "an implicit user message does not end the delegation",
			tree: `
P
  root T1>worker(do it)
  user implicit
  worker "done"
  sub C
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC104 error P.4 see P.0
				lossless: move P.4 to P after P.0
				SC701 error P.2
				kept: remove P.2 twin C.1`,
		},
		{
			name: "ordinary results of the delegation's own batch stay",
			tree: `
P
  root s1() T1>worker(do it) s2()
  root <s1
  worker "done"
  sub C
  root <T1
  root <s2
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `
				SC701 error P.2
				kept: remove P.2 twin C.1`,
		},
		{
			name: "child and caller use the same call id",
			tree: `
P
  root c1>worker(do it)
  worker "doing" c1()
  sub C
  root <c1
  root c2()
  root <c2
C<P
  system(do it)
  worker "doing" c1()
  worker <c1
  worker "done"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin C.1`,
		},
		{
			name: "nobody refers to the child: the reference comes with the repair",
			tree: `
P
  root T1>worker(do it)
  worker "done"
  root <T1
C<P
  system(do it)
  worker "done"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin C.1; insert sub C in P after P.0`,
		},
		{
			name: "in history that a summary covers nothing is sent, but it still stands twice",
			tree: `
P
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1
  summary "so far"
  user
C<P
  system(do it)
  worker "done"`,
			want: `
				SC701 error P.1
				kept: remove P.1 twin C.1`,
			says: "A summary covers this part of the session, so it is not sent to a model again",
		},
		{
			name: "a handoff changes the agent within one session: that is no leak",
			tree: `
P
  user
  root h1:handoff(beta)
  root <h1
  beta "here" b1()
  beta <b1
  beta "done"`,
		},
		{
			name: "a user turn closes the delegation: what comes after it is the session's own",
			tree: `
P
  root T1>worker(do it)
  root <T1
  user
  worker "I am the host too"`,
		},
		{
			name: "background delegations block nobody",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  root "meanwhile" s1()
  root <s1
  sub C
  root "fine"
C<P
  system(do it)
  worker "done"`,
		},
	})
}

// TestStrays: what the store itself tells of messages in the wrong session. Copies go to the
// receipt; the others go home, and until then nothing is missing of their calls and results.
func TestStrays(t *testing.T) {
	stray := func(copied bool, items ...int) func(*session.Tree) {
		return func(tree *session.Tree) {
			for _, i := range items {
				it := &tree.Root().Items[i]
				it.Own().Home, it.Copied, it.Flags = "C", copied, it.Flags|session.Archived
			}
		}
	}
	runCases(t, []ruleCase{
		{
			name: "a call and a text, behind the result",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
  worker "doing" w1()
  worker "done"
  root "fine"
C<P
  user(do it)
  worker "doing" w1()
  worker <w1
  worker "done"`,
			tweak: stray(true, 4, 5),
			want: `
				SC701 error P.4,5
				kept: quarantine P.4; quarantine P.5`,
			says: "2 messages of the run of sub-session C are stored here as well as there",
		},
		{
			name: "a result whose call is at home",
			tree: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1 "done"
  worker <w1
  root "fine"
C<P
  user(do it)
  worker "doing" w1()
  worker "done"`,
			tweak: stray(false, 4),
			want: `
				SC702 error P.4
				lossless: move P.4 to C after C.2`,
			says: "missing there",
		},
	})
}
