package check_test

import (
	"testing"

	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

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
