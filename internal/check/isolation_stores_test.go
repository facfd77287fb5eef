package check_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// teamwork are the rules about agents that work beside each other.
var teamwork = []string{"SC807", "SC808", "SC809", "SC81", "SC82", "SC83"}

// isolated names the findings of rules in a store, texts loaded: "SC807" or, of a
// severity that is not the rule's own, "SC831 info".
func isolated(t *testing.T, path string, words ...string) []string {
	t.Helper()
	list, err := catalogue.SelectRules(words, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := registry.Open(t.Context(), path, "", nil, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Run(t.Context(), o, check.Options{Rules: list, Bodies: true})
	if err := errors.Join(err, o.Close()); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range result.Findings {
		name := f.Rule.ID
		if f.Severity != f.Rule.Severity {
			name += " " + f.Severity.String()
		}
		found = append(found, name)
		t.Logf("%s in %s at %v: %s", name, f.Session, f.Items, f.Message)
	}
	return found
}

// wantIsolated compares the rules that found something, "" for none.
func wantIsolated(t *testing.T, path, want string) {
	t.Helper()
	if got := strings.Join(isolated(t, path, teamwork...), ", "); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// team is a database of docker agent in which root asks workers.
type team struct {
	*agenttest.DB
	root *agenttest.Session
}

// asks adds a delegation with its child, which says what say makes it say, and the
// answer that came back.
func (d *team) asks(id, agent, task, answer string, say func(*agenttest.Session)) {
	d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.Transfer(id, agent, task, "")}})
	d.runs(id, task, answer, say)
}

// runs adds the child of a call, and the answer.
func (d *team) runs(id, task, answer string, say func(*agenttest.Session)) {
	child := d.root.Child(agenttest.SessionRow{Title: "Transferred task"})
	child.Prologue(task, "")
	say(child)
	d.root.SubSession(child)
	d.root.Result("root", id, answer)
}

// says is a child that looks something up and answers.
func says(agent, call, seen, answer string) func(*agenttest.Session) {
	return func(s *agenttest.Session) {
		s.Assistant(agent, agenttest.Message{Content: "I look.", ToolCalls: []agenttest.ToolCall{agenttest.CallTool(call, "shell", `{"cmd":"ls"}`)}})
		s.Result(agent, call, seen)
		s.Assistant(agent, agenttest.Message{Content: answer})
	}
}

func TestIsolationInDockerAgentDatabases(t *testing.T) {
	const report = "The library has forty modules, and nine of them are tested."
	for name, tc := range map[string]struct {
		write func(*team)
		want  string
	}{
		"a result of the sibling": {func(d *team) {
			d.asks("t1", "ann", "search", "found", says("ann", "s1", "seen", "found"))
			d.asks("t2", "bob", "collect", "got", func(s *agenttest.Session) {
				s.Result("bob", "s1", "seen")
				s.Assistant("bob", agenttest.Message{Content: "got"})
			})
		}, "SC810"},
		"siblings with one task": {func(d *team) {
			d.asks("t1", "ann", "search", "found", says("ann", "s1", "seen", "found"))
			d.asks("t2", "ann", "search", "found", says("ann", "s1", "seen", "found"))
		}, ""},
		"an empty result of an answer": {func(d *team) {
			d.asks("t1", "ann", "search", "", says("ann", "s1", "seen", "found"))
		}, "SC811"},
		"no output of nothing": {func(d *team) {
			d.asks("t1", "ann", "search", "(no output)", func(*agenttest.Session) {})
		}, ""},
		"two agents in one turn": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{Content: "I say this."})
			d.root.Assistant("bob", agenttest.Message{Content: "And I that."})
		}, "SC812"},
		"a handoff": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{agenttest.HandOff("h1", "bob")}})
			d.root.Result("root", "h1", "bob goes on")
			d.root.Assistant("bob", agenttest.Message{Content: "And I that."})
		}, ""},
		"one answer is missing": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{
				agenttest.Transfer("t1", "ann", "search", ""), agenttest.Transfer("t2", "bob", "collect", ""),
			}})
			d.runs("t1", "search", "found", says("ann", "s1", "seen", "found"))
			d.root.Assistant("root", agenttest.Message{Content: "Here it is."})
		}, "SC831"},
		"one answer came twice": {func(d *team) {
			d.root.Assistant("root", agenttest.Message{ToolCalls: []agenttest.ToolCall{
				agenttest.Transfer("t1", "ann", "search", ""), agenttest.Transfer("t2", "bob", "collect", ""),
			}})
			d.runs("t1", "search", report, says("ann", "s1", "seen", report))
			d.runs("t2", "collect", report, says("bob", "s2", "seen", report))
			d.root.Assistant("root", agenttest.Message{Content: "Here it is."})
		}, "SC831 info"},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 29)
			if err != nil {
				t.Fatal(err)
			}
			d := &team{db, db.Root(agenttest.SessionRow{Title: "Team"})}
			d.root.User("Go")
			tc.write(d)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			wantIsolated(t, db.Path, tc.want)
		})
	}
}

