package kagent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// besideInterrupted is a program with a conversation of a turn, damaged by statements, and
// another one whose call never got its result: that one is always repaired.
func besideInterrupted(turns []kagenttest.Turn, after func(w *kagenttest.Written) []string) kagenttest.Program {
	lost := kagenttest.Call{Tool: "k8s_get_resources", Lost: true}
	return kagenttest.Program{Name: "beside an interrupted one", After: after, Conversations: []kagenttest.Conversation{
		{User: "anna@example.com", Turns: turns},
		{User: "bert@example.com", Turns: []kagenttest.Turn{{Ask: "Mine?", Work: [][]kagenttest.Call{{lost}}}, {Ask: "Are you there?", Answer: "Yes"}}},
	}}
}

func ask(worker, request string) kagenttest.Call {
	return kagenttest.Call{Agent: worker, Ask: request, Answer: "Done: " + request}
}

func turnOf(calls ...kagenttest.Call) []kagenttest.Turn {
	return []kagenttest.Turn{{Ask: "Check all", Work: [][]kagenttest.Call{calls}, Answer: "Fine"}}
}

// TestWhatCannotBeWrittenIsLeftOut repairs stores in which some repair cannot be written:
// the plan leaves it out and says why, and the other conversation is repaired.
func TestWhatCannotBeWrittenIsLeftOut(t *testing.T) {
	parallel := turnOf(ask(kagenttest.Worker, "look left"), ask(kagenttest.Worker, "look right"))
	one := turnOf(ask(kagenttest.Worker, "look left"))
	for _, tc := range []struct {
		name  string
		turns []kagenttest.Turn
		after func(w *kagenttest.Written) []string
		rule  string // whose repair is left out, "" where the rule itself offers none
		why   string
	}{
		{
			name: "the author of a response is another one", turns: one,
			after: func(w *kagenttest.Written) []string {
				return []string{fmt.Sprintf(`update event set data = json_set(data, '$.author', 'somebody') where id = '%s'`, w.Calls[0].Responses[0])}
			},
		},
		{
			name: "a call is gone, and its result alone names the worker's session", turns: one,
			after: func(w *kagenttest.Written) []string {
				return []string{fmt.Sprintf("delete from event where id = '%s'", w.Calls[0].CallEvent)}
			},
		},
		{
			name: "a call has another user, and its result alone names the worker's session", turns: one,
			after: func(w *kagenttest.Written) []string {
				return []string{fmt.Sprintf("update event set user_id = 'carl@example.com' where id = '%s'", w.Calls[0].CallEvent)}
			},
		},
		{
			name: "an event between two of one time has a number for a time", turns: one,
			after: func(w *kagenttest.Written) []string {
				events := w.Calls[0].Events
				return []string{
					fmt.Sprintf("update event set created_at = 7 where id in ('%s')", strings.Join(events, "', '")),
				}
			},
			rule: "SC011", why: "whose time is not stored as text",
		},
		{
			name: "the id of a task is an object", turns: parallel,
			after: func(w *kagenttest.Written) []string {
				return []string{fmt.Sprintf(`update task set data = '{"id":{"a":1},' || substr(data, 2, length(data) - 9) where id = '%s'`, w.Calls[1].Task)}
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path, truth := build(t, besideInterrupted(tc.turns, tc.after), kagenttest.Forms["python"])
			other := truth.Roots()[slices.IndexFunc(truth.Roots(), func(s kagenttest.Session) bool { return s.User == "bert@example.com" })].ID
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "split", "guesses")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(plan.Trees, func(tree *repair.Tree) bool { return tree.Root == other }) || receipt == nil {
				t.Fatalf("the other conversation was not repaired: %+v", plan.Trees)
			}
			if tc.rule != "" && !slices.ContainsFunc(plan.Refused, func(r repair.Refused) bool { return r.Rule == tc.rule && strings.Contains(r.Why, tc.why) }) {
				t.Errorf("left out are %+v", plan.Refused)
			}
			for _, r := range plan.Refused {
				if strings.Contains(r.Why, "json:") || strings.Contains(r.Why, "Go ") {
					t.Errorf("the reason is none for people: %s", r.Why)
				}
			}
			if again, _, err := repairtest.Plan(path, "split", "guesses"); err != nil || !again.IsEmpty() {
				t.Errorf("a second repair has work (%v)", err)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, before)
		})
	}
}

