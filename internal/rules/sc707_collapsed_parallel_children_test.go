package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

// sharedByTwo is a session that two calls of one turn share, with the record of a run
// for each.
const sharedByTwo = `
P user=ann
  user
  root T1>worker(one)=W T2>worker(two)=W at=1
  root <T1=W "first" <T2=W "second" at=9
  root "fine" at=10
W user=ann delegated timed
  run R1 run=i1 asked(one) answered(first) at=2
  run R2 run=i2 asked(two) answered(second) at=3
  user "one" run=i1 at=2
  user "two" run=i2 at=3
  worker "second" run=i2 at=4
  worker "first" run=i1 at=5`

func reuses(s *session.Store) { s.ReusesChildren = true }

func TestSC707CollapsedParallelChildren(t *testing.T) {
	setting := func(s *session.Store) {
		s.SharedChildren = "The setting X gives every call a session of its own (version 2 on)"
	}
	runCases(t, []ruleCase{
		{
			name: "two calls of one turn", tree: sharedByTwo, store: setting,
			want: `
				SC707 error P.1 see W.0 see W.1
				lossless with split: split new1 from W for T2 of P.1; move W.1 to new1 at start; move W.2 to new1 after W.1; run R2 of W to new1; set P.2/results/1 child=new1`,
			says: `2 calls of one turn share session W of agent "worker". T1 and T2 ran there at the same time, and each saw what the others said. ` +
				"The setting X gives every call a session of its own (version 2 on)",
		},
		{
			name: "of two turns, one after another",
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root T2>worker(two)=W
  root <T2=W "second"
  root "fine"
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC707 error P.1,3 see W.0 see W.2`,
			says: `2 calls of one conversation share session W of agent "worker". T1 and T2 ran there one after another, and each saw what was said before. ` +
				"A repair does not split it, because a later call may build on what was said before",
		},
		{
			name: "of two turns, one after another, as the runtime documents it", store: reuses,
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root T2>worker(two)=W
  root <T2=W "second"
  root "fine"
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC707 info P.1,3 see W.0 see W.2`,
		},
		{
			name: "of two parents, whose calls have one id",
			tree: `
main
  user
  main step_002>w(one)=W
  main <step_002=W "first"
  main step_003>r(go on)=R
  main <step_003=R "fine"
R delegated
  r step_002>w(two)=W
  r <step_002=W "second"
  r "fine"
W delegated
  w "first"
  w "second"`,
			want: `SC707 error main.1 see R.0`,
			says: `2 calls of one conversation share session W of agent "w". ` +
				"step_002 of main and step_002 of R ran there one after another, and each saw what was said before",
		},
		{
			name: "of two turns, and what they started ran at the same time", store: reuses,
			tree: `
P
  user
  root T1>worker(one)=W
  root <T1=W "first"
  root T2>worker(two)=W
  root <T2=W "second"
  root "fine"
W delegated
  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2`,
			want: `
				SC707 error P.1,3 see W.0 see W.1
				lossless with split: split new1 from W for T2 of P.3; move W.1 to new1 at start; move W.3 to new1 after W.1; set P.4/results/0 child=new1`,
		},
		{
			name: "two of one turn, and a third one alone", store: reuses,
			tree: `
P
  user
  root T1>worker(one)=W T2>worker(two)=W
  root <T1=W "first" <T2=W "second"
  root T3>worker(three)=W
  root <T3=W "third"
  root "fine"
W delegated
  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2
  user "three" run=i3
  worker "third" run=i3`,
			want: `
				SC707 error P.1,3 see W.0 see W.1 see W.4
				lossless with split: split new1 from W for T2 of P.1; move W.1 to new1 at start; move W.3 to new1 after W.1; set P.2/results/1 child=new1`,
			says: `3 calls of one conversation share session W of agent "worker". T1 and T2 ran there at the same time, ` +
				"and each saw what the others said. It also served T3, while no other call ran",
		},
		{
			name: "two of one turn and two of another, and nobody can tell what they started",
			tree: `
P
  user
  root T1>worker(one)=W T2>worker(two)=W
  root <T1=W "first" <T2=W "second"
  root T3>worker(three)=W T4>worker(four)=W
  root <T3=W "third" <T4=W "fourth"
  root T5>worker(five)=W
  root <T5=W "fifth"
  root "fine"
W delegated
  worker "first"`,
			want: `SC707 error P.1,3,5`,
			says: "T1 and T2 ran there at the same time, and so did T3 and T4, and each saw what the others said. It also served T5. " +
				"A repair cannot split it, because its messages do not say which request they belong to",
		},
		{
			name: "two items of one batch refer to one session",
			tree: `
P
  root T1>worker(do it) T2>worker(do it)
  sub C
  root <T1
  sub C
  root <T2
C<P
  system(do it)
  worker "done"`,
			want: `SC707 error P.0`,
			says: "A repair cannot split it, because its messages do not say which request they belong to",
		},
		{
			name: "calls of one turn with a session each",
			tree: `
P
  user
  root T1>worker(one)=V T2>worker(two)=W
  root <T1=V "first" <T2=W "second"
  root "fine"
V delegated
  user "one" run=i1
  worker "first" run=i1
W delegated
  user "two" run=i2
  worker "second" run=i2`,
		},
		{
			name: "no call is stored, and the worker's runs overlap",
			tree: `
W delegated
  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2`,
			want: `
				SC707 error W.0,1
				SC719 info W`,
			says: "2 requests ran in this session at the same time, and each saw what the others said. " +
				"No stored conversation has the calls that started them. A repair cannot split it, because a new session needs a call that can name it",
		},
		{
			name: "no call is stored, and the worker's runs follow each other",
			tree: `
W delegated
  user "one" run=i1
  worker "first" run=i1
  user "two" run=i2
  worker "second" run=i2`,
			want: `SC719 info W`,
		},
	})
}

