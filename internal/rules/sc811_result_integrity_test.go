package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC811ResultIntegrity(t *testing.T) {
	const begin = `
P agent=root
  user
  root T1>worker(do it)
  sub C
`
	const child = `
  root "thanks"
C<P agent=worker
  system(do it)
`
	runCases(t, []ruleCase{
		{name: "the child's answer came back", only: "SC811", tree: begin + `  root <T1 "done"` + child + `  worker "done"`},
		{
			name: "an empty result of a child with an answer", only: "SC811", tree: begin + `  root <T1 ""` + child + `  worker "done"`,
			want: "SC811 warning P.3 see C.1", says: "the result of call T1 (transfer_task) is empty, but sub-session C ended with an answer",
		},
		{name: "an empty result of a child that said nothing", only: "SC811", tree: begin + `  root <T1 ""` + child + `  worker blank`},
		{name: "no output", only: "SC811", tree: begin + `  root <T1 "(no output)"` + child + `  worker w1()`},
		{
			name: "a failure without a reason", only: "SC811", tree: begin + `  root <T1! ""` + child + `  worker w1()`,
			want: "SC811 warning P.3", says: "the result of call T1 (transfer_task) says that it failed, but not why",
		},
		{name: "a failure with one", only: "SC811", tree: begin + `  root <T1! "no such model"` + child + `  worker w1()`},
		{
			name: "a success of a child whose call was never answered", only: "SC811", tree: begin + `  root <T1 "all is well"` + child + `  worker w1()`,
			want: "SC811 warning P.3 see C.1", says: "the result of call T1 (transfer_task) is a success, but sub-session C never finished. The last message there calls a tool that never answered",
		},
		{
			name: "a success of a child that was cut off", only: "SC811", tree: begin + `  root <T1 "all is well"` + child + `  worker "al" unfinished`,
			want: "SC811 warning P.3 see C.1", says: "was cut off",
		},
		{name: "an error in words only", only: "SC811", tree: begin + `  root <T1 "Error: no such model"` + child + `  worker w1()`},
		{name: "the user interrupted the child", only: "SC811", tree: begin + `  root <T1 "[Request interrupted by user for tool use]"` + child + `  worker w1()`},
		{
			name: "an error in words only, in an object", only: "SC811", tree: begin + `  root <T1 "TEXT"` + child + `  worker w1()`,
			tweak: func(tree *session.Tree) {
				tree.Root().Items[3].Results[0].Text = `{"result":"Error: no such model"}`
			},
		},
		{name: "a child that ends with a result", only: "SC811", tree: begin + `  root <T1 "all is well"` + child + "  worker w1()\n  worker <w1"},
		{name: "a placeholder", only: "SC811", tree: begin + `  root <T1~ "all is well"` + child + `  worker w1()`},
		{name: "one that still waits", only: "SC811", tree: begin + `  root <T1? ""` + child + `  worker "done"`},
		{
			name: "what a person let go on brings nothing back", only: "SC811", tree: begin + `  root <T1? "waiting"
  root a1:ask()
  root <T1 ""` + child + `  worker "done"`,
			want: "SC811 warning P.5 see C.1",
		},
		{
			name: "a background delegation is answered before its child ends", only: "SC811",
			tree: `
P agent=root
  user
  root T1>>worker(do it)
  root <T1 "started"
  sub C` + child + `  worker w1()`,
		},
		{
			name: "a child of two calls: SC707", only: "SC811",
			tree: `
P agent=root
  user
  root T1>worker(do it)=C T2>worker(and this)=C
  root <T1 ""
  root <T2 "done"` + child + `  worker "done"`,
		},
	})
}
