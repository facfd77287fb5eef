package rules_test

import (
	"strings"
	"testing"
)

func TestSC730AlteredItem(t *testing.T) {
	const run = `
P
  user "a"
  root "b" c1(x)
  root <c1 "r"
  root "d" think(hm)`
	change := func(from, to string) string { return strings.Replace(run, from, to, 1) }
	runCompared(t, []comparedCase{
		{
			name: "another text", recorded: run, stored: change(`root "d"`, `root "e"`),
			want: "SC730 error P.3", says: `the stored item differs from the recording in text. The recording has a message of "root" (line 4)`,
		},
		{name: "another result", recorded: run, stored: change(`"r"`, `"q"`), want: "SC730 error P.2", says: "the result of call c1 (line 3)"},
		{name: "other reasoning", recorded: run, stored: change("hm", "oh"), want: "SC730 warning P.3"},
		{
			name: "another agent than a delegation's", recorded: run, stored: change("root <c1", "worker <c1"),
			want: "SC730 warning P.2", says: `The stored agent is "worker", the recorded one is "root"`,
		},
		{
			name: "the end of what was streamed, as after a retry", recorded: change(`"d"`, `"half a whole answer"`), stored: change(`"d"`, `"a whole answer"`),
			want: "SC730 info P.3", says: "the stored item differs from the recording in the beginning of its text",
		},
		{name: "a mark that a store before docker agent v1.23.0 has not", recorded: change(`<c1`, `<c1!`), stored: run},
		{name: "another time", recorded: run, stored: change(`root "d"`, `root "d" at=99`)},
	})
}
