package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// recorded is how many events the replayed recording has.
const recorded = 1_000_000

// replayTable measures what it costs to replay a long recording, against a scan
// of it for valid JSON, which this test program makes itself.
func replayTable(out io.Writer, sessctl, database string, rounds int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(database), "replay-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "events.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(writeLong(f, recorded), f.Close()); err != nil {
		return err
	}
	replay := []string{sessctl, "replay", "--fail-on", "never", path}
	entries := []entry{
		{"scan for valid JSON", []string{self, "-scan", path}},
		{"sessctl replay", replay},
		{"sessctl replay --format ndjson", append(replay[:len(replay):len(replay)], "--format", "ndjson")},
		{"sessctl replay --all", append(replay[:len(replay):len(replay)], "--all")},
	}
	heading := fmt.Sprintf("\na recording of %d events: ", recorded)
	return compare(out, heading, path, entries, rounds)
}
