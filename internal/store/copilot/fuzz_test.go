package copilot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// FuzzLines: whatever stands in a file, it is read, and a repair leaves what a second one has nothing to do with.
func FuzzLines(f *testing.F) {
	for _, text := range []string{
		`{"type":"session.start","data":{"sessionId":"s","version":1,"producer":"copilot-agent","copilotVersion":"1","startTime":"t"},"id":"00000000-0000-4000-8000-000000000000","timestamp":"2026-11-26T10:00:00Z","parentId":null}`,
		`{"type":"assistant.message","data":{"messageId":"m","content":"","toolRequests":[{"toolCallId":"c","name":"task"}]},"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-26T10:00:00Z","parentId":null}` + "\n" +
			`{"type":"tool.execution_complete","data":{"toolCallId":"c","result":{"content":"x"}},"agentId":"a","id":"","timestamp":"","parentId":""}`,
		`{"type":"user.message","data":null}{"type":"user.message","data":{"content":7}}` + "\n\x00\n" + `{"type":7}`,
		// Found by it: a line that leaves, and the next one is given its id as a parent; a first line that nothing mends.
		`{"type":"user.message","data":null}{"type":"user.wessage","data":{"content":7}}` + "\n\x00\n" + `{"type":7}`,
		`{"type":"session.start","dta":{},"id":"00000000-0000-4000-8000-000000000000","timestamp":"s026","parentI` + "\v" + `d":null}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		home := filepath.Join(t.TempDir(), "home")
		file := filepath.Join(home, "session-state", "s", "events.jsonl")
		start := []byte(`{"type":"session.info","data":{"infoType":"x","message":"y"},"id":"00000000-0000-4000-8000-00000000000f","timestamp":"2026-11-26T10:00:00Z","parentId":null}` + "\n")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(start, text...), 0o600); err != nil {
			t.Fatal(err)
		}
		storetest.Opened(t, home)
		plan, _, err := repairtest.Repair(home, "guesses")
		if err != nil {
			t.Fatalf("%v%s", err, repairtest.Told(plan))
		}
		repairtest.Idle(t, home, repairtest.Told(plan), "guesses")
	})
}
