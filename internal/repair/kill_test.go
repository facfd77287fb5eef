//go:build unix

package repair_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// The variables that make this test binary a process to be killed.
const (
	doVariable   = "SESSCTL_TEST_DO"      // repair or undo
	killVariable = "SESSCTL_TEST_KILL_AT" // the number of the step at which it kills itself, 0 for never
)

func TestMain(m *testing.M) {
	if do := os.Getenv(doVariable); do != "" {
		os.Exit(act(do, os.Args[1]))
	}
	os.Exit(m.Run())
}

// act repairs a store or takes that back, and prints the steps on its way.
func act(do, path string) int {
	at, _ := strconv.Atoi(os.Getenv(killVariable))
	n := 0
	repair.AtStep(func(step string) {
		fmt.Println(step)
		if n++; n == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	var err error
	if do == "undo" {
		_, err = repairtest.Undo(path, path+".receipt.json")
	} else {
		_, _, err = repairtest.Repair(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
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

// TestKilledAtEveryStep kills a repair, and then an undo, before each of their
// steps. The store is the old or the new one, and can be brought back.
func TestKilledAtEveryStep(t *testing.T) {
	for name, options := range map[string][]agenttest.Option{"wal": nil, "rollback journal": {agenttest.RollbackJournal()}} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), "model.db")
			leakyStore(t, model, options...)
			before := agentDump(t, model)
			steps, _ := process(t, "repair", model, 0)
			after := agentDump(t, model)
			if len(steps) < 8 || before == after {
				t.Fatalf("the steps are %q", steps)
			}
			undo, _ := process(t, "undo", model, 0)
			if d := cmp.Diff(before, agentDump(t, model)); d != "" {
				t.Fatalf("after the undo, want (-), got (+):\n%s", d)
			}
			for n, step := range steps {
				path := filepath.Join(t.TempDir(), "session.db")
				leakyStore(t, path, options...)
				if _, killed := process(t, "repair", path, n+1); !killed {
					t.Fatalf("not killed at %s", step)
				}
				cleanAfterKill(t, path, "repair, "+step, before, after)
			}
			for n, step := range undo {
				path := filepath.Join(t.TempDir(), "session.db")
				leakyStore(t, path, options...)
				process(t, "repair", path, 0)
				if _, killed := process(t, "undo", path, n+1); !killed {
					t.Fatalf("not killed at %s of the undo", step)
				}
				notesTheUndo(t, path, step)
				cleanAfterKill(t, path, "undo, "+step, before, after)
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
	if step == "commit" || step == "committed" || step == "close" {
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
	store, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	committed := written[:bytes.LastIndexByte(written[:len(written)-1], '\n')+1] // two batches
	undo := func(receipt []byte) (int, error) {
		for name, data := range map[string][]byte{path: store, path + ".receipt.json": receipt} {
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
func cleanAfterKill(t *testing.T, path, when, before, after string) {
	t.Helper()
	now := agentDump(t, path)
	switch now {
	case before:
	case after:
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n == 0 {
			t.Fatalf("killed at %s: undo of %d sessions: %v", when, n, err)
		}
		if d := cmp.Diff(before, agentDump(t, path)); d != "" {
			t.Fatalf("killed at %s: after the undo, want (-), got (+):\n%s", when, d)
		}
		return
	default:
		t.Fatalf("killed at %s: the store is neither old nor new:\n%s", when, cmp.Diff(before, now))
	}
	if _, err := os.Stat(path + ".receipt.json"); err == nil {
		if n, err := repairtest.Undo(path, path+".receipt.json"); err != nil || n != 0 {
			t.Fatalf("killed at %s: undo of what was never committed: %d sessions, %v", when, n, err)
		}
	}
	removeLeftovers(path)
	if _, _, err := repairtest.Repair(path); err != nil {
		t.Fatalf("killed at %s: the next repair fails: %v", when, err)
	}
	if d := cmp.Diff(after, agentDump(t, path)); d != "" {
		t.Fatalf("killed at %s: after the next repair, want (-), got (+):\n%s", when, d)
	}
}

// removeLeftovers removes what a killed repair leaves beside the store.
func removeLeftovers(path string) {
	_ = os.Remove(path + ".backup")
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
		cleanAfterKill(t, path, wait.String(), before, after)
	}
}
