package loomtest

// Research is a workspace without a fault: a lead that spawns two researchers, waits
// for both and writes a report.
func Research(folder string) *Workspace {
	w := Create(folder)
	for _, agent := range []string{"main", "researcher-1", "researcher-2"} {
		w.Agent(agent)
	}
	w.Step("main", Step{Args: map[string]any{"query": "trends"}, Observation: "Found 10 results"})
	w.delegate("main", "researcher-1", "Find out about frameworks and name the three that are used most")
	w.delegate("main", "researcher-2", "Find out what running them costs")
	w.work("researcher-1", "frameworks", "three frameworks")
	w.work("researcher-2", "costs", "what each costs")
	w.Returned("main", "researcher-1", "Three frameworks are used most.", map[string]any{".metadata": map[string]any{"loom.correlation_id": "researcher-1"}})
	w.Returned("main", "researcher-2", "They cost about the same.", map[string]any{".metadata": map[string]any{"loom.correlation_id": "researcher-2"}})
	w.Step("main", Step{Tool: "fs:write_file", Args: map[string]any{"path": w.Output("main", "report.md", "# Report")}, Observation: "Wrote 8 bytes"})
	return w
}

func (w *Workspace) delegate(parent, child, goal string) {
	w.Asked(parent, child, goal, map[string]any{"tools": []string{"web:search"}, "timeout_ms": 60000})
	w.Spawn(parent, child, goal)
}

func (w *Workspace) work(agent, query, found string) {
	ref := w.Output(agent, "search_001.json", found)
	w.Step(agent, Step{Args: map[string]any{"query": query}, Observation: "Found 3 results", Outcome: ref})
}
