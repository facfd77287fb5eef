package cmd_test

import (
	"database/sql"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/internal/store/adk/adktest"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
)

// stores are the databases that scripts can ask for. All are of the generation
// that still leaked.
var stores = map[string]func(db *agenttest.DB) (agenttest.Written, error){
	// empty has no sessions.
	"empty": func(*agenttest.DB) (agenttest.Written, error) { return agenttest.Written{}, nil },
	// clean has one session that a worker helped with, as it should be.
	"clean": func(db *agenttest.DB) (agenttest.Written, error) {
		return agenttest.WriteFixed(db, delegation("Optimize my Dockerfile"))
	},
	// leaky has the same session with the worker's messages in the parent.
	"leaky": func(db *agenttest.DB) (agenttest.Written, error) {
		return agenttest.WriteLeaky(db, delegation("Optimize my Dockerfile"))
	},
	// nested has a worker that asked another one, and leaked.
	"nested": func(db *agenttest.DB) (agenttest.Written, error) { return agenttest.WriteLeaky(db, nestedRun()) },
	// killed was killed while the worker answered: nothing is stored of it but what leaked.
	"killed": func(db *agenttest.DB) (agenttest.Written, error) { return agenttest.WriteLeaky(db, killedRun()) },
	// several has three sessions: a clean one, one with four messages whose
	// time goes back, and a leaky one without a title.
	"several": func(db *agenttest.DB) (agenttest.Written, error) {
		if written, err := agenttest.WriteFixed(db, delegation("Optimize my Dockerfile")); err != nil {
			return written, err
		}
		s := db.Root(agenttest.SessionRow{Title: "Clocks"})
		for range 4 {
			later := s.User("now")
			earlier := s.Assistant("root", agenttest.Message{Content: "and before"})
			_ = later
			if err := db.Damage("TimeGoesBack", earlier.Row); err != nil {
				return agenttest.Written{}, err
			}
		}
		return agenttest.WriteLeaky(db, delegation(""))
	},
}

// delegation is a program in which root asks a worker, who runs a tool.
func delegation(title string) agenttest.Program {
	shell := agenttest.Call{ID: "toolu_w1", Tool: "shell", Args: `{"cmd":"cat Dockerfile"}`, Output: "FROM golang"}
	task := agenttest.Task{Agent: "worker", Text: "Make it smaller.", Steps: []agenttest.Step{
		{Text: "I read it first.", Calls: []agenttest.Call{shell}},
		{Text: "It is smaller now."},
	}}
	return agenttest.Program{Title: title, Turns: []agenttest.Turn{{
		User: "Optimize my Dockerfile",
		Steps: []agenttest.Step{
			{Text: "I ask the worker.", Calls: []agenttest.Call{{ID: "toolu_r1", Tool: "transfer_task", Task: &task}}},
			{Text: "Done."},
		},
	}}}
}

// nestedRun is a program in which the worker asks another one, and the user goes on.
func nestedRun() agenttest.Program {
	usage := &agenttest.Usage{InputTokens: 10, OutputTokens: 5}
	shell := agenttest.Call{ID: "toolu_g1", Tool: "shell", Args: `{"cmd":"pwd"}`, Output: "/src"}
	below := agenttest.Task{Agent: "grand", Text: "Where?", Steps: []agenttest.Step{
		{Text: "I look.", Reasoning: "Hm.", Calls: []agenttest.Call{shell}},
		{Text: "In /src.", Usage: usage},
	}}
	task := agenttest.Task{Agent: "worker", Text: "Find it.", Steps: []agenttest.Step{
		{Text: "I ask.", Calls: []agenttest.Call{{ID: "toolu_w1", Tool: "transfer_task", Task: &below}}},
		{Text: "It is in /src.", Usage: usage},
	}}
	return agenttest.Program{Title: "Where is it?", Turns: []agenttest.Turn{
		{User: "Where is it?", Steps: []agenttest.Step{
			{Calls: []agenttest.Call{{ID: "toolu_r1", Tool: "transfer_task", Task: &task}}},
			{Text: "Found.", Usage: usage},
		}},
		{User: "Thanks", Steps: []agenttest.Step{{Text: "You are welcome."}}},
	}}
}

