package check_test

import (
	"strings"
	"testing"

	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

// twoRunning is a parent that spawns a child, and another before the first is back.
func twoRunning(w *loomtest.Workspace) {
	for _, child := range []string{"editor", "painter"} {
		w.Agent(child)
		w.Asked("main", child, "Work as "+child, map[string]any{"timeout_ms": 60_000})
		w.Spawn("main", child, "Work as "+child)
	}
}

func TestIsolationInLoomWorkspaces(t *testing.T) {
	step := func(agent string, s loomtest.Step) func(*loomtest.Workspace) {
		return func(w *loomtest.Workspace) { w.Step(agent, s) }
	}
	path := func(name string) map[string]any { return map[string]any{"path": name} }
	for name, tc := range map[string]struct {
		write func(*loomtest.Workspace) // besides a workspace without a fault
		want  string
	}{
		"as the design has it": {func(*loomtest.Workspace) {}, ""},
		"outputs of another agent": {
			step("researcher-2", loomtest.Step{Args: path("../researcher-1/outputs/search_001.json")}), "SC807",
		},
		"outputs of its own": {step("researcher-2", loomtest.Step{Args: path("outputs/search_001.json")}), ""},
		"outputs that the task names": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten search_001.json", nil)
			w.Spawn("main", "editor", "Shorten search_001.json")
			w.Step("editor", loomtest.Step{Args: path("../researcher-1/outputs/search_001.json")})
			w.Returned("main", "editor", "Shorter.", nil)
		}, ""},
		"a file that is gone":        {step("main", loomtest.Step{Outcome: "outputs/gone_001.json"}), "SC808"},
		"one that could not be read": {step("main", loomtest.Step{Args: path("outputs/gone_001.json"), Failed: true, Error: "no such file"}), ""},
		"an offloaded output that was changed": {func(w *loomtest.Workspace) {
			name := w.Offloaded("web", "example", "txt", "as it was")
			w.File(name, "as it is")
			w.Step("main", loomtest.Step{Outcome: name})
		}, "SC808"},
		"two agents that offloaded the same": {func(w *loomtest.Workspace) {
			name := w.Offloaded("web", "example", "txt", "as it was")
			w.Step("researcher-1", loomtest.Step{Outcome: name})
			w.Step("researcher-2", loomtest.Step{Outcome: name})
			w.Step("researcher-1", loomtest.Step{})
		}, ""},
		"an output that another agent offloaded": {func(w *loomtest.Workspace) {
			name := w.Offloaded("web", "example", "txt", "as it was")
			w.Step("researcher-1", loomtest.Step{Outcome: name})
			w.Step("main", loomtest.Step{Tool: "fs:read_file", Args: path("../" + name)})
		}, "SC807"},
		"an output that it offloaded itself": {func(w *loomtest.Workspace) {
			name := w.Offloaded("web", "example", "txt", "as it was")
			w.Step("main", loomtest.Step{Outcome: name})
			w.Step("researcher-1", loomtest.Step{Outcome: name})
			w.Step("main", loomtest.Step{Tool: "fs:read_file", Args: path("../" + name)})
		}, ""},
		"outputs as large as they must not be": {func(w *loomtest.Workspace) {
			w.Step("researcher-1", loomtest.Step{Outcome: w.Output("researcher-1", "all_002.txt", strings.Repeat("x", 1_000_000-len("three frameworks")))})
		}, "SC821"},
		"outputs as large as they may be": {func(w *loomtest.Workspace) {
			w.Step("researcher-1", loomtest.Step{Outcome: w.Output("researcher-1", "all_002.txt", strings.Repeat("x", 999_999-len("three frameworks")))})
		}, ""},
		"a result with its correlation": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten it", map[string]any{".metadata": map[string]any{"correlation_id": "k1"}})
			w.Spawn("main", "editor", "Shorten it")
			w.Returned("main", "editor", "Shorter.", map[string]any{".metadata": map[string]any{"correlation_id": "k1"}})
		}, ""},
		"a result in its time": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten it", map[string]any{"timeout_ms": 5000})
			w.Spawn("main", "editor", "Shorten it")
			w.Returned("main", "editor", "Shorter.", nil)
		}, ""},
		"an offloaded output as it was": {func(w *loomtest.Workspace) {
			w.Step("main", loomtest.Step{Outcome: w.Offloaded("web", "example", "txt", "as it was")})
		}, ""},
		"siblings that see the same": {func(w *loomtest.Workspace) {
			for _, agent := range []string{"researcher-1", "researcher-2"} {
				w.Step(agent, loomtest.Step{Args: map[string]any{"query": "news"}, Observation: "Found 3 results of the same query"})
			}
		}, ""},
		"a spawn that goes on while the lead writes": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten it", nil)
			w.Spawn("main", "editor", "Shorten it")
			w.Step("main", loomtest.Step{})
			w.Returned("main", "editor", "Shorter.", nil)
		}, ""},
		"a tool that was not granted": {step("researcher-1", loomtest.Step{Tool: "fs:write_file", Args: map[string]any{"text": "x"}}), "SC809"},
		"a result after its time": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten it", map[string]any{"timeout_ms": 5000})
			w.Spawn("main", "editor", "Shorten it")
			w.Returned("main", "editor", "Shorter.", map[string]any{".timestamp_ms": loomtest.Began + 100_000})
		}, "SC813"},
		"a result with another correlation": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Asked("main", "editor", "Shorten it", map[string]any{".metadata": map[string]any{"correlation_id": "k1"}})
			w.Spawn("main", "editor", "Shorten it")
			w.Returned("main", "editor", "Shorter.", map[string]any{".metadata": map[string]any{"correlation_id": "k2"}})
		}, "SC813"},
		"an empty result of the first of two that run": {func(w *loomtest.Workspace) {
			twoRunning(w)
			w.Returned("main", "editor", "", nil)
			w.Returned("main", "painter", "Painted.", nil)
			w.Returned("main", "editor", "Shorter.", nil)
		}, "SC811"},
		"another correlation of the first of two that run": {func(w *loomtest.Workspace) {
			twoRunning(w)
			other := map[string]any{".metadata": map[string]any{"correlation_id": "k2"}}
			w.Returned("main", "editor", "Shorter.", other)
			w.Returned("main", "painter", "Painted.", nil)
		}, "SC813"},
		"a late result of the first of two that run": {func(w *loomtest.Workspace) {
			twoRunning(w)
			w.Returned("main", "painter", "Painted.", nil)
			w.Returned("main", "editor", "Shorter.", map[string]any{".timestamp_ms": loomtest.Began + 200_000})
		}, "SC813"},
		"steps without an end": {func(w *loomtest.Workspace) {
			for range 20 {
				w.Step("researcher-1", loomtest.Step{})
			}
		}, "SC821"},
	} {
		t.Run(name, func(t *testing.T) {
			w := loomtest.Research(t.TempDir())
			tc.write(w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			wantIsolated(t, w.Folder, tc.want)
		})
	}
}

