package agenttest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestLeakyAndFixedAgree writes random programs twice: without the rows that
// are known to be leaked, and with the taken rows put right, the leaky database
// says what the fixed one says.
func TestLeakyAndFixedAgree(t *testing.T) {
	for seed := range uint64(60) {
		program := Random(seed, 5+int(seed)%40)
		step := StepBy(time.Duration(seed%3) * time.Second) // without time, messages repeat byte by byte
		leaky, fixed := create(t, 18, step), create(t, 19, step)
		written, err := WriteLeaky(leaky, program)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := WriteFixed(fixed, program); err != nil {
			t.Fatal(err)
		}
		checkLeaks(t, leaky, written)
		withoutLeaks(leaky, written)
		closed(t, leaky)
		closed(t, fixed)
		if diff := cmp.Diff(shapeOf(t, fixed.Path), shapeOf(t, leaky.Path)); diff != "" {
			t.Fatalf("seed %d: fixed (-), leaky without leaks (+):\n%s", seed, diff)
		}
	}
}

// checkLeaks holds the list of leaked rows against the rows.
func checkLeaks(t *testing.T, db *DB, written Written) {
	t.Helper()
	for _, leak := range written.Leaks {
		var session, stored string
		db.Scan([]any{&session, &stored}, "SELECT session_id, message_json FROM session_items WHERE id = ?", leak.Row)
		if session != written.Root.ID {
			t.Errorf("leaked row %d is in session %s, not in the root's", leak.Row, session)
		}
		if outermost := leak.Calls[0]; outermost.Row == 0 || outermost.Row >= leak.Row {
			t.Errorf("leaked row %d comes before its delegation %+v", leak.Row, outermost)
		}
		if leak.Twin == 0 {
			continue
		}
		var twin string
		db.Scan([]any{&session, &twin}, "SELECT session_id, message_json FROM session_items WHERE id = ?", leak.Twin)
		if session != leak.Child || twin != stored || leak.Twin < leak.Row {
			t.Errorf("row %d is no later copy of the leaked row %d in the child %s", leak.Twin, leak.Row, leak.Child)
		}
	}
}

// withoutLeaks removes what the leak did, and nothing else.
func withoutLeaks(db *DB, written Written) {
	for _, leak := range written.Leaks {
		db.ChangeRow("DELETE FROM session_items WHERE id = ?", leak.Row)
	}
	for _, taken := range written.Taken {
		db.ChangeRow("UPDATE session_items SET agent_name = ? WHERE id = ?", taken.Agent, taken.Row)
		swapWithReference(db, taken.Row)
	}
}

// swapWithReference moves a result behind the reference to the child, when that
// is the next item.
func swapWithReference(db *DB, row int64) {
	var reference int64
	db.Scan([]any{&reference}, `SELECT COALESCE(MAX(next.id), 0) FROM session_items next, session_items own
		WHERE own.id = ? AND next.session_id = own.session_id AND next.position = own.position + 1 AND next.item_type = 'subsession'`, row)
	if reference != 0 {
		db.ChangeRow("UPDATE session_items SET position = position + 1 WHERE id = ?", row)
		db.ChangeRow("UPDATE session_items SET position = position - 1 WHERE id = ?", reference)
	}
}

// TestRandomDrawsEverything makes sure that the programs hold what the writers
// and the rules are tested with.
func TestRandomDrawsEverything(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(80) {
		p := Random(seed, 60)
		db := create(t, 18)
		written, err := WriteLeaky(db, p)
		if err != nil {
			t.Fatal(err)
		}
		closed(t, db)
		for _, leak := range written.Leaks {
			found[fmt.Sprint("depth ", len(leak.Calls))] = true
			found["without twin"] = found["without twin"] || leak.Twin == 0
			found["caller not leaked"] = found["caller not leaked"] || slices.ContainsFunc(leak.Calls, func(c OpenCall) bool { return c.Row == 0 })
		}
		found["taken"] = found["taken"] || len(written.Taken) > 0
		for i, turn := range p.Turns {
			found["later turn"] = found["later turn"] || i > 0
			look(found, turn.Steps, 0)
		}
	}
	want := []string{
		"depth 1", "depth 2", "depth 3", "depth 4", "without twin", "caller not leaked", "taken", "later turn",
		"failed child", "failed root", "killed child", "killed root", "killed tool", "silent child", "handoff",
		"batch of delegations", "mixed batch", "summary", "tool-only answer", "handoff in a child",
	}
	for _, w := range want {
		if !found[w] {
			t.Errorf("no program has: %s", w)
		}
	}
}