// TestSC707Refuses has splits that cannot be made, each with the reason that its
// finding gives.
func TestSC707Refuses(t *testing.T) {
	refused := func(name, runs, rest, says string, tweak func(*session.Tree)) ruleCase {
		return ruleCase{
			name: name, only: "SC707", says: "A repair cannot split it, because " + says, tweak: tweak,
			tree: "\nP\n  user\n  root T1>worker(one)=W T2>worker(two)=W\n  root <T1=W \"first\" <T2=W \"second\"\n  root \"fine\"\nW delegated\n" + runs + rest,
			want: "SC707 error P.1 see W.0 see W.1",
		}
	}
	const whole = `  user "one" run=i1
  user "two" run=i2
  worker "first" run=i1
  worker "second" run=i2
`
	runCases(t, []ruleCase{
		refused("a run that has not ended", "  run R1 run=i1\n  run R2 run=i2 open\n", whole, "its run R2 has not ended (working)", nil),
		refused("a run of which nobody knows the state", "  run R1 run=i1\n  run R2 run=i2 open\n", whole, "it is not known whether its run R2 has ended", func(tree *session.Tree) {
			tree.Session("W").Runs[1].State = ""
		}),
		refused("a session that was deleted", "", whole, "it was deleted", func(tree *session.Tree) {
			tree.Session("W").Deleted = true
		}),
		refused("a record that does not decode", "", whole, "one of its records cannot be read", func(tree *session.Tree) {
			s := tree.Session("W")
			s.Faults = []session.Fault{{Kind: session.Undecodable, Ref: s.ItemRef(1), Item: 1}}
		}),
		refused("a record of an unknown kind", "", whole, "one of its records is of an unknown kind", func(tree *session.Tree) {
			s := tree.Session("W")
			s.Faults = []session.Fault{{Kind: session.UnknownKind, Ref: s.ItemRef(1), Item: 1}}
		}),
		refused("a record that says nothing of its request", "", whole+"  other\n", "one of its records does not say which request", nil),
		refused("a call that waits for an approval", "", whole, "call T2 is still waiting", func(tree *session.Tree) {
			tree.Root().Items[2].Results[1].Pending = true
		}),
		refused("records of another kind that nobody can part", "", whole, "its state is kept per session", func(tree *session.Tree) {
			tree.Session("W").Inseparable = "its state is kept per session"
		}),
		refused("an id that two users have", "", whole, "another user has a session with the same id", func(tree *session.Tree) {
			s := tree.Session("W")
			s.Faults = []session.Fault{{Kind: session.SharedID, Ref: s.Ref(), Item: -1, Detail: "it is another user's, too"}}
		}),
		refused("a result among what another call started", "", `  user "one" run=i1
  user "two" run=i2
  worker a() run=i1
  worker <a run=i2
  worker "first" run=i1
  worker "second" run=i2
`, "a result of call a is among the messages that another call started", nil),
		refused("a message that says nothing of its request", "", whole+"  worker \"so\"\n", "its messages do not say which request", nil),
		refused("a summary of both", "", whole+"  summary \"so\"\n", "a summary in it covers", nil),
		refused("a run without messages", "  run R3 asked(three)\n", whole, "its run R3 has no messages", nil),
		refused("two runs that are one invocation", "  run R1 run=i1\n  run R2 run=i1\n", whole, "several of its runs have the same invocation id", nil),
		func() ruleCase {
			c := refused("what a third call asked", "", whole+"  user \"three\" run=i3\n  worker \"third\" run=i3\n", "it holds messages that none of these calls started", nil)
			c.want += " see W.4"
			return c
		}(),
		refused("answers without a request", "", `  user "one" run=i1
  worker "second" run=i2
  worker "first" run=i1
`, "it has messages without a request before them", nil),
	})
}
