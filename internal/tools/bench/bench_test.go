// Bench measures sessctl against the sqlite3 command line on one large database,
// views of long sessions against exports of them, and the replay of a long
// recording against a scan of it. It prints tables of ratios,
// each from one run: rounds of all commands in turn, after one warm-up round,
// medians of each. Machines are noisy, so only ratios inside one table mean
// anything.
//
// Usage: go test ./internal/tools/bench -run '^$' -bench Tables -sessctl PROGRAM -database FILE
// The database is made first when it does not exist (seeded: always the same).
package bench

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	program  = flag.String("sessctl", "", "the program to measure")
	database = flag.String("database", "", "the file that BenchmarkTables measures it on")
	rounds   = flag.Int("rounds", 7, "counted rounds")
	scanned  = flag.String("scan", "", "only scan the lines of this file for valid JSON, which replay is measured against")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *scanned == "" {
		os.Exit(m.Run())
	}
	f, err := os.Open(*scanned)
	if err == nil {
		_, err = validate(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// BenchmarkTables prints the tables.
func BenchmarkTables(b *testing.B) {
	if *program == "" || *database == "" {
		b.Skip("make bench names the program and the database")
	}
	if err := run(os.Stdout, *program, *database, *rounds); err != nil {
		b.Fatal(err)
	}
}

// entry is one command of the table; the first one is the base of all ratios.
type entry struct {
	name string
	args []string
}

func run(out io.Writer, sessctl, database string, rounds int) error {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return errors.New("the sqlite3 command line is the yardstick and is not installed")
	}
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "making %s (about 1 GB; once)\n", database)
		if err := writeBig(database, published); err != nil {
			return err
		}
	}
	entries := []entry{
		{"sqlite3 sum(json_valid(message_json))", []string{"sqlite3", database, "select sum(json_valid(message_json)) from session_items"}},
		{"sqlite3 sum(length(message_json))", []string{"sqlite3", database, "select sum(length(message_json)) from session_items"}},
		{"sqlite3 quick_check", []string{"sqlite3", database, "pragma quick_check"}},
		{"sessctl check", []string{sessctl, "check", "--fail-on", "never", database}},
		{"sessctl check --format ndjson", []string{sessctl, "check", "--fail-on", "never", "--format", "ndjson", database}},
		{"sessctl check --deep", []string{sessctl, "check", "--fail-on", "never", "--deep", database}},
		{"sessctl ls", []string{sessctl, "ls", database}},
	}
	samples, err := measureAll(entries, rounds)
	if err != nil {
		return err
	}
	if err := table(out, database, entries, samples); err != nil {
		return err
	}
	if err := viewTables(out, sessctl, filepath.Dir(database), 3); err != nil {
		return err
	}
	if err := replayTable(out, sessctl, filepath.Dir(database), 3); err != nil {
		return err
	}
	return repairTable(out, database, 3)
}

// sample is one finished process.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // bytes, 0 when unknown
}

// measureAll runs all commands in turn, round by round, after one that warms the
// cache.
func measureAll(entries []entry, rounds int) ([][]sample, error) {
	samples := make([][]sample, len(entries))
	for round := range rounds + 1 {
		for i, e := range entries {
			s, err := measure(e.args)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			if round > 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	return samples, nil
}

func measure(args []string) (sample, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	state := cmd.ProcessState
	return sample{wall: time.Since(start), cpu: state.UserTime() + state.SystemTime(), peak: peakMemory(state)}, nil
}

func table(out io.Writer, database string, entries []entry, samples [][]sample) error {
	info, err := os.Stat(database)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d bytes, %d rounds, medians; ratio = wall time against the first row (below 1 is faster)\n\n",
		info.Size(), len(samples[0]))
	fmt.Fprintf(&b, "%-40s %8s %8s %8s %9s\n", "command", "ratio", "wall s", "cpu s", "peak MB")
	base := median(samples[0], func(s sample) float64 { return s.wall.Seconds() })
	for i, e := range entries {
		wall := median(samples[i], func(s sample) float64 { return s.wall.Seconds() })
		cpu := median(samples[i], func(s sample) float64 { return s.cpu.Seconds() })
		peak := median(samples[i], func(s sample) float64 { return float64(s.peak) / 1e6 })
		fmt.Fprintf(&b, "%-40s %8.2f %8.2f %8.2f %9.0f\n", e.name, wall/base, wall, cpu, peak)
	}
	_, err = io.WriteString(out, b.String())
	return err
}

func median(samples []sample, of func(sample) float64) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.SortFunc(values, cmp.Compare)
	return values[len(values)/2]
}
