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
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	program  = flag.String("sessctl", "", "the program to measure")
	before   = flag.String("before", "", "an older one, which runs in turn with it")
	database = flag.String("database", "", "the file that BenchmarkTables measures it on")
	rounds   = flag.Int("rounds", 7, "counted rounds")
	roots    = flag.Int("roots", published.Roots, "root sessions of the database when it is made: 2000, 4000, 8000, 16000 for 0.5 to 4 GB")
	only     = flag.String("tables", "", "print the tables with these words in their names only, a regular expression")
	threads  = flag.Int("processors", 0, "how many of them programs in Go use, 0 for all")
	scanned  = flag.String("scan", "", "only scan the lines of this file for valid JSON, which replay is measured against")
	alone    = flag.Bool("alone", false, "only run the program that the arguments name, and print what it took as JSON")
)

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	switch {
	case *alone:
		var s sample
		if s, err = runAlone(flag.Args()); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(s)
		}
	case *scanned != "":
		var f *os.File
		if f, err = os.Open(*scanned); err == nil {
			_, err = validate(f)
		}
	default:
		os.Exit(m.Run())
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
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return errors.New("the sqlite3 command line is the yardstick and is not installed")
	}
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "making %s (once)\n", database)
		big := published
		big.Roots = *roots
		if err := writeBig(database, big); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if !wanted.MatchString(t.name) {
			continue
		}
		if err := t.print(out, sessctl, database, rounds); err != nil {
			return err
		}
		rounds = min(rounds, 3)
	}
	return nil
}

// commandTable measures the commands on the large database.
func commandTable(out io.Writer, sessctl, database string, rounds int) error {
	id, err := rootAmid(database)
	if err != nil {
		return err
	}
	entries := []entry{
		{"sqlite3 sum(json_valid(message_json))", []string{"sqlite3", database, "select sum(json_valid(message_json)) from session_items"}},
		{"sqlite3 sum(length(message_json))", []string{"sqlite3", database, "select sum(length(message_json)) from session_items"}},
		{"sqlite3 quick_check", []string{"sqlite3", database, "pragma quick_check"}},
		{"sessctl check", []string{sessctl, "check", "--fail-on", "never", database}},
		{"sessctl check --format ndjson", []string{sessctl, "check", "--fail-on", "never", "--format", "ndjson", database}},
		{"sessctl check --deep", []string{sessctl, "check", "--fail-on", "never", "--deep", database}},
		{"sessctl ls", []string{sessctl, "ls", database}},
		{"sessctl view ID", []string{sessctl, "view", database, id}},
		{"sessctl why ID", []string{sessctl, "why", database, id}},
		{"sessctl why", []string{sessctl, "why", database}},
		{"sessctl check --session ID --by-index", []string{sessctl, "check", "--fail-on", "never", "--by-index", "--session", id, database}},
		{"sessctl export --session ID --by-index", []string{sessctl, "export", "--by-index", "--session", id, database}},
		{"sessctl export --session ID", []string{sessctl, "export", "--session", id, database}},
		{"sessctl ls --health", []string{sessctl, "ls", "--health", database}},
	}
	return compare(out, "", database, entries, rounds)
}

// tables are printed one after the other.
var tables = []struct {
	name  string
	print func(out io.Writer, sessctl, database string, rounds int) error
}{
	{"commands", commandTable},
	{"stores", storeTables},
	{"sizes", sizeTables},
	{"find", findTables},
	{"start", startTable},
	{"views", viewTables},
	{"replay", replayTable},
	{"repairs", repairTable},
}

// rootAmid is a root session with a sub-session, from the middle of the database.
func rootAmid(database string) (id string, err error) {
	db, err := sql.Open("sqlite", "file:"+database+"?mode=ro")
	if err != nil {
		return "", err
	}
	err = db.QueryRow("select parent_id from sessions where rowid > (select max(rowid) / 2 from sessions) and parent_id > '' order by rowid limit 1").Scan(&id)
	return id, errors.Join(err, db.Close())
}

// sample is one finished process.
type sample struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes, 0 when unknown
}

// compare runs all commands in turn, round by round, after one that warms the cache, and
// prints what they took. What the older program cannot do, it has no line for.
func compare(out io.Writer, heading, database string, entries []entry, rounds int) error {
	var all []entry
	for _, e := range entries {
		if all = append(all, e); *before != "" && e.args[0] == *program {
			all = append(all, entry{olderName, append([]string{*before}, e.args[1:]...)})
		}
	}
	samples := make([][]sample, len(all))
	for round := range rounds + 1 {
		for i, e := range all {
			s, err := measure(e.args)
			if err != nil && e.name == olderName {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
			if round > 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	return table(out, heading, database, all, samples)
}

const olderName = "  before"

// measure runs a program from another process than this one: the system counts the memory
// of whoever starts a program as the program's own.
func measure(args []string) (s sample, err error) {
	cmd := exec.Command(os.Args[0], append([]string{"-alone", "-processors", fmt.Sprint(*threads), "--"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return s, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return s, json.Unmarshal(out, &s)
}

func runAlone(args []string) (sample, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if *threads > 0 {
		cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", *threads))
	}
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, err
	}
	state := cmd.ProcessState
	return sample{Wall: time.Since(start), CPU: state.UserTime() + state.SystemTime(), Peak: peakMemory(state)}, nil
}

func table(out io.Writer, heading, database string, entries []entry, samples [][]sample) error {
	info, err := os.Stat(database)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d bytes, %d rounds, medians, the least in parentheses; ratio = wall time against the first row (below 1 is faster)\n\n",
		heading, info.Size(), len(samples[0]))
	fmt.Fprintf(&b, "%-40s %8s %16s %16s %9s\n", "command", "ratio", "wall s", "cpu s", "peak MB")
	base, _ := median(samples[0], func(s sample) float64 { return s.Wall.Seconds() })
	for i, e := range entries {
		if len(samples[i]) == 0 {
			continue
		}
		wall, leastWall := median(samples[i], func(s sample) float64 { return s.Wall.Seconds() })
		cpu, leastCPU := median(samples[i], func(s sample) float64 { return s.CPU.Seconds() })
		peak, _ := median(samples[i], func(s sample) float64 { return float64(s.Peak) / 1e6 })
		fmt.Fprintf(&b, "%-40s %8.2f %8.2f (%5.2f) %8.2f (%5.2f) %9.0f\n", e.name, wall/base, wall, leastWall, cpu, leastCPU, peak)
	}
	_, err = io.WriteString(out, b.String())
	return err
}

func median(samples []sample, of func(sample) float64) (middle, least float64) {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.SortFunc(values, cmp.Compare)
	return values[len(values)/2], values[0]
}
