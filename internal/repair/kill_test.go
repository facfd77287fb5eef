//go:build unix

package repair_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/claudecode/claudetest"
	"github.com/sessctl/sessctl/internal/store/crush/crushtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/filelog"
	"github.com/sessctl/sessctl/internal/store/goose/goosetest"
	"github.com/sessctl/sessctl/internal/store/opencode/opencodetest"
	"github.com/sessctl/sessctl/internal/store/player"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// The variables that make this test binary a process to be killed.
const (
	doVariable   = "SESSCTL_TEST_DO"      // repair or undo
	killVariable = "SESSCTL_TEST_KILL_AT" // the number of the step at which it kills itself, 0 for never
	waitVariable = "SESSCTL_TEST_WAIT"    // set: each step waits for a byte on standard input
)

func TestMain(m *testing.M) {
	if do := os.Getenv(doVariable); do != "" {
		os.Exit(act(do, os.Args[1]))
	}
	os.Exit(m.Run())
}

// act repairs a store or takes that back, and prints the steps on its way. It keeps to one
// thread, for which the system's calls can be counted.
func act(do, path string) int {
	runtime.LockOSThread()
	at, _ := strconv.Atoi(os.Getenv(killVariable))
	n := 0
	atStep := func(step string) {
		fmt.Println(step)
		if os.Getenv(waitVariable) != "" {
			_, _ = os.Stdin.Read(make([]byte, 1))
		}
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	repair.AtStep(atStep)
	filelog.AtStep = atStep
	var err error
	if do == "undo" {
		_, err = repairtest.Undo(path, path+".receipt.json")
	} else {
		_, _, err = repairtest.Repair(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err, next(err))
		return 1
	}
	return 0
}

// next is what an error says to do.
func next(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok {
		return p.Next
	}
	return ""
}

// process is this test binary, which does something to a store. It returns the
// steps that it reported.
func process(t *testing.T, do, path string, killAt int) (steps []string, killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), doVariable+"="+do, killVariable+"="+strconv.Itoa(killAt))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		status, ok := err.(*exec.ExitError)
		killed = ok && status.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL
		if !killed {
			t.Fatalf("%s: %v: %s", do, err, stderr.String())
		}
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), killed
}

// killable is a store that a repair can be killed at.
type killable struct {
	make func(t *testing.T, path string)
	dump func(t tester, path string) string
	// files: it is a folder, of which one file is replaced after another.
	files bool
}

// claudeStore has two sessions that were killed themselves, with their sub-agents.
func claudeStore(t *testing.T, path string) {
	t.Helper()
	claudeSessions(t, path, map[uint64]int{2: 3, 3: 2})
}

// claudeSessions writes sessions by the seeds of their programs, each of which lost one of its
// last lines.
func claudeSessions(t *testing.T, path string, seeds map[uint64]int) {
	t.Helper()
	for seed, kept := range seeds {
		writes := player.Play(player.Random(seed, 2), seed)
		paths, err := claudetest.Build(path, "2.1.330", seed, writes[:len(writes)-4])
		if err != nil {
			t.Fatal(err)
		}
		agents, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(paths[0], ".jsonl"), "subagents", "*.jsonl"))
		for _, name := range append(paths[:1:1], agents...) { // nobody named the parent of a line
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(text), "\n")
			if n := len(lines) - kept; n > 2 {
				lines = slices.Delete(lines, n/2, n/2+1)
			}
			if err := os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// claudeDump are the files of the folder.
func claudeDump(t tester, path string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".sessctl-tmp-") {
			return err
		}
		text, err := os.ReadFile(name)
		all = append(all, strings.TrimPrefix(name, path)+"\n"+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// streamStore is a stream of a store with leaks.
func streamStore(t *testing.T, path string) {
	t.Helper()
	database := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, database)
	opened, err := registry.Open(t.Context(), database, "", nil, store.Options{})
	must(t, err)
	defer func() { must(t, opened.Close()) }()
	must(t, os.WriteFile(path, []byte(exportStream(t, opened.Store)), 0o600))
}

