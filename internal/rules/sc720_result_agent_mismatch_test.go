package rules_test

import "testing"

func TestSC720ResultAgentMismatch(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "the result carries the child's name and stands before its sub-session",
			tree: `
P
  user
  root T1>worker(do it)
  worker <T1 "(no output)"
  sub C
  root "root done"
C<P
  system(do it)
  user implicit`,
			want: `
				SC720 info P.2
				lossless: set P.2 agent_name=root; move P.2 to P after P.3`,
			says: `the result of call T1 (transfer_task) has the agent name "worker" instead of "root" and comes before its sub-session`,
		},
		{
			name: "only the name is wrong",
			tree: `
P
  root T1>worker(do it)
  sub C
  worker <T1
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `
				SC720 info P.2
				lossless: set P.2 agent_name=root`,
			says: `the result of call T1 (transfer_task) has the agent name "worker" instead of "root"`,
		},
		{
			name: "only the place is wrong",
			tree: `
P
  root T1>worker(do it)
  root <T1
  sub C
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `
				SC720 info P.1
				lossless: move P.1 to P after P.2`,
		},
		{
			name: "the name of an agent that took over inside the child",
			tree: `
P
  root T1>worker(do it)
  gamma <T1
  sub C
  root "fine"
C<P
  system(do it)
  worker h1:handoff(gamma)
  worker <h1`,
			want: `
				SC720 info P.1
				lossless: set P.1 agent_name=root; move P.1 to P after P.2`,
		},
		{
			name: "without a child session the name alone is wrong",
			tree: `
P
  root T1>worker(do it)
  worker <T1!
  root "fine"`,
			want: `
				SC720 info P.1
				lossless: set P.1 agent_name=root`,
		},
		{
			name: "the result of a background delegation comes before its sub-session",
			tree: `
P
  root B1>>worker(do it)
  root <B1
  sub C
  root "fine"
C<P
  system(do it)
  worker "done"`,
		},
		{
			name: "after a handoff in the same message, results carry the new agent's name",
			tree: `
P
  root T1>worker(do it) h1:handoff(beta)
  sub C
  beta <T1
  beta <h1
  beta "fine"
C<P
  system(do it)
  worker "done"`,
		},
		{
			name: "children and results of one batch may alternate",
			tree: `
P
  root T1>alpha(a) T2>beta(b)
  sub A
  root <T1
  sub B
  root <T2
  root "fine"
A<P
  system(a)
  alpha "x"
B<P
  system(b)
  beta "y"`,
		},
	})
}
