package adk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// turnOf is a session whose agent "root" makes calls by these ids, which the events
// follow, and then goes on.
func turnOf(ids string, events ...adktest.Event) adktest.Session {
	said := func(author string, parts ...adktest.Part) adktest.Event {
		return adktest.Event{Author: author, Parts: parts}
	}
	var calls []adktest.Part
	for i, id := range strings.Fields(ids) {
		calls = append(calls, adktest.Calls(id, "look", fmt.Sprintf(`{"n":%d}`, i)))
	}
	s := adktest.Session{ID: "s", Events: []adktest.Event{said("user", adktest.Text("go")), said("root", calls...)}}
	s.Events = append(append(s.Events, events...), said("user", adktest.Text("and now?")), said("root", adktest.Text("done")))
	for i := range s.Events {
		s.Events[i].Invocation = "e-1"
	}
	return s
}

func answeredBy(author string, ids ...string) adktest.Event {
	e := adktest.Event{Author: author}
	for _, id := range ids {
		e.Parts = append(e.Parts, adktest.Answers(id, "look", `{"result":"seen"}`))
	}
	return e
}

// answerEvents are the events with results, in the order of their times: the ids of each,
// with a + before those that a repair added.
func answerEvents(t tester, path string) string {
	t.Helper()
	said := "content"
	for _, c := range query(t, path, "select name from pragma_table_info('events')") {
		if c[0] == "event_data" {
			said = "event_data"
		}
	}
	var list []string
	for _, row := range query(t, path, "select "+said+" from events order by timestamp") {
		var ids []string
		for _, part := range partsWithIDs(t, row[0]) {
			for _, key := range []string{"function_response", "functionResponse"} {
				response, answers := part[key].(map[string]any)
				if !answers {
					continue
				}
				id := fmt.Sprint(response["id"])
				if strings.Contains(fmt.Sprint(response["response"]), "[sessctl]") {
					id = "+" + id
				}
				ids = append(ids, id)
			}
		}
		if ids != nil {
			list = append(list, strings.Join(ids, " "))
		}
	}
	return strings.Join(list, " / ")
}

func partsWithIDs(t tester, text string) []map[string]any {
	t.Helper()
	var doc struct {
		Parts   []map[string]any
		Content struct{ Parts []map[string]any }
	}
	if text == "<nil>" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(text, err)
	}
	return append(doc.Parts, doc.Content.Parts...)
}

// ADK stores the results of parallel calls in one event, and so does a repair. It sends
// those of several events in the order of these and without the ids that it gave itself, so
// that they have to stand in the order of the calls; of two events with results of one id it
// sends the later one's.
func TestResultsOfOneTurnAreOneEvent(t *testing.T) {
	waits := turnOf("a b c")
	waits.Events[1].Waits = []string{"a"}
	tests := []struct {
		name    string
		session adktest.Session
		want    string
	}{
		{"none is answered", turnOf("a b c"), "+a +b +c"},
		{"a single call", turnOf("a"), "+a"},
		{"the first is answered", turnOf("a b c", answeredBy("root", "a")), "a / +b +c"},
		{"the last is answered", turnOf("a b c", answeredBy("root", "c")), "+a +b / c"},
		{"the middle is answered", turnOf("a b c", answeredBy("root", "b")), "+a / b / +c"},
		{"a state is stored between", turnOf("a b", adktest.Event{Author: "root", Actions: adktest.Actions{StateDelta: `{"n":1}`}}), "+a +b"},
		{"another agent speaks between", turnOf("a b", adktest.Event{Author: "other", Branch: "x.other", Parts: []adktest.Part{adktest.Text("hi")}}), "+a +b"},
		{"another agent has the same ids", turnOf("a b",
			adktest.Event{Author: "other", Branch: "x.other", Parts: []adktest.Part{adktest.Calls("a", "look", "{}"), adktest.Calls("b", "look", "{}")}},
		), "+a +b / +a +b"},
		{"two turns with the same ids", turnOf("a b",
			adktest.Event{Author: "root", Parts: []adktest.Part{adktest.Calls("a", "look", "{}"), adktest.Calls("b", "look", "{}")}},
		), "+a +b / +a +b"},
		{"an id twice", turnOf("a a b"), "+a +a +b"},
		{"the answer is stored twice", turnOf("a b c", answeredBy("root", "c"), answeredBy("root", "c")), "+a +b / c"},
		{"one of them waits", waits, "+a +b +c"},
	}
	for _, g := range []adktest.Generation{adktest.P0, adktest.P1, adktest.G2, adktest.J1} {
		for _, tt := range tests {
			if g.Lacks(tt.session) != "" {
				continue
			}
			t.Run(string(g)+"/"+tt.name, func(t *testing.T) {
				path := created(t, g, tt.session)
				before := dump(t, path)
				plan, receipt, err := repairtest.Repair(path, "waiting")
				if err != nil || receipt == nil {
					t.Fatalf("%v\n%s", err, told(plan))
				}
				if diff := cmp.Diff(tt.want, answerEvents(t, path)); diff != "" {
					t.Errorf("want (-), got (+):\n%s\n%s", diff, told(plan))
				}
				if open := unanswered(t, path, g, "s"); len(open) > 0 {
					t.Errorf("%v have no response", open)
				}
				stable(t, path, before, receipt)
			})
		}
	}
}

