package rules_test

import "testing"

func TestSC015TimeGoesBack(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "an item older than the one before it",
			tree: `
P
  user at=7
  root "ok" at=11
  user at=-2
  root "ok" at=12`,
			want: `SC015 info P.2`,
			says: "1 item is older than the item before. A second writer, a changed clock or moved records can cause this",
		},
		{
			name: "one item from the future does not make all later ones old",
			tree: `
P
  user at=7
  root "ok" at=9000
  user at=8
  root "ok" at=9`,
			want: `SC015 info P.2`,
		},
		{
			name: "items without a time are passed over",
			tree: `
P
  user at=7
  root "ok"
  user at=6`,
			want: `SC015 info P.2`,
		},
		{
			name: "items of the same second are equal",
			tree: `
P
  user at=7
  root "ok" at=7`,
		},
		{
			name: "what a repair made up has the time of its call",
			tree: `
P
  root a() b() at=7
  root <a at=20
  root <b~ at=7
  root "ok" at=21`,
		},
		{
			name: "a summary, and what a compaction kept behind what it archived",
			tree: `
P
  user archived at=2
  root "ok" archived at=3
  user "Summarize." at=9
  root "so far" at=9
  root "Welcome." at=1
  user at=5`,
			tweak: summaryTurn(2, 3),
		},
		{
			name: "what is archived, and what is sent, each by itself",
			tree: `
P
  user archived at=3
  root "ok" archived at=2
  user at=5
  root "ok" at=4`,
			want: `SC015 info P.1,3`,
		},
		{
			name: "children may overlap their parents in time",
			tree: `
P
  root T1>worker(do it) at=10
  sub C
  root <T1 at=20
C<P
  system(do it) at=11
  worker "done" at=19`,
		},
	})
}