// killedRun is a program that ends while the worker answers.
func killedRun() agenttest.Program {
	p := delegation("Optimize my Dockerfile")
	p.Turns[0].Steps[0].Calls[0].Task.Steps[1].End = agenttest.Killed
	return p
}

// storing writes one of the stores, for tests that need no events.
func storing(name string) func(*agenttest.DB) error {
	return func(db *agenttest.DB) error {
		_, err := stores[name](db)
		return err
	}
}

func buildStore(ts *testscript.TestScript, _ bool, args []string) {
	const generation = 18
	if len(args) == 2 && (buildKagent(ts, args[0], args[1]) || buildADK(ts, args[0], args[1]) || buildPlayed(ts, args[0], args[1])) {
		return
	}
	if len(args) < 2 || len(args) > 3 || stores[args[0]] == nil {
		ts.Fatalf("usage: store NAME FILE [EVENTS], NAME one of %s", strings.Join(slices.Sorted(maps.Keys(stores)), ", "))
	}
	db, err := agenttest.Create(ts.MkAbs(args[1]), generation)
	ts.Check(err)
	written, err := stores[args[0]](db)
	ts.Check(err)
	ts.Check(db.Close())
	if len(args) == 3 {
		style := agenttest.EventStyle{Form: agenttest.WithoutIDs, Title: "A title"}
		if strings.HasSuffix(args[2], ".sse") {
			style = agenttest.EventStyle{Form: agenttest.WithReasons, SSE: true}
		}
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), written.Events(style), 0o600))
	}
}

// buildPlayed builds the database of goose or opencode of a session with two calls side by
// side, and reports whether it was asked for.
func buildPlayed(ts *testscript.TestScript, name, file string) bool {
	write := map[string]func(path string, writes []player.Write) error{
		"crush":    func(path string, writes []player.Write) error { return crushtest.Build(path, crushtest.Newest, writes) },
		"goose":    func(path string, writes []player.Write) error { return goosetest.Build(path, goosetest.Newest, writes) },
		"opencode": func(path string, writes []player.Write) error { return opencodetest.Build(path, writes) },
	}[name]
	if write == nil {
		return false
	}
	calls := []player.Call{{Tool: "bash", Args: `{"command":"ls"}`, Result: "a.txt"}, {Tool: "bash", Args: `{"command":"pwd"}`, Result: "/srv/demo"}}
	writes := player.Play(player.Program{{Prompt: "What is here?", Steps: []player.Step{{Text: "I look.", Calls: calls}, {Text: "A file."}}}}, 1)
	ts.Check(write(ts.MkAbs(file), writes))
	return true
}

// buildADK builds a database of adk-go 2, or of adk-js, with the script of package adktest
// that is called "adk/" or "adk-js/" and its id, and reports whether there is one.
func buildADK(ts *testscript.TestScript, name, file string) bool {
	for folder, g := range map[string]adktest.Generation{"adk/": adktest.G2, "adk-js/": adktest.J1} {
		for _, s := range adktest.Scripts() {
			if folder+s.ID == name {
				ts.Check(adktest.Create(ts.MkAbs(file), g, s))
				return true
			}
		}
	}
	return false
}

// buildKagent builds the database of a program of package kagenttest, called
// "kagent/" and its name, and reports whether there is one.
func buildKagent(ts *testscript.TestScript, name, file string) bool {
	for _, p := range kagenttest.Scripts() {
		if "kagent/"+p.Name == name {
			_, err := p.Build(ts.MkAbs(file), kagenttest.Forms["python"])
			ts.Check(err)
			return true
		}
	}
	return false
}

// runSQL changes a database.
func runSQL(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	result, err := db.Exec(args[1])
	ts.Check(err)
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		ts.Fatalf("nothing is changed by %s (%v)", args[1], err)
	}
}

// keep opens a database, runs statements, and keeps it open until the script ends.
func keep(ts *testscript.TestScript, args []string, statements ...string) {
	if len(args) != 1 {
		ts.Fatalf("one FILE is needed")
	}
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	db.SetMaxOpenConns(1)
	ts.Defer(func() { _ = db.Close() })
	for _, s := range statements {
		_, err := db.Exec(s)
		ts.Check(err)
	}
}