func streamDump(t tester, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// crushStore has two sessions that were killed themselves.
func crushStore(t *testing.T, path string) {
	t.Helper()
	a, b := player.Play(player.Random(2, 2), 2), player.Play(player.Random(3, 2), 3)
	if err := crushtest.Build(path, crushtest.Newest, a[:len(a)-4], b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
}

// gooseStore has two sessions that lost results: one in the middle of a second, of which
// the rows behind are stored anew.
func gooseStore(t *testing.T, path string) {
	t.Helper()
	if err := goosetest.Build(path, goosetest.Newest, player.Play(player.Random(2, 2), 2), player.Play(player.Random(3, 2), 3)); err != nil {
		t.Fatal(err)
	}
	storetest.Change(t, path, `delete from messages where id in (select min(id) from messages where content_json like '%"toolResponse"%' group by session_id)`)
}

func gooseDump(t tester, path string) string { return strings.Join(storetest.Dump(t, path), "\n") }

// crushDump leaves out the times that triggers set by the clock.
func crushDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	return fmt.Sprintf("%q %q",
		rowsOf(t, db, "select rowid, id, parent_session_id, title, message_count, summary_message_id, created_at from sessions order by rowid"),
		rowsOf(t, db, "select rowid, id, session_id, role, parts, model, created_at, finished_at from messages order by rowid"))
}

// opencodeStore has two sessions that were killed themselves.
func opencodeStore(t *testing.T, path string) {
	t.Helper()
	a, b := player.Play(player.Random(2, 2), 2), player.Play(player.Random(3, 2), 3)
	if err := opencodetest.Build(path, a[:len(a)-4], b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
}

func opencodeDump(t tester, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	return fmt.Sprintf("%q %q %q", rowsOf(t, db, "select rowid, * from session order by rowid"),
		rowsOf(t, db, "select rowid, * from message order by rowid"), rowsOf(t, db, "select rowid, * from part order by rowid"))
}

// killables are stores of the kinds that are changed in different ways.
func killables() map[string]killable {
	leaky := func(options ...agenttest.Option) func(*testing.T, string) {
		return func(t *testing.T, path string) { t.Helper(); leakyStore(t, path, options...) }
	}
	return map[string]killable{
		"wal": {make: leaky(), dump: agentDump}, "rollback journal": {make: leaky(agenttest.RollbackJournal()), dump: agentDump},
		"crush": {make: crushStore, dump: crushDump}, "goose": {make: gooseStore, dump: gooseDump}, "opencode": {make: opencodeStore, dump: opencodeDump},
		"stream":      {make: streamStore, dump: streamDump},
		"claude code": {make: claudeStore, dump: claudeDump, files: true},
	}
}

// images does something to a store in a process, and keeps what is in the folder of the
// store before each step: what a process leaves that is killed there.
func images(t *testing.T, do, path string) (steps, folders []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path)
	cmd.Env = append(os.Environ(), doVariable+"="+do, waitVariable+"=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		folder := filepath.Join(t.TempDir(), "image")
		if err := os.CopyFS(folder, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		steps, folders = append(steps, lines.Text()), append(folders, folder)
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s: %v: %s", do, err, stderr.String())
	}
	return steps, folders
}

// TestKilledAtEveryStep takes what a repair, and then an undo, leaves on the disk when it is
// killed before each of their steps: the store is the old or the new one, and can be brought
// back. Some of the steps are killed indeed, in the long form all.
func TestKilledAtEveryStep(t *testing.T) {
	for name, s := range killables() {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store", "session.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			s.make(t, path)
			before := s.dump(t, path)
			steps, repairing := images(t, "repair", path)
			after := s.dump(t, path)
			if len(steps) < 8 || before == after {
				t.Fatalf("the steps are %q", steps)
			}
			undo, undoing := images(t, "undo", path)
			if d := cmp.Diff(before, s.dump(t, path)); d != "" {
				t.Fatalf("after the undo, want (-), got (+):\n%s", d)
			}
			put := func(folder string) {
				if err := errors.Join(os.RemoveAll(filepath.Dir(path)), os.Rename(folder, filepath.Dir(path))); err != nil {
					t.Fatal(err)
				}
			}
			for n, step := range steps {
				put(repairing[n])
				s.cleanAfterKill(t, path, "repair, "+step, before, after)
			}
			for n, step := range undo {
				put(undoing[n])
				notesTheUndo(t, path, step)
				s.cleanAfterKill(t, path, "undo, "+step, before, after)
			}
			every := campaign.Stride(3, 1)
			for n := every / 2; n < len(steps); n += every {
				path := filepath.Join(t.TempDir(), "session.db")
				s.make(t, path)
				if _, killed := process(t, "repair", path, n+1); !killed {
					t.Fatalf("not killed at %s", steps[n])
				}
				s.cleanAfterKill(t, path, "repair, "+steps[n], before, after)
			}
			for n := every / 2; n < len(undo); n += every {
				path := filepath.Join(t.TempDir(), "session.db")
				s.make(t, path)
				process(t, "repair", path, 0)
				if _, killed := process(t, "undo", path, n+1); !killed {
					t.Fatalf("not killed at %s of the undo", undo[n])
				}
				notesTheUndo(t, path, undo[n])
				s.cleanAfterKill(t, path, "undo, "+undo[n], before, after)
			}
		})
	}
}

// notesTheUndo makes sure that the receipt says what became of an undo that was
// killed: that it may be done from its commit on, and that it is at the next use.
func notesTheUndo(t *testing.T, path, step string) {
	t.Helper()
	state := func() string {
		r, err := repair.ReadReceipt(path + ".receipt.json")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return r.State
	}
	want := repair.Done
	if strings.HasPrefix(step, "commit") || step == "close" {
		want = repair.Undoing
	}
	if got := state(); got != want {
		t.Errorf("killed at %s of the undo, the receipt is %s, want %s", step, got, want)
	}
	if step != "committed" && step != "close" {
		return
	}
	if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n != 0 || state() != repair.Undone {
		t.Errorf("killed at %s of the undo, the next one: %d sessions, %v, the receipt is %s", step, n, err, state())
	}
}

