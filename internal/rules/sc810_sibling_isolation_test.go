package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// siblings are two workers of one parent; what the second one's session begins with
// is left out.
const siblings = `
P agent=root
  user at=0
  root T1>ann(search) at=1
  sub A
  root <T1 "found it" at=10
  root T2>bob(collect) at=11
  sub B
  root <T2 "got it" at=20
A<P agent=ann
  system(search) at=2
  user implicit at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  ann "found it" at=9
B<P agent=bob
`

func TestSC810SiblingIsolation(t *testing.T) {
	const end = `
  bob "got it" at=19`
	runCases(t, []ruleCase{
		{
			name: "the sibling's result without a call", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  bob <s1 "seen" at=13` + end,
			want: "SC810 warning B.1 see A.3", says: `1 item of "bob" (B) can only come from its sibling "ann" (A)`,
		},
		{
			name: "a result of the same id with a call of its own: providers repeat ids", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  bob "I look" s1() at=13
  bob <s1 "seen" at=14` + end,
		},
		{
			name: "a lone result that the sibling does not have", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  bob <s1 "something else" at=13` + end,
		},
		{
			name: "messages with the sibling's name", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  ann "I look" s1() at=13
  bob <s1 "seen" at=13` + end,
			want: "SC810 warning B.1 see A.2",
		},
		{
			name: "the sibling's agent took over", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  bob h1:handoff() at=13
  bob <h1 at=13
  ann "found it" at=14`,
		},
		{
			name: "messages of the sibling from before its own call", only: "SC810",
			tree: siblings + `
  system(search) at=2
  user implicit at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  system(collect) at=12` + end,
			want: "SC810 warning B.2,3 see A.2 see A.3",
		},
		{
			name: "siblings with one task say the same", only: "SC810",
			tree: `
P agent=root
  user at=0
  root T1>ann(search) T2>ann(search) at=1
  sub A
  sub B
  root <T1 "found it" at=10
  root <T2 "found it" at=11
A<P agent=ann
  system(search) at=2
  user implicit at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  ann "found it" at=5
B<P agent=ann
  system(search) at=2
  user implicit at=2
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  ann "found it" at=5`,
		},
		{
			name: "a fork that says so", only: "SC810",
			tree: siblings + `
  ann "I look" s1() at=3
  ann <s1 "seen" at=4
  system(collect) at=12` + end,
			tweak: func(tree *session.Tree) { tree.Session("B").Forked = true },
		},
		{
			name: "an error is no breach", only: "SC810",
			tree: siblings + `
  system(collect) at=12
  bob <s1 "seen" at=13` + end,
			tweak: func(tree *session.Tree) {
				tree.Session("A").Items[3].Results[0].IsError = true
				tree.Session("B").Items[1].Results[0].IsError = true
			},
		},
	})
}
