package rules_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/replay"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

func TestSC729ForeignItem(t *testing.T) {
	const run = `
P
  user "a"
  root "b"
  user "c"
  root "d"`
	const background = `
P
  user "a"
  root B1>>worker(do it)
  root <B1 "started"
  root "meanwhile"
  %
  user "c"
  root "d"`
	runCompared(t, []comparedCase{
		{
			name: "a run of them is one finding", recorded: run,
			stored: "P\n  user \"a\"\n  user \"x\"\n  root \"y\" c1()\n  root <c1\n  root \"b\"\n  user \"c\"\n  root \"d\"",
			want:   "SC729 warning P.1,2,3",
			says:   `no event of the recording made these items: a message of the user, a message of "root" with call c1 (shell) and the result of call c1`,
		},
		{name: "what was said after the run", recorded: run, stored: run + "\n  user \"e\"\n  root \"f\""},
		{name: "an error, which no model sees", recorded: run, stored: "P\n  user \"a\"\n  root \"b\"\n  other\n  user \"c\"\n  root \"d\""},
		{
			name: "the sub-session of a background agent", recorded: lacking(background, "%"),
			stored: lacking(background, "%", "user \"c\"", "root \"d\"") + "\n  sub C\n  user \"c\"\n  root \"d\"\nC<P\n  system(do it)\n  user implicit\n  worker \"done\"",
		},
	})
}

// TestAStoredItemHasNoLine: a store's table may have the name of a recording's items.
func TestAStoredItemHasNoLine(t *testing.T) {
	stored := recordedTree(t, "P\n  user \"a\"\n  user \"x\"\n  root \"b\"")
	compared := replay.Compare(recordedTree(t, "P\n  user \"a\"\n  root \"b\""), stored, &session.Runtime{NoOutput: "(no output)"})
	found := compare(&session.Store{Writer: session.WriterDead}, stored, compared, catalogue.All)
	if len(found) != 1 || found[0].Rule.ID != "SC729" || strings.Contains(found[0].Message, "line") {
		t.Errorf("found %s", messages(found))
	}
}
