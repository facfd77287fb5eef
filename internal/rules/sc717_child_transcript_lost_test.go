package rules_test

import "testing"

func TestSC717ChildTranscriptLost(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "an answered delegation with an empty child",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P agent=worker`,
			want: `SC717 warning C see P.0`,
			says: "call T1 (transfer_task) was answered",
		},
		{
			name: "a child with nothing but a summary",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1
  root "fine"
C<P
  summary "so far"`,
			want: `SC717 warning C see P.0`,
		},
		{
			name: "a child that holds its task only, as one that ended in reasoning",
			tree: `
P
  root T1>worker(do it)
  sub C
  root <T1 "(no output)"
  root "fine"
C<P
  system(do it)
  user implicit`,
		},
		{
			name: "what leaked into the parent is not lost: SC702",
			tree: `
P
  root T1>worker(do it)
  worker "done"
  sub C
  root <T1
C<P agent=worker`,
			want: `
				SC702 error P.1
				lossless: move P.1 to C at start`,
		},
		{
			name: "an unanswered delegation may still fill its child",
			tree: `
P
  root T1>worker(do it)
  sub C
C<P agent=worker`,
			store: alive,
			want:  `SC102 info P.0`,
		},
		{
			name: "a background child may be empty until it ends",
			tree: `
P
  root B1>>worker(do it)=C
  root <B1
  sub C
  root "fine"
C<P agent=worker`,
		},
	})
}
