package repair_test

import (
	"bufio"
	"database/sql"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// idler is a process that opens a file for writing when it is told to, and takes no lock.
func idler(t *testing.T, path string) (openIt, stop func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `read go && exec 3<>"$0" && echo ready && read end`, path)
	stdin, err := cmd.StdinPipe()
	stdout, err1 := cmd.StdoutPipe()
	if err := errors.Join(err, err1, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	return func() {
		_, err := io.WriteString(stdin, "go\n")
		if line, err1 := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
			t.Errorf("the other process says %q (%v, %v)", line, err, err1)
		}
	}, stop
}

// withoutLog is a store with several broken sessions, whose writers hold no lock between
// their transactions.
func withoutLog(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	mode := ""
	err = db.QueryRow("pragma journal_mode=delete").Scan(&mode)
	if err = errors.Join(err, db.Close()); err != nil || mode != "delete" {
		t.Fatalf("mode %q, %v", mode, err)
	}
	return path
}

// A writer that is idle, and may have run since before the plan, is seen when it opens the
// store between the plan and any batch: that batch is not made.
func TestAnIdleWriterBeforeABatch(t *testing.T) {
	defer repair.SmallBatches()()
	for batch := range 4 { // 0 for before the store is locked
		path := withoutLog(t)
		before := agentDump(t, path)
		openIt, stop := idler(t, path)
		plan, kind, err := repairtest.Plan(path)
		if err != nil {
			t.Fatal(err)
		}
		if batch == 0 {
			openIt()
		}
		ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
		if batch == 0 {
			if problem.ClassOf(err) != problem.Busy {
				t.Fatalf("the store is opened for writing: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		atSteps(t, "lock", batch, openIt)
		receipt, err := repair.Apply{Receipt: path + ".receipt.json", Prologue: kind.Prologue}.Run(t.Context(), ed, plan)
		made := 0
		if receipt != nil {
			made = len(receipt.Batches)
		}
		if problem.ClassOf(err) != problem.Busy || made != batch-1 {
			t.Fatalf("opened before batch %d: %d batches were made, %v", batch, made, err)
		}
		repair.AtStep(func(string) {})
		if made > 0 {
			if _, err := repairtest.Undo(path, receipt.Path()); problem.ClassOf(err) != problem.Busy {
				t.Errorf("undo while it is open: %v", err)
			}
			stop()
			if _, err := repairtest.Undo(path, receipt.Path()); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
			t.Errorf("opened before batch %d, before (-), now (+):\n%s", batch, diff)
		}
	}
}

// The same before the transaction of an undo.
func TestAnIdleWriterBeforeAnUndo(t *testing.T) {
	path := withoutLog(t)
	openIt, stop := idler(t, path)
	_, receipt, err := repairtest.RepairInUse(path)
	if err != nil {
		t.Fatal(err)
	}
	repaired := agentDump(t, path)
	atSteps(t, "lock", 1, openIt)
	if _, err := repairtest.Undo(path, receipt.Path()); problem.ClassOf(err) != problem.Busy {
		t.Errorf("the undo: %v", err)
	}
	stop()
	if diff := cmp.Diff(repaired, agentDump(t, path)); diff != "" {
		t.Errorf("repaired (-), now (+):\n%s", diff)
	}
	repair.AtStep(func(string) {})
	if n, err := repairtest.Undo(path, receipt.Path()); err != nil || n == 0 {
		t.Errorf("undo of %d sessions: %v", n, err)
	}
}
