package replay_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/treetest"
)

// threeTurns of the same words.
const threeTurns = `
P
  user "go on" pos=0
  root "one" pos=1
  user "go on" pos=2
  root "two" pos=3
  user "go on" pos=4
  root "three" pos=5`

// threeTasks are turns that ask the same of a child each.
const threeTasks = `
P
  user "go on" pos=0
  root T1>worker(do it) pos=1
  sub A pos=2
  root <T1 "done" pos=3
  root "fine" pos=4
  user "go on" pos=5
  root T1>worker(do it) pos=6
  sub B pos=7
  root <T1 "done" pos=8
  root "fine" pos=9
A<P
  system(do it)
  worker "done"
B<P
  system(do it)
  worker "done"`

const lastTask = `
P
  user "go on" pos=5
  root T1>worker(do it) pos=6
  sub B pos=7
  root <T1 "done" pos=8
  root "fine" pos=9
B<P
  system(do it)
  worker "done"`

func TestCompareFindsWhatPartWasRecorded(t *testing.T) {
	runComparisons(t, []compareCase{
		{
			name:     "a turn among equal ones, cut off, and no position is told",
			recorded: "P\n  user \"go on\"\n  root \"thr\" unfinished", stored: threeTurns,
		},
		{
			name:     "the turn's answer is lost",
			recorded: "P\n  user \"go on\" pos=4\n  root \"three\" pos=5",
			stored:   edited(threeTurns, `root "three" pos=5`, ``), want: `lost R:P.1 behind P.4`,
		},
		{
			name:     "its prompt is lost",
			recorded: "P\n  user \"go on\" pos=4\n  root s1() pos=5\n  root <s1 pos=6",
			stored:   edited(threeTurns, "user \"go on\" pos=4\n  root \"three\" pos=5", "root s1() pos=5\n  root <s1 pos=6"),
			want:     `lost R:P.0 behind P.3`,
		},
		{
			name: "its answer is lost, and another turn has a child of the same task", recorded: lastTask,
			stored: edited(threeTasks, "  root \"fine\" pos=9\n", ""), want: `lost R:P.4 behind P.8`,
		},
		{
			name: "the same, and no position is told", recorded: lastTask,
			stored: edited(edited(threeTasks, "  root \"fine\" pos=9\n", ""), "user \"go on\" pos=0", "user \"go on\""), want: `lost R:P.4 behind P.8`,
		},
		{
			name:     "two turns, and not the one between",
			recorded: "P\n  user \"go on\" pos=0\n  root \"one\" pos=1\n  user \"go on\" pos=4\n  root \"three\" pos=5", stored: threeTurns,
		},
		{
			name:     "and what is lost and added in them is told",
			recorded: "P\n  user \"go on\" pos=0\n  root \"one\" pos=1\n  user \"go on\" pos=4\n  root \"and\" pos=5\n  root \"three\" pos=6",
			stored:   edited(edited(threeTurns, `root "one" pos=1`, ``), `root "three"`, "stranger \"hello\"\n  root \"three\""),
			want: `
lost R:P.1 behind P.0
foreign P.4
lost R:P.3 behind P.3`,
		},
		{
			name:     "positions that nothing in the store agrees with",
			recorded: "P\n  user \"go on\" pos=40\n  root \"two\" pos=41\n  user \"go on\" pos=42\n  root \"three\" pos=43", stored: threeTurns,
		},
		{
			name: "references to two children are no pair",
			recorded: `
P
  user
  root T1>worker(do it)
  sub A
  root <T1 "done"
A<P
  system(do it)
  worker "done"`,
			stored: `
P
  user
  root T1>worker(do it)
  sub B
  root <T1 "done"
A<P
  system(do it)
  worker "done"
B<P
  system(do more)
  worker "done"`,
			want: `
foreign P.2
lost R:P.2 behind P.1`,
		},
		{
			name:     "what was cut off is the next thing that begins so, not one of the same words",
			recorded: "P\n  user \"go on\"\n  root \"look\" unfinished",
			stored:   "P\n  user \"go on\"\n  root \"look\" s1()\n  root <s1\n  user \"again\"\n  root \"look\"",
		},
	})
}

