package rules_test

import "testing"

func TestSC718InterleavedWriters(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two runs wrote by turns, in a store whose places are times",
			tree: `
P timed
  user "one" run=i1 at=1
  user "two" run=i2 at=2
  root a() run=i1 at=3
  root b() run=i2 at=4
  root <a run=i1 at=5
  root <b run=i2 at=6
  root "fine" run=i1 at=7
  root "fine" run=i2 at=8`,
			profile: "",
			want: `
				SC718 warning P.2,3,4,5,6,7`,
			only: "SC718",
			says: "two runs wrote this session at the same time. 6 messages continue one run after a message of the other",
		},
		{
			name: "the same in a store that keeps its own order, and times that go back",
			tree: `
P
  user "one" run=i1 at=1
  user "two" run=i2 at=4
  root "to one" run=i1 at=3
  root "to two" run=i2 at=5`,
			want: `SC718 warning P.2,3`,
			only: "SC718",
		},
		{
			name: "no time goes back there: the order may be what was meant",
			tree: `
P
  user "one" run=i1 at=1
  user "two" run=i2 at=2
  root "to one" run=i1 at=3
  root "to two" run=i2 at=4`,
			only: "SC718",
		},
		{
			name: "agents by turns, without handing over, and times that go back",
			tree: `
P
  user "go" at=1
  root "a" at=2
  helper "b" at=5
  root "c" at=4
  helper "d" at=6`,
			want: `SC718 warning P.3,4`,
			only: "SC718",
		},
		{
			name: "agents that hand over, whatever the clock says",
			tree: `
P
  user "go" at=1
  root h:handoff(helper) at=2
  root <h at=3
  helper "b" at=5
  root "c" at=4
  helper "d" at=6`,
			only: "SC718",
		},
		{
			name: "agents on branches of their own",
			tree: `
P
  user "go" at=1
  root "a" branch=x at=2
  helper "b" branch=y at=5
  root "c" branch=x at=4
  helper "d" branch=y at=6`,
			only: "SC718",
		},
		{
			name: "a run that waited for an approval, while another one ran",
			tree: `
P timed
  user "one" run=i1 at=1
  root a() run=i1 at=2
  user "two" run=i2 at=3
  root "to two" run=i2 at=4
  user "go on" run=i1 at=5
  root <a run=i1 at=6
  root "to one" run=i1 at=7
  user "three" run=i2 at=8
  root "to three" run=i2 at=9`,
			only: "SC718",
		},
		{
			name: "several calls share the session: SC707",
			tree: `
P
  user
  root T1>worker(one)=W T2>worker(two)=W
  root <T1=W "first" <T2=W "second"
  root "fine"
W timed
  user "one" run=i1 at=1
  user "two" run=i2 at=2
  worker "first" run=i1 at=3
  worker "second" run=i2 at=4`,
			only: "SC718",
		},
	})
}