func look(found map[string]bool, steps []Step, depth int) {
	place := "child"
	if depth == 0 {
		place = "root"
	}
	for _, s := range steps {
		tasks := 0
		for _, c := range s.Calls {
			found["killed tool"] = found["killed tool"] || c.Killed
			if c.To != "" {
				found["handoff"] = true
				found["handoff in a child"] = found["handoff in a child"] || depth > 0
			}
			if c.Task != nil {
				tasks++
				look(found, c.Task.Steps, depth+1)
			}
		}
		found["batch of delegations"] = found["batch of delegations"] || tasks > 1
		found["mixed batch"] = found["mixed batch"] || tasks > 0 && tasks < len(s.Calls)
		found["summary"] = found["summary"] || s.Summary != ""
		found["tool-only answer"] = found["tool-only answer"] || s.Text == "" && s.Reasoning == "" && len(s.Calls) > 0
		switch {
		case s.End == Failed:
			found["failed "+place] = true
		case s.End == Killed:
			found["killed "+place] = true
		case s.Reasoning != "" && s.Text == "" && len(s.Calls) == 0:
			found["silent "+place] = true
		}
	}
}

// TestWritersAreDeterministic writes the same program twice.
func TestWritersAreDeterministic(t *testing.T) {
	for _, write := range []func(*DB, Program) (Written, error){WriteLeaky, WriteFixed} {
		var dumps []string
		for range 2 {
			db := create(t, 18, Seed(7))
			if _, err := write(db, Random(3, 60)); err != nil {
				t.Fatal(err)
			}
			closed(t, db)
			dumps = append(dumps, rawDump(t, db.Path))
		}
		if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" {
			t.Errorf("the same program twice:\n%s", diff)
		}
	}
}

// TestCompactionInChildFixed: v1.32.3 leaves a child with nothing but the
// summary, and no reference to it.
func TestCompactionInChildFixed(t *testing.T) {
	db := create(t, 19)
	if _, err := WriteFixed(db, otherPrograms["compaction-in-child"]); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	want := `session "" child=false
  message agent="" user "please"
  message agent="root" assistant "" call[call_t transfer_task {"agent":"worker","expected_output":"x","task":"do"}]
  message agent="root" tool "worker done" result[call_t error=false]
  message agent="root" assistant "root done"
session "Transferred task" child=true
  summary "SUMMARY OF WORKER"
`
	if diff := cmp.Diff(want, shapeOf(t, db.Path)); diff != "" {
		t.Error(diff)
	}
}

// TestTakenInsideChild: what a silent grandchild began to stream is taken over
// by the result that its caller gets, in the root's session.
func TestTakenInsideChild(t *testing.T) {
	db := create(t, 18)
	written, err := WriteLeaky(db, Program{Turns: script("go",
		says("asking", delegate("r1", "worker", "A",
			says("asking on", delegate("w1", "grand", "B", Step{Reasoning: "hmm"})),
			says("done"))),
		says("fine"))})
	if err != nil {
		t.Fatal(err)
	}
	got := query(t, db.SQL, "SELECT agent_name, message_json->>'role', message_json->>'tool_call_id' FROM session_items WHERE id = ?", written.Leaks[1].Row)
	if want := "grand|tool|w1|\n"; got != want {
		t.Errorf("second leaked row: %s, want %s", got, want)
	}
	if leak := written.Leaks[1]; leak.Twin == 0 || len(leak.Calls) != 1 {
		t.Errorf("the row belongs to the worker, who holds its copy: %+v", leak)
	}
	closed(t, db)
}
