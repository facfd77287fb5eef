// Package loomtest writes workspaces in the layout of Loom's design, for tests. What
// it writes is what Step.to_dict of loom-py and the messages of the design give
// (loom-os/loom c34e1de): no Loom is known that writes such folders itself.
package loomtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Began is when the first record of a workspace was made, in milliseconds since 1970;
// every further one comes a second later.
const Began = 1_764_950_400_000

// Workspace is a workspace that is written. Close says what went wrong.
type Workspace struct {
	Folder string
	now    int64
	steps  map[string]int
	events []any
	err    error
}

// Create begins a workspace in a folder, which is made where it does not exist.
func Create(folder string) *Workspace {
	return &Workspace{Folder: folder, now: Began, steps: map[string]int{}, err: os.MkdirAll(folder, 0o700)}
}

// Agent makes the folders of an agent.
func (w *Workspace) Agent(id string) {
	for _, name := range []string{"history", "outputs"} {
		w.noteError(os.MkdirAll(filepath.Join(w.Folder, id, name), 0o700))
	}
}

// Step is a step of an agent. What is left out is filled in as in a step that succeeds.
type Step struct {
	ID          string // that of its number
	Tool        string // web:search
	Args        any
	Observation string
	Failed      bool
	Error       string
	Outcome     string // the path of the file with the whole output
	At          int64  // milliseconds since 1970
}

// Step adds a step to the history of an agent and returns its id.
func (w *Workspace) Step(agent string, s Step) string {
	w.steps[agent]++
	name := fmt.Sprintf("step_%03d", w.steps[agent])
	record := map[string]any{
		"id": cmp.Or(s.ID, name), "tool_name": cmp.Or(s.Tool, "web:search"), "minimal_args": s.Args, "observation": s.Observation,
		"success": !s.Failed, "timestamp_ms": w.recordTime(s.At), "outcome_ref": nil, "error": nil, "metadata": map[string]any{},
	}
	if s.Args == nil {
		record["minimal_args"] = map[string]any{}
	}
	if s.Outcome != "" {
		record["outcome_ref"] = s.Outcome
	}
	if s.Error != "" {
		record["error"] = s.Error
	}
	text, err := json.Marshal(record)
	w.noteError(err)
	w.File(agent+"/history/"+name+".json", string(text))
	return record["id"].(string)
}

// Spawn adds the step with which a parent records a child, and returns its id.
func (w *Workspace) Spawn(parent, child, goal string) string {
	return w.Step(parent, Step{
		Tool: "agent:spawn", Args: map[string]any{"child_id": child},
		Observation: fmt.Sprintf("Spawned %s with goal: %.50s...", child, goal),
	})
}

// Asked captures the event of a spawn. more are further members of its payload, or of
// the event where they begin with a dot.
func (w *Workspace) Asked(parent, child, goal string, more map[string]any) {
	w.addEvent("agent.spawn", parent, map[string]any{"parent_id": parent, "child_id": child, "goal": goal}, more)
}

// Returned captures the event of a result.
func (w *Workspace) Returned(parent, child, result string, more map[string]any) {
	w.addEvent("agent.result", child, map[string]any{"parent_id": parent, "child_id": child, "result": result, "success": true}, more)
}

func (w *Workspace) addEvent(kind, source string, payload, more map[string]any) {
	event := map[string]any{
		"id": fmt.Sprintf("event-%d", len(w.events)+1), "type": kind, "source": source, "timestamp_ms": w.recordTime(0), "payload": payload,
	}
	for name, value := range more {
		if member, ok := strings.CutPrefix(name, "."); ok {
			event[member] = value
		} else {
			payload[name] = value
		}
	}
	w.events = append(w.events, event)
}

// Output writes a file into the outputs of an agent and returns its path from the
// agent's folder.
func (w *Workspace) Output(agent, name, text string) string {
	w.File(agent+"/outputs/"+name, text)
	return "outputs/" + name
}

// Offloaded writes a file as the offloader of loom-py does, with the digest in its
// name, and returns its path from the workspace.
func (w *Workspace) Offloaded(category, identifier, ending, text string) string {
	sum := sha256.Sum256([]byte(text))
	name := fmt.Sprintf(".loom/cache/%s/%s_%x.%s", category, identifier, sum[:8], ending)
	w.File(name, text)
	return name
}

// File writes any file of the workspace.
func (w *Workspace) File(name, text string) {
	path := filepath.Join(w.Folder, name)
	w.noteError(os.MkdirAll(filepath.Dir(path), 0o700))
	w.noteError(os.WriteFile(path, []byte(text), 0o600))
}

// Link makes a symbolic link in the workspace.
func (w *Workspace) Link(target, name string) {
	path := filepath.Join(w.Folder, name)
	w.noteError(os.MkdirAll(filepath.Dir(path), 0o700))
	w.noteError(os.Symlink(target, path))
}

// Close writes the captured events, if there are any.
func (w *Workspace) Close() error {
	var text strings.Builder
	for _, event := range w.events {
		line, err := json.Marshal(event)
		w.noteError(err)
		text.Write(append(line, '\n'))
	}
	if len(w.events) > 0 {
		w.File("events.jsonl", text.String())
	}
	return w.err
}

func (w *Workspace) noteError(err error) { w.err = errors.Join(w.err, err) }

// recordTime is the time of a record: the one that is given, else a second after the last.
func (w *Workspace) recordTime(given int64) int64 {
	if given != 0 {
		return given
	}
	w.now += 1000
	return w.now
}

// Research is a workspace without a fault: a lead that spawns two researchers, waits
// for both and writes a report.
func Research(folder string) *Workspace {
	w := Create(folder)
	for _, agent := range []string{"main", "researcher-1", "researcher-2"} {
		w.Agent(agent)
	}
	w.Step("main", Step{Args: map[string]any{"query": "trends"}, Observation: "Found 10 results"})
	w.delegateTo("main", "researcher-1", "Find out about frameworks and name the three that are used most")
	w.delegateTo("main", "researcher-2", "Find out what running them costs")
	w.addResearch("researcher-1", "frameworks", "three frameworks")
	w.addResearch("researcher-2", "costs", "what each costs")
	w.Returned("main", "researcher-1", "Three frameworks are used most.", map[string]any{".metadata": map[string]any{"loom.correlation_id": "researcher-1"}})
	w.Returned("main", "researcher-2", "They cost about the same.", map[string]any{".metadata": map[string]any{"loom.correlation_id": "researcher-2"}})
	w.Step("main", Step{Tool: "fs:write_file", Args: map[string]any{"path": w.Output("main", "report.md", "# Report")}, Observation: "Wrote 8 bytes"})
	return w
}

func (w *Workspace) delegateTo(parent, child, goal string) {
	w.Asked(parent, child, goal, map[string]any{"tools": []string{"web:search"}, "timeout_ms": 60000})
	w.Spawn(parent, child, goal)
}

func (w *Workspace) addResearch(agent, query, found string) {
	ref := w.Output(agent, "search_001.json", found)
	w.Step(agent, Step{Args: map[string]any{"query": query}, Observation: "Found 3 results", Outcome: ref})
}
