package loom_test

import (
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/store/loom"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	sample := func(name string, write func(w *loomtest.Workspace)) storetest.Sample {
		return storetest.Sample{Name: name, Make: func(t *testing.T, folder string) string {
			w := loomtest.Research(filepath.Join(folder, "workspace"))
			write(w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return w.Folder
		}}
	}
	storetest.Run(t, loom.Kind,
		sample("research", func(*loomtest.Workspace) {}),
		sample("spawns without steps, results without spawns", func(w *loomtest.Workspace) {
			w.Asked("main", "researcher-3", "go on", nil)
			w.Asked("nobody", "researcher-1", "go on", nil)
			w.Returned("researcher-2", "main", "unasked", nil)
			w.Spawn("researcher-1", "main", "in a loop")
			w.Spawn("researcher-1", "researcher-1", "of itself")
		}),
		sample("damage", func(w *loomtest.Workspace) {
			w.File("main/history/step_007.json", `{"id":"step_007","tool_name":`)
			w.File("main/history/step_0001.json", `{"id":"step_001","tool_name":"fs:read_file","observation":"one more"}`)
			w.File("main/history/step_009.json", "{\"id\":\"step_009\",\"tool_name\":\"a\",\"observation\":\"\xff\",\"timestamp_ms\":\"soon\"}")
			w.File("researcher-1/events.jsonl", "{\n"+`{"type":"spawn_request","child_id":"researcher-1","goal":""}`+"\n"+`{"type":"spawn_result","result":" "}`)
			w.Link("step_001.json", "main/history/step_010.json")
			w.Link("../../outside", "main/history/step_011.json")
			w.Link("main", "mirror")
		}),
		storetest.Sample{Name: "names that are no text", Make: func(t *testing.T, folder string) string {
			w := loomtest.Create(folder)
			w.Agent("a\xffb")
			w.Step("a\xffb", loomtest.Step{Observation: "done"})
			w.File("capt\xffured.jsonl", `{"type":"spawn_request","child_id":"c","parent_id":"\"a\\xffb\"","goal":"g"}`)
			if err := w.Close(); err != nil {
				t.Skipf("this file system has no such names: %v", err)
			}
			return folder
		}},
	)
}
