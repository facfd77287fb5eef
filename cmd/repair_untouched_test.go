//go:build unix

package cmd_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/store/dockeragent/agenttest"
	"github.com/sessctl/sessctl/internal/store/storetest"
)

// A repair that has nothing to do, or only shows its plan, leaves no trace,
// whatever state the store is in.
func TestARepairOfNothingChangesNothing(t *testing.T) {
	campaign.ShowsNoRace(t)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			home, temp := t.TempDir(), t.TempDir()
			path := filepath.Join(home, "session.db")
			buildState(t, path, state.rollback)
			state.make(t, path)
			before := storetest.Snapshot(t, home)
			var running sync.WaitGroup
			for _, args := range [][]string{{"repair", path, "--dry-run"}, {"repair", path, "--yes"}, {"repair", path, "--format", "json"}} {
				running.Go(func() { execute(t, "sessctl", home, temp, nil, state.code, args) })
			}
			running.Wait()
			if diff := cmp.Diff(before, storetest.Snapshot(t, home)); diff != "" {
				t.Errorf("the folder changed (-before +after):\n%s", diff)
			}
			empty(t, temp)
		})
	}
}

// A signal while a store is repaired leaves the old state, or the new one with
// a receipt that takes it back. The signal comes as soon as anything new is in
// the folder, wherever the repair is then.
func TestAnInterruptedRepairLeavesTheOldStateOrTheNewOne(t *testing.T) {
	campaign.ShowsNoRace(t)
	home := t.TempDir()
	path := filepath.Join(home, "session.db")
	buildDB(t, path, func(db *agenttest.DB) error {
		for range 300 {
			if _, err := agenttest.WriteLeaky(db, delegation(strings.Repeat("a title ", 100))); err != nil {
				return err
			}
		}
		return nil
	})
	before := export(t, home, path)
	c := exec.Command("sessctl", "repair", path, "--yes")
	var stderr bytes.Buffer
	c.Dir, c.Env, c.Stderr = home, []string{"HOME=" + home, "COLUMNS=80"}, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // the exit code tells
		close(ended)
	}()
	signalled, running := false, true
	for running {
		entries, err := os.ReadDir(home)
		if err != nil {
			t.Fatal(err)
		}
		if !signalled && len(entries) > 1 {
			signalled = true
			if err := c.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
		}
		select {
		case <-ended:
			running = false
		default:
		}
	}
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	receipts, err := filepath.Glob(path + ".sessctl-*.receipt.json")
	if err != nil || !ok {
		t.Fatal(err)
	}
	t.Logf("exit code %d: %s", status.ExitStatus(), stderr.String())
	switch after := export(t, home, path); {
	case len(receipts) == 0:
		if status.ExitStatus() != 130 || after != before || !strings.Contains(stderr.String(), "nothing was changed") {
			t.Errorf("code %d without a receipt, changed: %v\n%s", status.ExitStatus(), after != before, stderr.String())
		}
		if files, _ := filepath.Glob(path + "?*"); len(files) > 0 {
			t.Errorf("left behind: %v", files)
		}
	default:
		execute(t, "sessctl", home, t.TempDir(), nil, 0, []string{"undo", receipts[0]})
		if export(t, home, path) != before {
			t.Error("the receipt does not take the repair back")
		}
	}
}

func export(t *testing.T, home, path string) string {
	t.Helper()
	text, _ := execute(t, "sessctl", home, t.TempDir(), nil, 0, []string{"export", path})
	return text
}