// TestSplitOfEventsWithoutATime splits a session of which the events of one run have times
// that are none.
func TestSplitOfEventsWithoutATime(t *testing.T) {
	for _, time := range []string{"'none'", "''", "NULL", "x'626c6f62'"} {
		path, truth := build(t, kagenttest.Program{Conversations: []kagenttest.Conversation{
			{Turns: turnOf(ask(kagenttest.Worker, "look left"), ask(kagenttest.Worker, "look right"))},
		}}, kagenttest.Forms["python"])
		for _, call := range truth.Calls {
			run(t, path, fmt.Sprintf("update event set created_at = %s where id = '%s'", time, call.Events[len(call.Events)-1]))
		}
		before := storetest.Dump(t, path)
		_, receipt, err := repairtest.Repair(path, "split")
		if err != nil {
			t.Fatal(time, err)
		}
		if receipt != nil {
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
		}
		unchangedIn(t, path, before)
	}
}

// TestSplitLeavesWhatAFailedCallStarted parts the calls whose results name their session
// from one whose result does not: what that one started stays.
func TestSplitLeavesWhatAFailedCallStarted(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			failed := ask(kagenttest.Worker, "look up")
			failed.Plain = true // its result names no session
			path, truth := build(t, kagenttest.Program{Conversations: []kagenttest.Conversation{
				{Turns: turnOf(ask(kagenttest.Worker, "look left"), failed, ask(kagenttest.Worker, "look right"))},
			}}, kagenttest.Forms[form])
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "split")
			if err != nil || receipt == nil {
				t.Fatalf("nothing was split (%v): %v", err, found(plan))
			}
			homes, named := homesIn(t, path), map[string]bool{}
			for _, call := range truth.Calls {
				home := homes[call.Task]
				if !call.Named {
					if home != call.Child {
						t.Errorf("the task of the call without a name moved to %s", home)
					}
					continue
				}
				if named[home] {
					t.Errorf("two calls still share session %s", home)
				}
				named[home] = true
			}
			if len(named) != 2 {
				t.Errorf("the calls have %d sessions", len(named))
			}
			(&splitter{truth: truth, homes: homes, loose: true}).places(t, path)
			if again, _, err := repairtest.Plan(path, "split", "guesses"); err != nil || !again.IsEmpty() {
				t.Errorf("a second repair has work (%v)", err)
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, before)
		})
	}
}

// TestCrossedResultsAreKept repairs a session in which a run's result has the id of another
// run's call: nothing is made up for the one, and nothing taken from the other. With a
// guess the result gets its own call's id; the plan says that the split comes next, and it
// does.
func TestCrossedResultsAreKept(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			path, _ := build(t, kagenttest.Script("cross-ids"), kagenttest.Forms[form])
			if plan, receipt, err := repairtest.Repair(path, "split"); err != nil || receipt != nil {
				t.Fatalf("without a guess the plan is %+v (%v)", plan.Trees, err)
			}
			before := storetest.Dump(t, path)
			first, receipt, err := repairtest.Repair(path, "split", "guesses")
			if err != nil || receipt == nil {
				t.Fatalf("nothing was repaired (%v)", err)
			}
			if receipt.Ledger.Synthetic+receipt.Ledger.Quarantined > 0 || len(first.Later) != 1 || first.Later[0].Rule != "SC707" {
				t.Errorf("the ledger is %+v, later comes %+v", receipt.Ledger, first.Later)
			}
			mended := storetest.Dump(t, path)
			if err := os.Rename(path+".backup", path+".first"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".receipt.json", filepath.Join(filepath.Dir(path), "first.json")); err != nil {
				t.Fatal(err)
			}
			second, again, err := repairtest.Repair(path, "split", "guesses")
			if err != nil || again == nil || len(second.Later) > 0 {
				t.Fatalf("the second repair did nothing (%v), later comes %+v", err, second.Later)
			}
			if third, _, err := repairtest.Plan(path, "split", "guesses"); err != nil || !third.IsEmpty() || len(found(third)) > 0 {
				t.Errorf("a third check finds %v (%v)", found(third), err)
			}
			if _, err := repairtest.Undo(path, again.Path()); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, mended)
			if _, err := repairtest.Undo(path, filepath.Join(filepath.Dir(path), "first.json")); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, before)
		})
	}
}

