package kagent_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
)

// programs are those whose rows nothing changed behind their backs.
func programs() []kagenttest.Program {
	list := slices.DeleteFunc(kagenttest.Scripts(), func(p kagenttest.Program) bool { return p.After != nil })
	for seed := range uint64(6) {
		list = append(list, kagenttest.Random(seed))
	}
	return list
}

// TestWhatWasWrittenIsRead compares what is read with what the builder knows.
func TestWhatWasWrittenIsRead(t *testing.T) {
	forms := sortedForms()
	for i, p := range programs() {
		for _, n := range []int{i, i + 4} { // two forms for each
			form := forms[n%len(forms)]
			t.Run(fmt.Sprint(i, " ", p.Name, ", ", form), func(t *testing.T) {
				path, truth := build(t, p, kagenttest.Forms[form])
				_, trees := read(t, path)
				sameSessions(t, truth, trees)
				for _, worked := range truth.Calls {
					sameCall(t, worked, trees)
				}
			})
		}
	}
}

// sessionOf finds a session by what its row has.
func sessionOf(trees []*session.Tree, id, user string) (*session.Tree, *session.Session) {
	for _, tree := range trees {
		for _, s := range tree.Sessions {
			if s.User == user && (s.ID == id || s.ID == user+"/"+id) {
				return tree, s
			}
		}
	}
	return nil, nil
}

func sameSessions(t *testing.T, truth *kagenttest.Written, trees []*session.Tree) {
	t.Helper()
	count := 0
	for _, tree := range trees {
		count += len(tree.Sessions)
	}
	if count != len(truth.Sessions) {
		t.Errorf("%d sessions, and %d were written", count, len(truth.Sessions))
	}
	for _, want := range truth.Sessions {
		_, got := sessionOf(trees, want.ID, want.User)
		if got == nil {
			t.Errorf("session %s of %s is missing", want.ID, want.User)
			continue
		}
		var events, tasks []string
		for i := range got.Items {
			events = append(events, got.Items[i].Key)
		}
		for i := range got.Runs {
			tasks = append(tasks, got.Runs[i].ID)
		}
		slices.Sort(tasks)
		wanted := slices.Sorted(slices.Values(want.Tasks))
		if diff := cmp.Diff(want.Events, events); diff != "" {
			t.Errorf("the events of %s: %s", want.ID, diff)
		}
		if diff := cmp.Diff(wanted, tasks); diff != "" {
			t.Errorf("the tasks of %s: %s", want.ID, diff)
		}
		if got.Agent != want.Agent || got.Delegated && !want.Delegated {
			t.Errorf("session %s is of agent %q, delegated %v", want.ID, got.Agent, got.Delegated)
		}
	}
}

// sameCall compares a call of a worker with its delegation and its task.
func sameCall(t *testing.T, want kagenttest.Worked, trees []*session.Tree) {
	t.Helper()
	tree, parent := sessionOf(trees, want.Parent, want.User)
	call := callOf(parent, want.Call)
	switch {
	case call == nil:
		t.Errorf("call %s is missing", want.Call)
		return
	case call.Delegation == nil:
		t.Errorf("call %s is no delegation", want.Call)
		return
	case call.Delegation.Agent != want.Agent || call.Delegation.Task == 0:
		t.Errorf("call %s asks %q for %v", want.Call, call.Delegation.Agent, call.Delegation.Task)
	}
	_, child := sessionOf(trees, want.Child, want.User)
	named := want.Child // of an agent elsewhere nothing is stored
	if child != nil {
		named = child.ID
	}
	if want.Named && (call.Delegation.Child != named || call.Delegation.Likely) {
		t.Errorf("call %s has the child %q, likely %v, and the result names %s", want.Call, call.Delegation.Child, call.Delegation.Likely, want.Child)
	}
	if call.Delegation.Child != "" && tree.Session(call.Delegation.Child) == nil && child != nil {
		t.Errorf("the child of call %s is not in its tree", want.Call)
	}
	if child == nil || want.Task == "" {
		return
	}
	n := slices.IndexFunc(child.Runs, func(r session.Run) bool { return r.ID == want.Task })
	if n < 0 {
		t.Errorf("task %s of call %s is missing", want.Task, want.Call)
		return
	}
	run := child.Runs[n]
	if run.Open != want.Open || run.Asked != call.Delegation.Task {
		t.Errorf("task %s is open: %v, and asked for what the call asks: %v", run.ID, run.Open, run.Asked == call.Delegation.Task)
	}
	if run.Invocation != "" && !slices.Contains(want.Invocations, run.Invocation) {
		t.Errorf("task %s is of invocation %q", run.ID, run.Invocation)
	}
	if run.Invocation == "" && len(want.Invocations) > 0 && child.Inseparable == "" {
		t.Errorf("task %s has no invocation", run.ID)
	}
	if r := resultOf(parent, want.Call); want.Named && run.Answered != 0 && (r == nil || r.Answer != run.Answered) {
		t.Errorf("the answer of task %s is not that of call %s", run.ID, want.Call)
	}
}

func callOf(s *session.Session, id string) *session.Call {
	for i := range s.Items {
		for n := range s.Items[i].Calls {
			if c := &s.Items[i].Calls[n]; c.ID == id {
				return c
			}
		}
	}
	return nil
}

// resultOf is the last result of a call.
func resultOf(s *session.Session, call string) (last *session.Result) {
	for i := range s.Items {
		for n := range s.Items[i].Results {
			if r := &s.Items[i].Results[n]; r.CallID == call {
				last = r
			}
		}
	}
	return last
}
