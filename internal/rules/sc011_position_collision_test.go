package rules_test

import "testing"

func TestSC011PositionCollision(t *testing.T) {
	runCases(t, []ruleCase{
		{
			name: "two items with one position: they are renumbered in the order that readers use",
			tree: `
P
  user pos=0
  root c1() pos=1
  root <c1 pos=1
  root "ok" pos=3`,
			want: `
				SC011 warning P.2
				lossless: set P.2 position=2`,
			says: "1 item with the position of the item before",
		},
		{
			name: "a negative position",
			tree: `
P
  user pos=-1
  root "ok" pos=1`,
			want: `
				SC011 warning P.0
				lossless: set P.0 position=0`,
			says: "1 item with a negative position",
		},
		{
			name: "both",
			tree: `
P
  user pos=-1
  root "ok" pos=3
  user pos=3`,
			want: `
				SC011 warning P.0,2
				lossless: set P.0 position=0; set P.1 position=1; set P.2 position=2`,
			says: "1 item with a negative position and 1 item with the position of the item before",
		},
		{
			name: "gaps are harmless",
			tree: `
P
  user pos=0
  root "ok" pos=5`,
		},
		{
			name: "two sessions may use the same positions",
			tree: `
P
  root T1>worker(do it) pos=0
  sub C pos=1
  root <T1 pos=2
C<P
  system(do it) pos=0
  worker "done" pos=1`,
		},
	})
}
