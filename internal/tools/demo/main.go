// Demo writes a damaged docker agent database as v1.27.1 to v1.32.0 leave one
// behind: a delegation that leaked, one whose sub-agent failed, a run that was
// cancelled while a tool ran, and a healthy session.
//
// Usage: demo DATABASE
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo DATABASE")
		os.Exit(2)
	}
	if err := writeDemo(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func writeDemo(path string) error {
	const generation = 18 // the last one that leaks
	start := time.Date(2026, 2, 3, 9, 56, 40, 0, time.UTC)
	db, err := agenttest.Create(path, generation, agenttest.StartAt(start), agenttest.StepBy(4*time.Second))
	if err != nil {
		return err
	}
	for _, p := range []agenttest.Program{healthy, cancelled, failed, leaked} {
		db.Wait(26 * time.Hour)
		if _, err := agenttest.WriteLeaky(db, p); err != nil {
			return err
		}
	}
	fmt.Println("wrote", path)
	return db.Close()
}

var usage = &agenttest.Usage{InputTokens: 1840, OutputTokens: 212}

func shellCall(id, cmd, output string) agenttest.Call {
	return agenttest.Call{ID: id, Tool: "shell", Args: `{"cmd":"` + cmd + `"}`, Output: output}
}

func newStep(text string, calls ...agenttest.Call) agenttest.Step {
	return agenttest.Step{Text: text, Calls: calls, Usage: usage}
}

var leaked = agenttest.Program{
	Title: "Optimize my Dockerfile",
	Turns: []agenttest.Turn{{User: "Optimize my Dockerfile", Steps: []agenttest.Step{
		newStep("", shellCall("toolu_01A", "find . -name Dockerfile", "./Dockerfile")),
		newStep("I'll hand this to the specialist.", agenttest.Call{ID: "toolu_01B", Task: &agenttest.Task{
			Agent: "optimizer", Text: "Optimize ./Dockerfile for size", ExpectedOutput: "a smaller image",
			Steps: []agenttest.Step{
				newStep("I'll start by reading the current Dockerfile.", shellCall("toolu_01Y", "cat Dockerfile", "FROM golang:1.26\nCOPY . .\nRUN go build")),
				newStep("", shellCall("toolu_01Z", "docker build -q .", "sha256:9f3c")),
				newStep("Optimization complete: two stages, 14 MB instead of 1.1 GB."),
			},
		}}),
		newStep("Your Dockerfile has been optimized: two stages, 14 MB."),
	}}},
}

var failed = agenttest.Program{
	Title:  "Review the README",
	Models: map[string]string{"reviewer": "anthropic/claude-sonnet-4-5"},
	Turns: []agenttest.Turn{{User: "Review the README", Steps: []agenttest.Step{
		newStep("Let me ask the reviewer.", agenttest.Call{ID: "toolu_02A", Task: &agenttest.Task{
			Agent: "reviewer", Text: "Review README.md", ExpectedOutput: "a list of problems",
			Steps: []agenttest.Step{
				newStep("I'll read it first.", shellCall("toolu_02B", "cat README.md", "# demo")),
				{End: agenttest.Failed, Error: "all models failed: overloaded"},
			},
		}}),
		newStep("The review failed; please try again later."),
	}}},
}

var cancelled = agenttest.Program{
	Title: "Run the tests",
	Turns: []agenttest.Turn{{User: "Run the tests", Steps: []agenttest.Step{
		newStep("Running them now.", agenttest.Call{ID: "toolu_03A", Tool: "shell", Args: `{"cmd":"make test"}`, Killed: true}),
	}}},
}

var healthy = agenttest.Program{
	Title: "What is in this folder?",
	Turns: []agenttest.Turn{{User: "What is in this folder?", Steps: []agenttest.Step{
		newStep("", shellCall("toolu_04A", "ls", "Dockerfile\nREADME.md\nmain.go")),
		newStep("A small Go program with a Dockerfile."),
	}}},
}