func TestCompareOfARecordingThatStopsInADelegation(t *testing.T) {
	runComparisons(t, []compareCase{
		{
			name: "the caller goes on as the child was going to",
			recorded: `
P
  user
  root T1>root(do it)
C<P
  root "look" s1() unfinished
  root <s1 "files" unfinished
  root "The answer" unfinished`,
			stored: `
P
  user
  root T1>root(do it)
  root <T1! "failed"
  root "The answer did not come."`,
			want: `
lost R:C.0
lost R:C.1
lost R:C.2`,
		},
		{
			name: "ids are counted in each session, and a tool of the child said nothing",
			recorded: `
P
  user
  root c1>worker(do it)
C<P
  worker "look" c1() unfinished
  worker <c1 "(no output)" unfinished`,
			stored: `
P
  user
  root c1>worker(do it)
  root <c1! "failed"
  root "pity"`,
			want: `
lost R:C.0
lost R:C.1`,
		},
		{
			name: "a result of the child under the caller's name and id leaked",
			recorded: `
P
  user
  root c1>root(do it)
C<P
  root "look" c1() unfinished
  root <c1 "files" unfinished
  root "half" unfinished`,
			stored: `
P
  user
  root c1>root(do it)
  root "look" c1()
  root <c1 "files"
  root "half" unfinished
  user "again"`,
			want: `P.1 c1 → none, until 5, leaked 2 3 4`,
		},
		{
			name: "the child said nothing that would be stored",
			recorded: `
P
  user
  root T1>worker(do it)
C<P
  worker "look" unfinished
  worker think(hm) blank unfinished`,
			stored: `
P
  user
  root T1>worker(do it)
  sub C
  root <T1
C<P
  system(do it)
  worker "look"`,
		},
		{
			name: "what leaked says something else",
			recorded: `
P
  user
  root T1>worker(do it)
  user "again"
C<P
  worker "I work" w1() unfinished
  worker "half" unfinished`,
			stored: `
P
  user
  root T1>worker(do it)
  worker "I work for you" w1:delete()
  worker "half" unfinished
  user "again"`,
			want: `
P.1 T1 → none, until 4, leaked 3
foreign P.2
lost R:C.0`,
		},
		{
			name: "the result took over a row before the reference",
			recorded: `
P
  user
  root T1>worker(do it)
  sub C
C<P
  system(do it)
  worker "done"`,
			stored: `
P
  user
  root T1>worker(do it)
  worker "done"
  worker <T1 "(no output)"
  sub C
  root "fine"
C<P
  system(do it)
  worker "done"`,
			want: `P.1 T1 → C at 4, answered 3, leaked 2=C.1`,
		},
		{
			name: "the other child of a parallel batch was faster",
			recorded: `
P
  user
  root A1>alpha(a) B1>beta(b)
  sub B
A<P
  alpha "do" unfinished
B<P
  system(b)
  beta "done"`,
			stored: `
P
  user
  root A1>alpha(a) B1>beta(b)
  sub A
  root <A1
  sub B
  root <B1
A<P
  system(a)
  alpha "done a"
B<P
  system(b)
  beta "done"`,
		},
	})
}

func TestCompareCountsWhatItCompared(t *testing.T) {
	for _, tc := range []struct {
		name, recorded, stored string
		want                   int
	}{
		{"everything", delegated, delegated, 10},
		{"one turn of three", "P\n  user \"go on\" pos=4\n  root \"three\" pos=5", threeTurns, 2},
		{"two turns of three", "P\n  user \"go on\" pos=0\n  root \"one\" pos=1\n  user \"go on\" pos=4\n  root \"three\" pos=5", threeTurns, 4},
		{"a turn with its child, and not the other child", lastTask, threeTasks, 7},
		{"with what is foreign among them", "P\n  user\n  root \"one\"", "P\n  user\n  stranger \"two\"\n  root \"one\"\n  root \"three\"", 3},
		{"and what leaked behind them", "P\n  user\n  root T1>worker(a)\nC<P\n  worker \"half\" unfinished", "P\n  user\n  root T1>worker(a)\n  worker \"half\" unfinished", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := replay.Compare(treetest.Tree(t, tc.recorded), treetest.Tree(t, tc.stored), dockerAgent)
			if c.Compared != tc.want {
				t.Errorf("%d items compared, want %d", c.Compared, tc.want)
			}
			if len(c.RecordedTrace.Sessions) != len(c.Recorded.Sessions) || c.RecordedTrace.Sessions[0].Session != c.Recorded.Root() {
				t.Error("the recording's trace is not of the recording")
			}
		})
	}
}
