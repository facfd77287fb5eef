package repair_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// A repair in several transactions has one receipt, and one undo takes all of it
// back.
func TestSeveralBatchesAreOneRepair(t *testing.T) {
	defer repair.SmallBatches()()
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	before := agentDump(t, path)
	plan, receipt, err := repairtest.Repair(path)
	if err != nil || len(plan.Trees) < 3 || len(receipt.Batches) < 2 {
		t.Fatalf("%d trees, receipt %v, %v", len(plan.Trees), receipt, err)
	}
	repeated(t, path)
	if n, err := repairtest.Undo(path, receipt.Path()); err != nil || n == 0 {
		t.Fatalf("undo of %d sessions: %v", n, err)
	}
	if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
		t.Errorf("after the undo, before (-), now (+):\n%s", diff)
	}
}

// What was committed before an interruption is in the receipt, and can be taken
// back or gone on with.
func TestAnInterruptionBetweenBatches(t *testing.T) {
	defer repair.SmallBatches()()
	ctx, cancel := context.WithCancel(t.Context())
	commits := 0
	repair.AtStep(func(step string) {
		if strings.HasPrefix(step, "commit") {
			if commits++; commits == 3 {
				cancel()
			}
		}
	})
	defer repair.AtStep(func(string) {})
	path := filepath.Join(t.TempDir(), "session.db")
	leakyStore(t, path)
	before := agentDump(t, path)
	plan, kind, err := repairtest.Plan(path)
	if err != nil {
		t.Fatal(err)
	}
	ed, err := kind.Edit(ctx, registry.ToEdit(path))
	if err != nil {
		t.Fatal(err)
	}
	apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
	receipt, err := apply.Run(ctx, ed, plan)
	if !errors.Is(err, context.Canceled) || receipt == nil || len(receipt.Batches) == 0 {
		t.Fatalf("receipt %v, error %v", receipt, err)
	}
	if err := ed.Close(); err != nil {
		t.Fatal(err)
	}
	repair.AtStep(func(string) {})
	if diff := cmp.Diff(before, agentDump(t, path)); diff == "" {
		t.Fatal("nothing was committed")
	}
	if n, err := repairtest.Undo(path, receipt.Path()); err != nil || n == 0 {
		t.Fatalf("undo of %d sessions: %v", n, err)
	}
	if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
		t.Errorf("after the undo, before (-), now (+):\n%s", diff)
	}
}

// What somebody writes between the planning of a batch and its lock is seen: nothing of it
// is lost, and a session that is not what it was is left as it is.
func TestAWriterBetweenPlanningAndLock(t *testing.T) {
	defer repair.SmallBatches()()
	defer repair.AtStep(func(string) {})
	for name, tt := range map[string]struct {
		statement string
		class     problem.Class // of the error of the repair
	}{
		"another session": {`insert into sessions (id, created_at) values ('other', '2026-02-03T09:56:40Z')`, 0},
		"the session":     {`update sessions set title = title || ' and on'`, problem.Busy},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.db")
			leakyStore(t, path)
			plan, kind, err := repairtest.Plan(path)
			if err != nil {
				t.Fatal(err)
			}
			ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
			if err != nil {
				t.Fatal(err)
			}
			locks, before := 0, ""
			repair.AtStep(func(step string) {
				if step != "lock" {
					return
				}
				if locks++; locks == 2 {
					db, err := sql.Open("sqlite", "file:"+path)
					if err != nil {
						t.Fatal(err)
					}
					_, err = db.Exec(tt.statement)
					if err = errors.Join(err, db.Close()); err != nil {
						t.Fatal(err)
					}
					before = agentDump(t, path)
				}
			})
			receipt, err := repair.Apply{Receipt: path + ".receipt.json", Prologue: kind.Prologue}.Run(t.Context(), ed, plan)
			if problem.ClassOf(err) != tt.class || len(receipt.Batches) < 2 == (err == nil) {
				t.Fatalf("%d batches, error %v", len(receipt.Batches), err)
			}
			repair.AtStep(func(string) {})
			if err != nil {
				if diff := cmp.Diff(before, agentDump(t, path)); diff != "" {
					t.Errorf("after the writer (-), now (+):\n%s", diff)
				}
				return
			}
			repeated(t, path)
			if !strings.Contains(agentDump(t, path), "other") {
				t.Error("the new session is gone")
			}
		})
	}
}
