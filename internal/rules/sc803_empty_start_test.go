package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC803EmptyStart(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "steps from before the call",
			tree: `
P
  user "q" at=1
  root T1>worker(do it) at=20
  sub C
  root <T1 "done" at=30
C<P
  user "do that" at=5
  worker c1() at=6
  worker <c1 at=7
  worker "did that" at=8
  user "do it" at=21
  worker "done" at=25`,
			only: "SC803",
			want: "SC803 warning C.1,2,3 see P.1",
			says: "has 3 items older than the call",
		},
		{
			name: "times that differ by what a clock may be wrong",
			tree: `
P
  user "q" at=1
  root T1>worker(do it) at=20
  sub C
  root <T1 "done" at=30
C<P
  user "do it" at=19
  worker "done" at=19`,
			only: "SC803",
		},
		{
			name: "a prompt that was written before the call",
			tree: `
P
  user "q" at=1
  root T1>worker(do it) at=20
  sub C
  root <T1 "done" at=30
C<P
  system "be brief" at=1
  user "do it" at=1
  worker "done" at=25`,
			only: "SC803",
		},
		{
			name: "a result first",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  worker <c7 "a.txt"
  worker "done"`,
			only: "SC803",
			want: "SC803 warning C.1 see P.1",
			says: "begins with a result of a call that it did not make",
		},
		{
			name: "a result of a call that leaked is SC702",
			tree: `
P
  user "q"
  root T1>worker(do it)
  worker c7()
  sub C
  root <T1 "done"
C<P
  worker <c7 "a.txt"
  worker "done"`,
			only: "SC803",
		},
		{
			name: "a result in a child that lost its beginning is SC721",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  worker <c7 "a.txt"
  worker "done"`,
			only:  "SC803",
			store: scripts,
		},
		{
			name: "a result behind a summary of what the child did",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  user "do it"
  summary "so far"
  worker <c7 "a.txt"
  worker "done"`,
			only: "SC803",
		},
		{
			name: "a step that is not the first",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  worker step_004()
  worker <step_004
  worker "done"`,
			only: "SC803",
			want: "SC803 warning C.0 see P.1",
			says: "begins with step 4",
		},
		{
			name: "the first step",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  worker step_001()
  worker <step_001
  worker "done"`,
			only: "SC803",
		},
		{
			name: "an answer, where nobody stored the goal",
			tree: `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P
  worker "done"`,
			only: "SC803",
		},
		{
			name: "steps of the parent are SC804",
			tree: `
P
  user "q" at=1
  root c1() at=2
  root <c1 at=3
  root T1>worker(do it) at=20
  sub C
  root <T1 "done" at=30
C<P
  system(do it) at=20
  root c1() at=2
  root <c1 at=3
  worker "done" at=25`,
			only: "SC803",
		},
		{
			name: "steps of a sibling are SC810",
			tree: siblings + `
  system(search) at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  system(collect) at=12
  bob "got it" at=19`,
			only: "SC803",
		},
		{
			name: "other steps beside those of a sibling",
			tree: siblings + `
  system(search) at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  bob "well" at=5
  system(collect) at=12
  bob "got it" at=19`,
			only: "SC803",
			want: "SC803 warning B.3 see P.4",
		},
		{
			name: "a worker that several calls share is SC707",
			tree: `
P
  user "q" at=1
  root T1>worker(do that)=C at=2
  root <T1 "done" at=9
  root T2>worker(do it)=C at=20
  root <T2 "done" at=30
C
  user "do that" at=3
  worker "did that" at=8
  user "do it" at=21
  worker "done" at=25`,
			only: "SC803",
		},
		{
			name: "a worker that served others before",
			tree: `
P
  user "q" at=1
  root T1>worker(do it)=C at=20
  root <T1 "done" at=30
C
  user "do that" at=3
  worker "did that" at=8
  user "do it" at=21
  worker "done" at=25`,
			only:  "SC803",
			tweak: func(tree *session.Tree) { tree.Session("C").Runs = []session.Run{{ID: "1"}, {ID: "2"}} },
		},
	})
}
