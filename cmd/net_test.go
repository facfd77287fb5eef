package cmd_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/kagent/kagenttest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// netFile has a line for each store: its own digest, and the digests of what netOf gives.
// go test ./cmd -run TestNet -update writes it anew; the commit says why.
const netFile = "../testdata/net.txt"

// netOutputs are what is held of a store.
var netOutputs = []string{"check", "export", "plan", "repaired", "undone"}

// TestNet holds what is said of stores, and what becomes of them, against what it was: for
// changes that are to change nothing of that. A fifth of the stores are looked at, and all in
// the long form and with -update. The program of the commit that wrote the digests says what
// differs.
func TestNet(t *testing.T) {
	campaign.ShowsNoRace(t)
	recorded := map[string]string{} // by the digest of the store
	text, err := os.ReadFile(netFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		recorded[id] = rest
	}
	netBefore = t.TempDir()
	every := campaign.Stride(1, 1)
	if *update {
		every = 1
	}
	var lines []string
	fresh := 0
	for n, s := range netStores(t) {
		if n%every != 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			id, outputs := netOf(t, s, nil)
			var digests []string
			for _, name := range netOutputs {
				digests = append(digests, netDigest(outputs[name]))
			}
			line := strings.Join(digests, " ")
			switch was, known := recorded[id]; {
			case *update:
				lines = append(lines, id+" "+line+"\n")
			case !known:
				fresh++
				t.Logf("%s is new: -update takes it in", s.name)
			case was != line:
				t.Error(netDifference(t, s, strings.Fields(was), outputs))
			}
		})
	}
	t.Logf("%d stores are not in %s", fresh, netFile)
	if *update {
		slices.Sort(lines)
		if err := os.WriteFile(netFile, []byte(strings.Join(slices.Compact(lines), "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// netStore is a store by its name; copy writes it as this file.
type netStore struct {
	name, file string
	copy       func(path string) error
}

func netStores(t *testing.T) (list []netStore) {
	t.Helper()
	for kind, build := range verdictStores {
		list = append(list, netStore{"built/" + strings.ReplaceAll(kind, " ", "-"), "store.db", func(path string) error { return build(path, 4) }})
	}
	for seed := range uint64(4) {
		writes := player.Play(player.RandomProgram(seed, 3), seed)
		for kind, build := range map[string]func(path string, writes []player.Write) error{
			"crush":    func(path string, writes []player.Write) error { return crushtest.Build(path, crushtest.Newest, writes) },
			"goose":    func(path string, writes []player.Write) error { return goosetest.Build(path, goosetest.Newest, writes) },
			"opencode": func(path string, writes []player.Write) error { return opencodetest.Build(path, writes) },
		} {
			list = append(list, netStore{fmt.Sprint("built/", kind, "-", seed), "store.db", func(path string) error { return build(path, writes[:len(writes)-int(seed)]) }})
		}
	}
	for _, p := range kagenttest.Scripts() {
		list = append(list, netStore{"built/kagent-" + p.Name, "store.db", func(path string) error {
			_, err := p.Build(path, kagenttest.Forms["python"])
			return err
		}})
	}
	shared, err := filepath.Abs(filepath.Join("..", "..", "shared"))
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"corpus", "cases"} {
		err := filepath.WalkDir(filepath.Join(shared, root), func(path string, entry fs.DirEntry, err error) error {
			file := "store" + filepath.Ext(path)
			if strings.HasSuffix(path, ".sqlite.sql") {
				file = "store.db"
			}
			if err == nil && !entry.IsDir() && slices.Contains([]string{"store.db", "store.sqlite", "store.jsonl", "store.ndjson"}, file) {
				list = append(list, netStore{strings.TrimPrefix(path, shared+"/"), file, func(to string) error { return copyRecorded(path, to) }})
			}
			return err
		})
		if errors.Is(err, fs.ErrNotExist) {
			t.Logf("%s is absent: its stores are not looked at", root)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(list, func(a, b netStore) int { return cmp.Compare(a.name, b.name) })
	return list
}

// copyRecorded copies a store with what belongs to it, or builds it of its dump.
func copyRecorded(path, to string) error {
	if strings.HasSuffix(path, ".sqlite.sql") {
		statements, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		db, err := sql.Open("sqlite", "file:"+to)
		if err == nil {
			_, err = db.Exec(string(statements))
			err = errors.Join(err, db.Close())
		}
		return err
	}
	for _, ending := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + ending)
		if ending != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, os.WriteFile(to+ending, data, 0o600)); err != nil {
			return err
		}
	}
	beside := strings.TrimSuffix(path, ".jsonl") // the transcripts of sub-agents
	if info, err := os.Stat(beside); beside != path && err == nil && info.IsDir() {
		return os.CopyFS(strings.TrimSuffix(to, ".jsonl"), os.DirFS(beside))
	}
	return nil
}

// netOf is the digest of a store, and what is said of it and becomes of it, without times and
// places. Where program is nil, it runs within the test.
func netOf(t *testing.T, s netStore, program func(folder string, args ...string) string) (id string, outputs map[string]string) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, s.file)
	if err := s.copy(path); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	original := sha256.New()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			content, failed := os.ReadFile(path)
			_, _ = fmt.Fprintf(original, "%q %q", strings.TrimPrefix(path, folder), content)
			err = failed
		}
		return errors.Join(err, os.Chtimes(path, long, long))
	})
	if err != nil {
		t.Fatal(err)
	}
	if program == nil {
		t.Chdir(folder)
		program = func(_ string, args ...string) string {
			code, out, stderr := run(t, args...)
			return fmt.Sprint(code, "\n", out, stderr)
		}
	}
	start := time.Now().Add(-time.Minute)
	fixed := func(text string) string { return withoutNow(strings.ReplaceAll(text, folder, "FOLDER"), start) }
	inOneLine := func(text string) string { return strings.Join(strings.Fields(fixed(text)), " ") } // its lines break by the folder's name
	outputs = map[string]string{}
	for name, args := range map[string][]string{
		"check": {"check", s.file, "--format", "json"}, "export": {"export", s.file}, "plan": {"repair", s.file, "--dry-run", "--format", "json"},
	} {
		outputs[name] = fixed(program(folder, args...))
	}
	how := []string{"--yes"}
	if s.file == "store.ndjson" {
		how = []string{"--output", "repaired.ndjson"}
	}
	outputs["repaired"] = inOneLine(program(folder, append([]string{"repair", s.file}, how...)...)) + fixed(netDump(t, folder))
	if receipts, _ := filepath.Glob(filepath.Join(folder, "*.receipt.json")); len(receipts) == 1 {
		outputs["undone"] = inOneLine(program(folder, "undo", filepath.Base(receipts[0]), "--yes")) + fixed(netDump(t, folder))
	}
	return fmt.Sprintf("%.6x", original.Sum(nil)), outputs
}

