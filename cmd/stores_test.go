package cmd_test

import (
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

// stores are the databases that scripts can ask for. All are of the generation
// that still leaked.
var stores = map[string]func(db *agenttest.DB) error{
	// empty has no sessions.
	"empty": func(*agenttest.DB) error { return nil },
	// clean has one session that a worker helped with, as it should be.
	"clean": func(db *agenttest.DB) error {
		_, err := agenttest.WriteFixed(db, delegation("Optimize my Dockerfile"))
		return err
	},
	// leaky has the same session with the worker's messages in the parent.
	"leaky": func(db *agenttest.DB) error {
		_, err := agenttest.WriteLeaky(db, delegation("Optimize my Dockerfile"))
		return err
	},
	// several has three sessions: a clean one, one with four messages whose
	// time goes back, and a leaky one without a title.
	"several": func(db *agenttest.DB) error {
		_, err := agenttest.WriteFixed(db, delegation("Optimize my Dockerfile"))
		if err != nil {
			return err
		}
		s := db.Root(agenttest.SessionRow{Title: "Clocks"})
		for range 4 {
			later := s.User("now")
			earlier := s.Assistant("root", agenttest.Message{Content: "and before"})
			_ = later
			if err := db.Damage(agenttest.TimeGoesBack(earlier.Row)); err != nil {
				return err
			}
		}
		_, err = agenttest.WriteLeaky(db, delegation(""))
		return err
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

func buildStore(ts *testscript.TestScript, _ bool, args []string) {
	const generation = 18
	if len(args) != 2 || stores[args[0]] == nil {
		ts.Fatalf("usage: store NAME FILE, NAME one of %s", strings.Join(slices.Sorted(maps.Keys(stores)), ", "))
	}
	db, err := agenttest.Create(ts.MkAbs(args[1]), generation)
	ts.Check(err)
	ts.Check(stores[args[0]](db))
	ts.Check(db.Close())
}

// lock holds a database against every reader, from this process, until the
// script ends.
func lock(ts *testscript.TestScript, _ bool, args []string) {
	keep(ts, args, "PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE")
}

// hold keeps a database open as a runtime does that waits for its user.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	keep(ts, args, "PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE")
}

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