// TestKilledWhileTheReceiptIsWritten cuts the last record of a receipt off at every
// place: whether its batch was committed or not, an undo leads to the old state or
// is refused, and it is never refused where the batch was not committed.
func TestKilledWhileTheReceiptIsWritten(t *testing.T) {
	defer repair.SmallBatches()()
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	before := agentDump(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	var written []byte
	commits := 0
	repair.AtStep(func(step string) {
		if step == "commit" {
			if commits++; commits == 3 {
				written, _ = os.ReadFile(path + ".receipt.json")
				cancel()
			}
		}
	})
	defer repair.AtStep(func(string) {})
	plan, kind, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	ed, err := kind.Edit(ctx, registry.ToEdit(path))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := (repair.Apply{Receipt: path + ".receipt.json", Prologue: kind.Prologue}).Run(ctx, ed, plan); err == nil || len(r.Batches) != 2 {
		t.Fatalf("receipt %+v, error %v", r, err)
	}
	if err := ed.Close(); err != nil {
		t.Fatal(err)
	}
	repair.AtStep(func(string) {})
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	committed := written[:bytes.LastIndexByte(written[:len(written)-1], '\n')+1] // two batches
	undo := func(receipt []byte) (int, error) {
		for name, data := range map[string][]byte{path: stored, path + ".receipt.json": receipt} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return repairtest.Undo(path, path+".receipt.json")
	}
	step := max(1, (len(written)-len(committed))/campaign.Rounds(30, 300))
	for size := len(committed); size <= len(written); size += step {
		if n, err := undo(written[:size]); err != nil || n == 0 || agentDump(t, path) != before {
			t.Fatalf("cut off at %d of %d: undo of %d sessions: %v", size-len(committed), len(written)-len(committed), n, err)
		}
	}
	after := ""
	header := bytes.IndexByte(written, '\n') + 1
	for size := header; size < len(committed); size += step { // something else cut it off
		n, err := undo(written[:size])
		if after == "" {
			after = agentDump(t, path)
		}
		if problem.ClassOf(err) != problem.Busy || n != 0 || agentDump(t, path) != after || !strings.Contains(err.Error(), "its end is missing") {
			t.Fatalf("cut off at %d of %d: undo of %d sessions: %v", size, len(written), n, err)
		}
	}
}

// cleanAfterKill holds the store against both states, and takes a new one back.
func (s killable) cleanAfterKill(t *testing.T, path, when, before, after string) {
	t.Helper()
	now := s.dump(t, path)
	switch now {
	case before:
	case after:
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n == 0 {
			t.Fatalf("killed at %s: undo of %d sessions: %v", when, n, err)
		}
		if d := cmp.Diff(before, s.dump(t, path)); d != "" {
			t.Fatalf("killed at %s: after the undo, want (-), got (+):\n%s", when, d)
		}
		return
	default:
		if s.files { // each of them is the old or the new one
			if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n == 0 {
				t.Fatalf("killed at %s: undo of %d sessions: %v", when, n, err)
			}
			now = s.dump(t, path)
		}
		if now == before {
			break
		}
		t.Fatalf("killed at %s: the store is neither old nor new:\n%s", when, cmp.Diff(before, now))
	}
	if receipt, err := os.Stat(path + ".receipt.json"); err == nil && receipt.Size() == 0 { // it could not be removed
		if _, err := repairtest.Undo(path, path+".receipt.json"); err == nil || !strings.Contains(err.Error(), "before it changed anything") {
			t.Fatalf("killed at %s: undo of a receipt that was not written: %v", when, err)
		}
	} else if err == nil {
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n != 0 {
			t.Fatalf("killed at %s: undo of what was never committed: %d sessions, %v", when, n, err)
		}
	}
	removeLeftovers(path)
	if _, _, err := repairtest.Repair(path); err != nil {
		t.Fatalf("killed at %s: the next repair fails: %v", when, err)
	}
	if d := cmp.Diff(after, s.dump(t, path)); d != "" {
		t.Fatalf("killed at %s: after the next repair, want (-), got (+):\n%s", when, d)
	}
}

// removeLeftovers removes what a killed repair leaves beside the store.
func removeLeftovers(path string) {
	_ = os.RemoveAll(path + ".backup")
	_ = os.Remove(path + ".receipt.json")
}

// TestKilledAtAnyMoment kills repairs after random times.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds := campaign.Rounds(12, 400)
	model := filepath.Join(t.TempDir(), "model.db")
	leakyStore(t, model)
	before := agentDump(t, model)
	start := time.Now()
	process(t, "repair", model, 0)
	whole := time.Since(start)
	after := agentDump(t, model)
	for n := range rounds {
		path := filepath.Join(t.TempDir(), "session.db")
		leakyStore(t, path)
		cmd := exec.Command(os.Args[0], path)
		cmd.Env = append(os.Environ(), doVariable+"=repair")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait := whole * time.Duration(n+1) / time.Duration(rounds)
		time.Sleep(wait)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		killable{dump: agentDump}.cleanAfterKill(t, path, wait.String(), before, after)
	}
}