// TestASurplusResultBesideASplit splits a session of which one call has two results: that
// of a tool, and behind it the one that names the session. kagent sends the last one, so
// that neither is taken away.
func TestASurplusResultBesideASplit(t *testing.T) {
	tool, right := kagenttest.Call{ID: "the-tool", Tool: "k8s_get_resources"}, ask(kagenttest.Worker, "look right")
	right.ID = "the-right"
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			path, truth := build(t, kagenttest.Program{Conversations: []kagenttest.Conversation{
				{Turns: turnOf(tool, ask(kagenttest.Worker, "look left"), right)},
			}}, kagenttest.Forms[form])
			run(t, path, fmt.Sprintf("update event set data = replace(data, 'the-tool', 'the-right') where id = '%s'", truth.Calls[0].Responses[0]))
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path, "split", "guesses")
			if err != nil || receipt == nil {
				t.Fatalf("nothing was repaired (%v): %v", err, found(plan))
			}
			if left := found(plan); len(plan.Refused) > 0 || len(left) != 1 || !strings.HasPrefix(left[0], "SC107 ") || receipt.Ledger.Quarantined > 0 {
				t.Errorf("left out are %+v, left is %v, %d results were taken away", plan.Refused, left, receipt.Ledger.Quarantined)
			}
			if again, _, err := repairtest.Plan(path, "split", "guesses"); err != nil || !again.IsEmpty() {
				t.Errorf("a second repair has work (%v): %v", err, found(again))
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, before)
		})
	}
}

// TestAStampIsOfOneID repairs a session in which the event of a call is stored twice: the
// second call gets an id of its own, with which no task names a session.
func TestAStampIsOfOneID(t *testing.T) {
	for _, form := range sortedForms() {
		t.Run(form, func(t *testing.T) {
			plain := ask(kagenttest.Worker, "look left")
			plain.Plain = true // its result names no session
			path, truth := build(t, kagenttest.Program{Conversations: []kagenttest.Conversation{{Turns: turnOf(plain)}}}, kagenttest.Forms[form])
			columns := "session_id, user_id, created_at, updated_at, deleted_at, data"
			run(t, path, fmt.Sprintf("insert into event (id, %s) select id || '-2', %[1]s from event where id = '%s'", columns, truth.Calls[0].CallEvent))
			before := storetest.Dump(t, path)
			plan, receipt, err := repairtest.Repair(path)
			if err != nil || receipt == nil {
				t.Fatalf("nothing was repaired (%v): %v", err, found(plan))
			}
			if again, _, err := repairtest.Plan(path); err != nil || !again.IsEmpty() || len(again.Findings) != len(plan.Findings) {
				t.Errorf("a second repair has work (%v): %v", err, found(again))
			}
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
			unchangedIn(t, path, before)
		})
	}
}