// writing is a task in which an agent writes a file.
func writing(id, agent, file string, steps int) agenttest.Call {
	task := &agenttest.Task{Agent: agent, Text: "write as " + agent}
	for n := range steps {
		task.Steps = append(task.Steps, agenttest.Step{Calls: []agenttest.Call{{
			ID: fmt.Sprint(id, "-", n), Tool: "write_file", Args: fmt.Sprintf(`{"path":%q,"content":"%d"}`, file, n), Output: "ok",
		}}})
	}
	task.Steps = append(task.Steps, agenttest.Step{Text: agent + " is done"})
	return agenttest.Call{ID: id, Task: task}
}

func TestIsolationOfRecordedTeams(t *testing.T) {
	for name, tc := range map[string]struct {
		parallel     bool
		first, other agenttest.Call
		want         string
	}{
		"one file at the same time":   {true, writing("t1", "ann", "notes.md", 3), writing("t2", "bob", "notes.md", 3), "SC807"},
		"two files at the same time":  {true, writing("t1", "ann", "ann.md", 3), writing("t2", "bob", "bob.md", 3), ""},
		"one file, one after another": {false, writing("t1", "ann", "notes.md", 3), writing("t2", "bob", "notes.md", 3), ""},
		"as many steps as there may be": {
			false, writing("t1", "ann", "ann.md", 20), writing("t2", "bob", "bob.md", 1), "",
		},
		"a step too many": {false, writing("t1", "ann", "ann.md", 21), writing("t2", "bob", "bob.md", 1), "SC821"},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := agenttest.Create(filepath.Join(t.TempDir(), "session.db"), 29)
			if err != nil {
				t.Fatal(err)
			}
			_, err = agenttest.WriteFixed(db, agenttest.Program{Title: name, Turns: []agenttest.Turn{{User: "Go", Steps: []agenttest.Step{
				{Parallel: tc.parallel, Calls: []agenttest.Call{tc.first, tc.other}}, {Text: "Done."},
			}}}})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			wantIsolated(t, db.Path, tc.want)
		})
	}
}

// TestIsolationOnBranches: agents of one session write a file on branches side by side,
// or one after the other.
func TestIsolationOnBranches(t *testing.T) {
	write := func(agent, branch, id string) []adktest.Event {
		return []adktest.Event{
			{Author: agent, Branch: branch, Parts: []adktest.Part{adktest.Calls(id, "write_file", `{"path":"notes.md"}`)}},
			{Author: agent, Branch: branch, Parts: []adktest.Part{adktest.Answers(id, "write_file", `{"result":"ok"}`)}},
		}
	}
	ann, bob := write("ann", "par.ann", "adk-1"), write("bob", "par.bob", "adk-2")
	for _, g := range []adktest.Generation{adktest.PS, adktest.G2} {
		for name, tc := range map[string]struct {
			events []adktest.Event
			want   string
		}{
			"beside each other": {[]adktest.Event{ann[0], bob[0], ann[1], bob[1]}, "SC807"},
			"one after another": {[]adktest.Event{ann[0], ann[1], bob[0], bob[1]}, ""},
		} {
			t.Run(string(g)+" "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "adk.db")
				s := adktest.Session{ID: "s", Events: []adktest.Event{{Author: "user", Parts: []adktest.Part{adktest.Text("Go")}}}}
				s.Events = append(s.Events, tc.events...)
				for i := range s.Events {
					s.Events[i].Invocation = "e-1"
				}
				if err := adktest.Create(path, g, s); err != nil {
					t.Fatal(err)
				}
				wantIsolated(t, path, tc.want)
			})
		}
	}
}

// TestHealthyStoresKeepTheirAgentsApart: what no runtime did wrong has none of these
// findings, except that some children took longer than the usual limit.
func TestHealthyStoresKeepTheirAgentsApart(t *testing.T) {
	campaign.ShowsNoRace(t)
	healthy := func(t *testing.T, path string) {
		t.Helper()
		for _, name := range isolated(t, path, teamwork...) {
			if name != "SC821" {
				t.Errorf("found %s", name)
			}
		}
	}
	eachHealthyStore(t, healthy)
	t.Run("recorded databases", func(t *testing.T) {
		needCorpus(t)
		for _, name := range scripts {
			healthy(t, fromCorpus(t, "fixed/"+name+".db"))
		}
	})
}
