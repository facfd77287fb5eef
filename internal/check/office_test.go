package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// checkFile opens a store as the command does and runs all rules over it.
func checkFile(t *testing.T, path string, opts store.Options) *check.Result {
	t.Helper()
	return judgeFile(t, path, opts, rules.Judge{})
}

// judgeFile does so for a judge.
func judgeFile(t *testing.T, path string, opts store.Options, judge rules.Judge) *check.Result {
	t.Helper()
	o, err := registry.Open(t.Context(), path, "", nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), o, check.Options{Rules: catalogue.All, Judge: judge})
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	return result
}

// judge asks the profiles of these names.
func judge(names string, asIs bool) rules.Judge {
	j := rules.Judge{AsIs: asIs}
	for name := range strings.FieldsSeq(names) {
		j.Profiles = append(j.Profiles, rules.FindProfile(name))
	}
	return j
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

// asked adds a question with parts, and its answer.
func (o *office) asked(parts ...agenttest.Part) *office {
	o.root.Message("", agenttest.Message{Role: "user", MultiContent: parts}, false)
	o.root.Assistant("root", agenttest.Message{Content: "I see."})
	return o
}

// answers adds a question and this answer.
func (o *office) answers(m agenttest.Message) *office {
	o.root.User("Is it fine?")
	o.root.Assistant("root", m)
	return o
}

// works adds a question, a call of root, its result and an answer.
func (o *office) works(call agenttest.ToolCall) *office {
	o.root.User("Build it again")
	o.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{call}})
	o.root.Result("root", call.ID, "ok")
	o.root.Assistant("root", agenttest.Message{Content: "Done."})
	return o
}

// talk is a database with a session of root alone.
func talk(t *testing.T, say func(root *agenttest.Session)) *office {
	t.Helper()
	db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 29)
	if err != nil {
		t.Fatal(err)
	}
	o := &office{DB: db, root: db.Root(agenttest.SessionRow{Title: "Fix the build"})}
	say(o.root)
	return o
}

func (o *office) damage(t *testing.T, name string, args ...any) *office {
	t.Helper()
	if err := o.Damage(name, args...); err != nil {
		t.Fatal(err)
	}
	return o
}

// setAside leaves the database with its present content beside itself under the name
// that the runtime uses when it gives up on one (path.bak).
func (o *office) setAside(t *testing.T) *office {
	t.Helper()
	o.Sync()
	_, err := o.SQL.Exec("PRAGMA wal_checkpoint(TRUNCATE)") // now the file holds everything
	var content []byte
	if err == nil {
		content, err = os.ReadFile(o.Path)
	}
	if err == nil {
		err = os.WriteFile(o.Path+".bak", content, 0o600)
	}
	if err := errors.Join(err, o.Err()); err != nil {
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