// Each call without a result is a fix of its own: one of several can be made alone, and the
// next repair makes the others.
func TestOneResultOfATurnAlone(t *testing.T) {
	for keep, want := range []string{"+a / +b +c", "+a / +b / +c", "+a +b / +c"} {
		path := created(t, adktest.J1, turnOf("a b c"))
		before := dump(t, path)
		plan, kind, err := repairtest.Plan(path)
		if err != nil || len(plan.Trees) != 1 || len(plan.Trees[0].Fixes) != 3 {
			t.Fatalf("%v\n%s", err, told(plan))
		}
		tree := plan.Trees[0]
		tree.Fixes = tree.Fixes[keep : keep+1]
		ed, err := kind.Edit(context.Background(), registry.ToEdit(path))
		if err != nil {
			t.Fatal(err)
		}
		apply := repair.Apply{Backup: path + ".one.backup", Receipt: path + ".one.json", Prologue: kind.Prologue}
		first, err := apply.Run(context.Background(), ed, plan)
		if err = errors.Join(err, ed.Close()); err != nil {
			t.Fatal(err)
		}
		if got := answerEvents(t, path); got != fmt.Sprintf("+%c", "abc"[keep]) {
			t.Errorf("alone: %s", got)
		}
		alone := dump(t, path)
		rest, receipt, err := repairtest.Repair(path)
		if err != nil || receipt == nil {
			t.Fatalf("%v\n%s", err, told(rest))
		}
		if got := answerEvents(t, path); got != want {
			t.Errorf("%d alone, then the others: %s, want %s", keep, got, want)
		}
		stable(t, path, alone, receipt)
		if _, err := repairtest.Undo(path, first.Path()); err != nil || dump(t, path) != before {
			t.Errorf("undo of the first: %v", err)
		}
	}
}

// A new event is a place behind the call, however many results it has, and what follows
// makes room only where it stands there. Its id has the form of those beside it.
func TestTimeAndIDOfTheOneEvent(t *testing.T) {
	s := turnOf("a b c")
	for i := range s.Events {
		s.Events[i].ID = fmt.Sprintf("Ab12Cd3%d", i)
	}
	path := created(t, adktest.J1, s)
	if plan, receipt, err := repairtest.Repair(path); err != nil || receipt == nil {
		t.Fatalf("%v\n%s", err, told(plan))
	}
	rows := query(t, path, "select timestamp - 1795210800058, typeof(timestamp), event_data ->> 'timestamp' = timestamp, length(id), id = event_data ->> 'id' from events order by timestamp")
	var want [][]string
	for i := range 5 { // the call was made at 1; what followed at 2 and 3 made room
		want = append(want, []string{fmt.Sprint(i), "integer", "1", "8", "1"})
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}
