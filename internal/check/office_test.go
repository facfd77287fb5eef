package check_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// checkFile opens a store as the command does and runs all rules over it.
func checkFile(t *testing.T, path string, opts store.Options) *check.Result {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), o, check.Options{Rules: rules.All})
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	return result
}

// office is a healthy database: root works alone, then asks a worker, who works
// and answers, then sums up and goes on.
type office struct {
	*agenttest.DB
	root, child              *agenttest.Session
	user, caller, result     *agenttest.Item // of an ordinary call
	delegation, sub, answer  *agenttest.Item
	childCaller, childResult *agenttest.Item
	summary, late, lateDone  *agenttest.Item // behind the summary: a call and its result
}

func newOffice(t *testing.T, generation int) *office {
	t.Helper()
	db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), generation)
	if err != nil {
		t.Fatal(err)
	}
	o := &office{DB: db, root: db.Root(agenttest.SessionRow{Title: "Fix the build"})}
	call := func(id, cmd string) []agenttest.ToolCall {
		return []agenttest.ToolCall{agenttest.CallTool(id, "shell", `{"cmd":"`+cmd+`"}`)}
	}
	o.user = o.root.User("Fix the build")
	o.caller = o.root.Assistant("root", agenttest.Message{Content: "I look.", ToolCalls: call("r1", "make")})
	o.result = o.root.Result("root", "r1", "make: no rule")
	o.delegation = o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{
		agenttest.Transfer("t1", "worker", "Add the rule.", "a patch"),
	}})
	o.child = o.root.Child(agenttest.SessionRow{Title: "Transferred task"})
	o.child.Prologue("Add the rule.", "a patch")
	o.childCaller = o.child.Assistant("worker", agenttest.Message{Content: "I edit.", ToolCalls: call("w1", "sed")})
	o.childResult = o.child.Result("worker", "w1", "ok")
	o.child.Assistant("worker", agenttest.Message{Content: "The rule is there."})
	o.sub = o.root.SubSession(o.child)
	o.answer = o.root.Result("root", "t1", "The rule is there.")
	o.root.Assistant("root", agenttest.Message{Content: "Fixed."})
	o.root.User("And the docs?")
	o.late = o.root.Assistant("root", agenttest.Message{ToolCalls: call("r2", "cat")})
	o.lateDone = o.root.Result("root", "r2", "# Docs")
	o.root.Assistant("root", agenttest.Message{Content: "They are fine."})
	return o
}

// summarized adds a summary that keeps nothing, and a turn behind it.
func (o *office) summarized() *office {
	o.summary = o.root.Summary(agenttest.Summary{Text: "The build is fixed."})
	o.root.User("Thanks")
	o.root.Assistant("root", agenttest.Message{Content: "You are welcome."})
	return o
}

func (o *office) damage(t *testing.T, damages ...agenttest.Damage) *office {
	t.Helper()
	if err := o.Damage(damages...); err != nil {
		t.Fatal(err)
	}
	return o
}

// program writes a program as the runtime with the leak did.
func program(t *testing.T, turns ...agenttest.Turn) *office {
	t.Helper()
	db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 18)
	if err == nil {
		_, err = agenttest.WriteLeaky(db, agenttest.Program{Title: "Leaky", Turns: turns})
	}
	if err != nil {
		t.Fatal(err)
	}
	return &office{DB: db}
}

// asks is a turn in which root asks a worker.
func asks(steps ...agenttest.Step) agenttest.Turn {
	return agenttest.Turn{User: "please", Steps: []agenttest.Step{
		{Text: "I ask.", Calls: []agenttest.Call{{ID: "t1", Task: &agenttest.Task{Agent: "worker", Text: "do it", Steps: steps}}}},
		{Text: "done"},
	}}
}

var shell = []agenttest.Call{{ID: "w1", Tool: "shell", Args: "{}", Output: "ok"}}
