package rules_test

import (
	"strings"
	"testing"
)

func TestSC728LostItem(t *testing.T) {
	const run = `
P
  user
  root "looking" c1()
  root <c1
  root "fine"
  user
  root "again"`
	runCompared(t, []comparedCase{
		{
			name: "what is lost in one gap is one finding", recorded: run, stored: lacking(run, `root "looking"`, "root <c1"),
			want: `SC728 error P.0`,
			says: `2 items of the recording are missing from the store after item 0: a message of "root" with call c1 (shell) (line 2) and the result of call c1 (line 3)`,
		},
		{
			name: "two gaps are two", recorded: run, stored: lacking(run, "user"),
			want: "SC728 error P\nSC728 error P.2",
			says: "at the start of the session",
		},
		{
			name: "a delegation with all that came of it is one loss", recorded: delegated,
			stored: "P\n  user\n  root \"all done\"",
			want:   `SC728 error P.0`,
			says:   `a message of "root" with call T1 (transfer_task) (line 2), sub-session C with its 5 items (line 3) and the result of call T1 (line 4)`,
		},
		{
			name: "what never completed may never have been stored", recorded: "P\n  user\n  root \"I am\" unfinished",
			stored: "P\n  user", want: "SC728 info P.0", says: "It was never complete, so a runtime may have had nothing to store",
		},
		{
			name: "a result that may still come to the store, and is recorded", recorded: "P\n  user\n  root c1()\n  root <c1",
			stored: "P\n  user\n  root c1()", store: alive, want: "SC728 error P.1",
		},
		{name: "what was said before the run", recorded: "P\n  user \"b\"\n  root \"c\"", stored: "P\n  user \"a\"\n  root \"x\"\n  user \"b\"\n  root \"c\""},
		{name: "a message that stopped early on one side", recorded: "P\n  user\n  root \"I am\" unfinished", stored: strings.Replace("P\n  user\n  root \"I am\" unfinished", "I am", "I", 1)},
	})
}