// TestSplitsOfSessionsOfAnyName splits sessions whose ids have letters that JSON spells in
// several ways.
func TestSplitsOfSessionsOfAnyName(t *testing.T) {
	for n, id := range []string{"wörker-é", "сессия 1", "🙂", "a \"b\" \\ c", "<s>&", "s\u2028t", "tab\there", "x#1/y"} {
		for _, ascii := range []bool{false, true} {
			t.Run(fmt.Sprint(n, ", escaped: ", ascii), func(t *testing.T) {
				path, truth := build(t, kagenttest.Script("approvals-given"), kagenttest.Forms["python"])
				was, spelled := truth.Calls[0].Child, inner(id, ascii)
				nested := inner(spelled, ascii)
				quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
				for _, statement := range []string{
					"update session set id = %[2]s where id = %[1]s", "update event set session_id = %[2]s where session_id = %[1]s",
					"update task set session_id = %[2]s where session_id = %[1]s",
					// as JSON in a text within the JSON, then as JSON
					"update event set data = replace(data, '\\\"' || %[1]s || '\\\"', '\\\"' || %[4]s || '\\\"')",
					"update task set data = replace(data, '\\\"' || %[1]s || '\\\"', '\\\"' || %[4]s || '\\\"')",
					"update event set data = replace(data, %[1]s, %[3]s)", "update task set data = replace(data, %[1]s, %[3]s)",
				} {
					run(t, path, fmt.Sprintf(statement+"%[5]s", quote(was), quote(id), quote(spelled), quote(nested), ""))
				}
				before := storetest.Dump(t, path)
				_, receipt, err := repairtest.Repair(path, "split")
				if err != nil || receipt == nil {
					t.Fatalf("nothing was split (%v)", err)
				}
				if again, _, err := repairtest.Plan(path, "split"); err != nil || !again.IsEmpty() || len(found(again)) > 0 {
					t.Errorf("a second check finds %v (%v)", found(again), err)
				}
				if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
					t.Fatal(err)
				}
				unchangedIn(t, path, before)
			})
		}
	}
}

// cases are the smallest databases of wrong answers that were found.
const cases = "../../../../shared/cases"

// TestFoundCases repairs the databases of wrong answers: none is rolled back, the second
// repair has work only where the first one says so, and undo gives back what was stored.
func TestFoundCases(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(cases, "kagent-*", "*.db"))
	if len(paths) == 0 {
		t.Skip("the databases of wrong answers are not beside this checkout (../shared/cases)")
	}
	for _, from := range paths {
		name := filepath.Base(filepath.Dir(from)) + "/" + filepath.Base(from)
		for _, allow := range [][]string{nil, {"split"}, {"split", "guesses"}} {
			t.Run(fmt.Sprint(name, allow), func(t *testing.T) {
				data, err := os.ReadFile(from)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "kagent.db")
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				before := storetest.Dump(t, path)
				plan, receipt, err := repairtest.Repair(path, allow...)
				if err != nil {
					t.Fatal(err)
				}
				if again, _, err := repairtest.Plan(path, allow...); err != nil || !again.IsEmpty() && len(plan.Later) == 0 {
					t.Errorf("a second repair has work that the first did not tell of (%v)", err)
				}
				if receipt != nil {
					if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestABlankTextBesideThoughts takes a message of white space out of an event of the OpenAI
// Agents SDK whose items have ids of the provider.
func TestABlankTextBesideThoughts(t *testing.T) {
	form := kagenttest.Form{Generation: kagenttest.Current, Dialect: kagenttest.OpenAI, Times: kagenttest.GORM}
	path, _ := build(t, called(), form)
	const thought, blank = `{"type":"reasoning","id":"rs_1","summary":[]}`, `{"type":"message","role":"assistant","id":"msg_1","content":" "}`
	run(t, path, `UPDATE event SET data = json_set(data, '$.items', json('[`+thought+`,`+blank+`,' || substr(json_extract(json_remove(data, '$.items[2]'), '$.items'), 2))) WHERE instr(data, '"arguments"')`)
	before := storetest.Dump(t, path)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil {
		t.Fatal(err)
	}
	if receipt == nil {
		t.Fatalf("nothing was repaired: %+v", plan)
	}
	got := query(t, path, "select json_extract(data, '$.items[0].type'), json_extract(data, '$.items[1].type') from event where instr(data, '\"arguments\"')")
	if diff := cmp.Diff([][]string{{"reasoning", "function_call"}}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, storetest.Dump(t, path)); diff != "" {
		t.Error(diff)
	}
}
