package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/session"
)

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
			says: "1 item has the same position or time as the item before",
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
			says: "1 item has a negative position or time",
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
				lossless: set P.0 position=0; set P.2 position=4`,
			says: "1 item has a negative position or time and 1 item has the same position or time as the item before",
		},
		{
			name: "three events of one microsecond, as readers that order by time have it",
			tree: `
P
  user pos=1763674756701560
  root c1() pos=1763674756701600
  root <c1 pos=1763674756701600
  root "ok" pos=1763674756701600
  user pos=1763674756701602
  root "more" pos=1763674757000000`,
			want: `
				SC011 warning P.2,3
				lossless: set P.2 position=1763674756701601; set P.3 position=1763674756701602; set P.4 position=1763674756701603`,
			says: "2 items have the same position or time as the item before",
		},
		{
			name:  "the same, where the reader turns them round",
			store: func(s *session.Store) { s.TurnsTies = true },
			tree: `
P
  user pos=1763674756701560
  root <c1 pos=1763674756701600
  root c1() pos=1763674756701600
  root "ok" pos=1763674756701602`,
			only: "SC011",
			want: `
				SC011 warning P.2
				lossless: move P.1 to P after P.2`,
			says: "The runtime loads them in the reverse of the order in which they were written",
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
