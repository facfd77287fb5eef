package rules_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
)

func TestSC731MisplacedItem(t *testing.T) {
	const run = `
P
  user "a"
  root "b"
  user "c"
  root "d"
  root "e"`
	runCompared(t, []comparedCase{
		{
			name: "another place in the session", recorded: run,
			stored: "P\n  user \"a\"\n  user \"c\"\n  root \"d\"\n  root \"e\"\n  root \"b\"\n  user \"z\"",
			want:   "SC731 error P.4",
			says:   `this item is at another place than in the recording: a message of "root" (line 2). It comes after a message of the user (line 1) in the recording`,
		},
		{
			name: "another session", recorded: delegated, stored: delegated,
			differ: func(c *replay.Comparison) {
				c.Differences = []replay.Difference{
					{Kind: replay.Misplaced, Recorded: c.Recorded.Session("C"), RecordedItem: 0, Stored: c.Trace.Sessions[0].Session, StoredItem: 3},
					{Kind: replay.Misplaced, Recorded: c.Recorded.Session("C"), RecordedItem: 1, Stored: c.Trace.Sessions[0].Session, StoredItem: 4},
				}
			},
			want: "SC731 error P.3,4",
			says: "these items are at another place than in the recording: a system message (line 6) and a message of the user (line 7). They come first in session C in the recording",
		},
		{
			name: "results of one turn in another order", recorded: "P\n  user\n  root c1() c2()\n  root <c1\n  root <c2\n  root \"ok\"",
			stored: "P\n  user\n  root c1() c2()\n  root <c2\n  root <c1\n  root \"ok\"",
		},
	})
}
