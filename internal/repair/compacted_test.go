package repair_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/springai/springtest"
)

// TestSessionsThatACompactionDamaged: the messages go behind the summary, and an
// archived turn with half a pair is sent again, in databases that number records
// anew. Nothing is lost, a second repair has nothing to do, and undo gives the same
// file.
func TestSessionsThatACompactionDamaged(t *testing.T) {
	for script, ledger := range map[string]repair.Ledger{"G3": {Before: 6, After: 6}, "G5": {Before: 7, After: 7}} {
		t.Run(script, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sessions.db")
			must(t, springtest.FindScript(script).Build(path, springtest.Form{}))
			before := agentDump(t, path)
			_, receipt, err := repairtest.Repair(path)
			must(t, err)
			if receipt == nil || receipt.Ledger != ledger {
				t.Fatalf("the receipt is %+v", receipt)
			}
			plan, _, err := repairtest.Plan(path)
			must(t, err)
			if !plan.IsEmpty() || len(plan.Findings) > 0 {
				t.Errorf("a second plan has %sand leaves %d findings", fixesOf(plan), len(plan.Findings))
			}
			_, err = repairtest.Undo(path, path+".receipt.json")
			must(t, err)
			if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
				t.Errorf("after undo, before (-), now (+):\n%s", diff)
			}
		})
	}
}

// The same in a stream: only what marks the messages, and their places, change.
func TestAnArchivedTurnOfAStreamIsSentAgain(t *testing.T) {
	const (
		start = streamHeader + `{"type":"session","id":"P","agent":"root"}` + "\n"
		item  = `{"type":"item", "session":"P","kind":"message",`
		first = item + `"role":"user","text":"u1","archived":true}` + "\n"
		asked = item + `"role":"user","text":"u2" ,"archived": true, "x":1.0}` + "\n"
		calls = item + `"role":"assistant","agent":"root","archived":true,"calls":[{"id":"c1","name":"shell","args":"{}"}]}` + "\n"
		sums  = item + `"role":"user","text":"Summarize.","summary_turn":true}` + "\n" +
			item + `"role":"assistant","agent":"root","text":"so far","summary_turn":true}` + "\n"
		rest = item + `"role":"tool","agent":"root","results":[{"call":"c1","name":"shell","text":"ok"}]}` + "\n" +
			item + `"role":"assistant","agent":"root","text":"a2"}` + "\n"
	)
	again := func(line string) string {
		return strings.NewReplacer(`"archived": true`, `"archived": false`, `"archived":true`, `"archived":false`).Replace(line)
	}
	r := repairTwice(t, start+first+asked+calls+sums+rest)
	if want := start + first + sums + again(asked+calls) + rest; r.out != want {
		t.Errorf("got\n%s\nwant\n%s", r.out, want)
	}
	if len(r.plan.Findings) > 0 || r.kept() != "" {
		t.Errorf("%d findings are left, kept is %q", len(r.plan.Findings), r.kept())
	}
	said := readStream(t, r.out)["P"]
	if said.Items[3].Flags.Has(session.Archived) || !said.Items[0].Flags.Has(session.Archived) {
		t.Errorf("the flags are %b and %b", said.Items[0].Flags, said.Items[3].Flags)
	}
}