func TestSpawnsInLoomWorkspaces(t *testing.T) {
	for name, tc := range map[string]struct {
		write func(*loomtest.Workspace) // besides a workspace without a fault
		want  string
	}{
		"a child with its first step": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Spawn("main", "editor", "Shorten it")
			w.Step("editor", loomtest.Step{})
		}, ""},
		"a child that goes on with another one's steps": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Spawn("main", "editor", "Shorten it")
			w.Step("editor", loomtest.Step{ID: "step_004"})
		}, "SC803"},
		"a child with a step of its parent's name and tool": {func(w *loomtest.Workspace) {
			w.Agent("editor")
			w.Spawn("main", "editor", "Shorten it")
			w.Step("editor", loomtest.Step{Args: map[string]any{"query": "trends"}, Observation: "Found 10 results"})
		}, ""},
		"a child that its own step started":   {func(w *loomtest.Workspace) { w.Spawn("main", "main", "self") }, "SC706"},
		"a child that started its parent":     {func(w *loomtest.Workspace) { w.Spawn("researcher-1", "main", "cycle") }, "SC706"},
		"a child that was started twice":      {func(w *loomtest.Workspace) { w.Spawn("main", "researcher-1", "again") }, "SC707"},
		"a child of two parents":              {func(w *loomtest.Workspace) { w.Spawn("researcher-2", "researcher-1", "mine too") }, "SC707"},
		"a child of an agent that nobody has": {func(w *loomtest.Workspace) { w.Agent("lead"); w.Spawn("lead", "researcher-1", "mine too") }, "SC727"},
	} {
		t.Run(name, func(t *testing.T) {
			w := loomtest.Research(t.TempDir())
			tc.write(w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			rules := append([]string{"SC706", "SC707", "SC719", "SC727"}, spawning...)
			if got := strings.Join(isolated(t, w.Folder, rules...), ", "); got != tc.want {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}
