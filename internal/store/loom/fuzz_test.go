package loom_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/loom"
	"github.com/sessctl/sessctl/internal/store/loom/loomtest"
)

// Whatever a step and a capture hold, the workspace opens, and reading it twice gives
// the same outlines with bodies to each.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"id":"step_001","tool_name":"agent:spawn","minimal_args":{"child_id":"child"},"observation":"o","timestamp_ms":1.5,"outcome_ref":"../child/a"}`),
		[]byte(`{"type":"agent.spawn","payload":"eyJjaGlsZF9pZCI6ImNoaWxkIn0=","timestampMs":"12"}`+"\n"+`{"type":"spawn_result","result":[1],"error":"e"}`))
	f.Add([]byte(`{"id":"\ud83d","id":"x","tool_name":"fs:read_file","minimal_args":{"path":"../../..","url":"file:///x"}}`), []byte("\xff\n{\n"))
	f.Add([]byte(`{"id":"a","tool_name":"b","timestamp_ms":1e300,"success":false}`), []byte(`{"topic":"agent.result","metadata":{"correlation_id":7},"payload":null}`))
	f.Fuzz(func(t *testing.T, step, events []byte) {
		w := loomtest.Create(t.TempDir())
		w.Step("child", loomtest.Step{})
		w.File("main/history/step_001.json", string(step))
		w.File("events.jsonl", string(events))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(w.Folder)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		src := &store.Source{Path: filepath.Clean(w.Folder), Folder: root}
		if d := loom.Kind.Detect(t.Context(), src); d.Sure == store.No {
			t.Error("not detected")
		}
		st, err := loom.Kind.Open(t.Context(), src, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var first []session.Digest
		for round := range 2 {
			n := 0
			for tree, err := range st.Trees(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if err := st.Fill(t.Context(), tree); err != nil {
					t.Fatal(err)
				}
				for _, s := range tree.Sessions {
					for i := range s.Items {
						if s.Items[i].Body == nil {
							t.Errorf("%v has no body", s.ItemRef(i))
						}
						if round == 0 {
							first = append(first, s.Items[i].Meaning)
						} else if first[n] != s.Items[i].Meaning {
							t.Errorf("%v means something else", s.ItemRef(i))
						}
						n++
					}
				}
			}
			if n != len(first) {
				t.Errorf("%d items, then %d", len(first), n)
			}
		}
	})
}
