//go:build unix

package repair_test

import (
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
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
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
				cleanAfterKill(t, path, "undo, "+step, before, after)
			}
		})
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
