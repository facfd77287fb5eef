package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

func TestSC802GoalEquality(t *testing.T) {
	// begun is a child of a call with the task "do it" that begins with these items.
	begun := func(items string) string {
		return `
P
  user "q"
  root T1>worker(do it)
  sub C
  root <T1 "done"
C<P agent=worker
` + items + `
  worker "done"`
	}
	untold := func(tree *session.Tree) {
		for _, s := range tree.Sessions {
			for i := range s.Items {
				s.Items[i].Body = nil
				for n := range s.Items[i].Calls {
					s.Items[i].Calls[n].Args = ""
				}
			}
		}
	}
	const within = `  system "Do that."
  user implicit`
	runCases(t, []ruleCase{
		{name: "another goal", tree: begun(`  user "do that"`), only: "SC802", want: "SC802 warning C.0 see P.1", says: "the sub-session begins with another goal than call T1 (transfer_task) gave it"},
		{name: "a goal that was cut off", tree: begun(`  user "do"`), only: "SC802", want: "SC802 warning C.0 see P.1"},
		{name: "behind a system message", tree: begun("  system \"be brief\"\n  user \"do that\""), only: "SC802", want: "SC802 warning C.1 see P.1"},
		{
			name: "within a system message", tree: begun(within), only: "SC802", want: "SC802 warning C.0 see P.1",
			tweak: func(tree *session.Tree) {
				tree.Session("C").Task = session.DigestOf("that")
				untold(tree)
			},
		},
		{name: "the goal", tree: begun(`  user "do it"`), only: "SC802"},
		{name: "the goal in other white space", tree: begun(`  user "  do   it "`), only: "SC802"},
		{name: "behind a label", tree: begun(`  user "Your task: do it"`), only: "SC802"},
		{name: "in a template", tree: begun(`  user "You are a worker. <task> do it </task> Begin."`), only: "SC802"},
		{name: "in the system message", tree: begun("  system(do it)\n  user \"Please proceed.\""), only: "SC802"},
		{name: "behind what was copied there", tree: begun("  user \"q\"\n  user \"do it\""), only: "SC802"},
		{name: "a label that may stand in front of it, and texts that are not loaded", tree: begun(`  user "Goal: do it"`), only: "SC802", tweak: untold},
		{name: "no message that gives it one", tree: begun("  system \"be brief\"\n  user implicit"), only: "SC802"},
		{name: "nothing but its answer", tree: begun(""), only: "SC802"},
		{
			name: "a delegation that does not say its goal", tree: begun(`  user "do that"`), only: "SC802",
			tweak: func(tree *session.Tree) { tree.Root().Items[1].Calls[0].Delegation.Task = 0 },
		},
		{
			name: "a fork", tree: begun(`  user "do that"`), only: "SC802",
			tweak: func(tree *session.Tree) { tree.Session("C").Forked = true },
		},
	})
}