// netDump is what is stored in a folder, without backups and receipts.
func netDump(t *testing.T, folder string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch name, _ := filepath.Rel(folder, path); {
		case err != nil || entry.IsDir() && !strings.Contains(name, ".sessctl-"):
			return err
		case entry.IsDir():
			return fs.SkipDir
		case strings.Contains(name, ".sessctl-") || strings.HasSuffix(name, ".receipt.json") || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm"):
		case strings.HasSuffix(name, ".db") || strings.HasSuffix(name, ".sqlite"):
			copied := filepath.Join(t.TempDir(), "copy.db") // reading a database with a log changes it
			if err := copyRecorded(path, copied); err != nil {
				return err
			}
			content, err := os.ReadFile(copied)
			if rows, ok := netRows(copied); ok {
				all = append(all, rows...)
			} else {
				all = append(all, name, string(content))
			}
			return err
		default:
			content, err := os.ReadFile(path)
			all = append(all, name, string(content))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// netRows are all rows of a database that is whole.
func netRows(path string) (rows []string, ok bool) {
	defer func() { ok = recover() == nil }()
	return storetest.Dump(noDump{}, path), true
}

// noDump ends a dump that fails.
type noDump struct{}

func (noDump) Helper()                           {}
func (noDump) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func netDigest(text string) string {
	if text == "" {
		return "-"
	}
	return fmt.Sprintf("%.6x", sha256.Sum256([]byte(text)))
}

var (
	stamps  = regexp.MustCompile(`20\d\d-?\d\d-?\d\d[T ]\d\d:?\d\d:?\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`)
	seconds = regexp.MustCompile(`\b1[789]\d{8}(\d{3}(\d{3}(\d{3})?)?)?\b`)
)

// withoutNow takes out of a text what differs from run to run: how long it took, the version,
// and times since the start.
func withoutNow(text string, start time.Time) string {
	for _, u := range unsteady {
		text = u.pattern.ReplaceAllString(text, u.steady)
	}
	unless := func(at time.Time, stamp string) string {
		if at.After(start) && at.Before(time.Now().Add(time.Minute)) {
			return "NOW"
		}
		return stamp
	}
	text = stamps.ReplaceAllStringFunc(text, func(stamp string) string {
		digits := regexp.MustCompile(`\d`).FindAllString(stamp, 14)
		at, _ := time.Parse("20060102150405", strings.Join(digits, ""))
		return unless(at, stamp)
	})
	return seconds.ReplaceAllStringFunc(text, func(number string) string {
		n, _ := strconv.ParseInt(number[:10], 10, 64)
		return unless(time.Unix(n, 0), number)
	})
}

// netDifference says what differs, as the program of the commit that wrote the digests tells.
func netDifference(t *testing.T, s netStore, was []string, outputs map[string]string) string {
	t.Helper()
	var said []string
	before, err := netProgram(t)
	if err != nil {
		said = append(said, fmt.Sprintf("the program of the digests cannot be built to compare with: %v", err))
	}
	var old map[string]string
	if before != nil {
		_, old = netOf(t, s, before)
	}
	for n, name := range netOutputs {
		if netDigest(outputs[name]) != was[n] {
			said = append(said, name+": "+gocmp.Diff(strings.Split(old[name], "\n"), strings.Split(outputs[name], "\n")))
		}
	}
	return strings.Join(said, "\n")
}

// netProgram builds the program of the commit that wrote the digests, once.
func netProgram(t *testing.T) (func(folder string, args ...string) string, error) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(netBefore, "sessctl")); err != nil {
		build := exec.Command("sh", "-c", `git archive $(git log -1 --format=%H -- testdata/net.txt) . | tar -x -C "$0" && cd "$0" && go build -o sessctl .`, netBefore)
		build.Dir = netRoot
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	return func(folder string, args ...string) string {
		c := exec.Command(filepath.Join(netBefore, "sessctl"), args...)
		c.Dir, c.Env = folder, []string{"HOME=" + t.TempDir(), "COLUMNS=80", "TZ=UTC"}
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, _ := c.Output() // its exit code tells
		return fmt.Sprint(c.ProcessState.ExitCode(), "\n", string(out), stderr.String())
	}, nil
}

// netRoot is the project's folder, from wherever a test is.
var netRoot, _ = filepath.Abs("..")

var netBefore string // the folder with the program of the commit that wrote the digests
