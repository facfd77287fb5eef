package repair_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/repair/repairtest"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// parted is a stream whose trees share no transaction.
type parted struct{ store.Editor }

// TestAStreamIsRepairedInPlace: a repair in place writes what a repair into a new file does,
// in one batch and in many, of which each gives the items of the next ones other places; and
// one undo takes all of it back.
func TestAStreamIsRepairedInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	streamStore(t, path)
	before := streamDump(t, path)
	r, err := tryStreamWith(before, repair.Options{})
	must(t, err)
	for _, name := range []string{"one batch", "many batches"} {
		t.Run(name, func(t *testing.T) {
			defer repair.SmallBatches()()
			path := filepath.Join(t.TempDir(), "s.ndjson")
			must(t, os.WriteFile(path, []byte(before), 0o640))
			plan, kind, err := repairtest.Plan(path)
			must(t, err)
			ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
			must(t, err)
			if name == "many batches" {
				ed = parted{ed}
			}
			receipt, err := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}.Run(t.Context(), ed, plan)
			must(t, err)
			if many := len(receipt.Batches) > 1; many != (name == "many batches") {
				t.Errorf("%d batches", len(receipt.Batches))
			}
			if diff := cmp.Diff(r.out, streamDump(t, path)); diff != "" {
				t.Errorf("in a new file (-), in place (+):\n%s", diff)
			}
			if receipt.Ledger != r.receipt.Ledger {
				t.Errorf("ledger %+v, and %+v in a new file", receipt.Ledger, r.receipt.Ledger)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if n, err := repairtest.Undo(path, receipt.Path()); err != nil || n == 0 {
				t.Errorf("undo of %d sessions: %v", n, err)
			}
			if diff := cmp.Diff(before, streamDump(t, path)); diff != "" {
				t.Errorf("after the undo:\n%s", diff)
			}
		})
	}
}

// A tree that fails is left out, and those that come after it are repaired by the places that
// the plan names.
func TestATreeOfAStreamThatFailsIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	streamStore(t, path)
	plan, kind, err := repairtest.Plan(path)
	must(t, err)
	ed, err := kind.Edit(t.Context(), registry.ToEdit(path))
	must(t, err)
	bad := &saboteur{Editor: ed, roots: []string{plan.Trees[1].Root}, spoil: func(tree *session.Tree) {
		s := tree.Sessions[len(tree.Sessions)-1]
		s.Items = s.Items[:len(s.Items)-1]
	}}
	receipt, err := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}.Run(t.Context(), bad, plan)
	must(t, err)
	if len(receipt.LeftOut) != 1 || receipt.LeftOut[0].Root != plan.Trees[1].Root || len(receipt.Batches) < 2 {
		t.Errorf("%d batches, left out: %v", len(receipt.Batches), receipt.LeftOut)
	}
	again, _, err := repairtest.Plan(path)
	must(t, err)
	if len(again.Trees) != 1 || again.Trees[0].Root != plan.Trees[1].Root {
		t.Errorf("%d trees have something to do", len(again.Trees))
	}
}

// What was added to a stream since the repair is not lost by an undo.
func TestAStreamThatGrewIsNotUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.ndjson")
	streamStore(t, path)
	_, receipt, err := repairtest.Repair(path)
	must(t, err)
	now := streamDump(t, path) + `{"type":"session","id":"new"}` + "\n"
	must(t, os.WriteFile(path, []byte(now), 0o600))
	if n, err := repairtest.Undo(path, receipt.Path()); problem.ClassOf(err) != problem.Busy || n != 0 {
		t.Errorf("undo of %d sessions: %v", n, err)
	}
	if streamDump(t, path) != now {
		t.Error("the stream was changed")
	}
}
