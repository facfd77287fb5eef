// Package repairtest repairs store files as the command does, for the tests of
// repairs and of adapters.
package repairtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sessctl/sessctl/internal/campaign"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// Plan makes the plan for a store file, with the repairs besides that the words of
// --allow name. A writer that cannot be probed is taken for dead.
func Plan(path string, allow ...string) (*repair.Plan, store.Kind, error) {
	return makePlan(path, allow, nil)
}

// makePlan makes the plan, with all texts of the trees that change if they are handed to each.
func makePlan(path string, allow []string, each func(*repair.Tree, *session.Tree, *session.Tree)) (*repair.Plan, store.Kind, error) {
	ctx := context.Background()
	opened, err := registry.Open(ctx, path, "", nil, store.Options{Deep: true})
	if err != nil {
		return nil, store.Kind{}, err
	}
	if opened.Facts().Writer == session.WriterUnknown {
		opened.Facts().Writer = session.WriterDead
	}
	allowed := map[string]bool{}
	for _, word := range allow {
		allowed[word] = true
	}
	plan, _, err := repair.MakePlan(ctx, opened.Store, repair.Options{Prologue: opened.Kind.Prologue, Allow: allowed, EachTree: each})
	return plan, opened.Kind, errors.Join(err, opened.Close())
}

// Repair carries out the plan of a store file in place, with its backup and its
// receipt beside it. The receipt is nil when there was nothing to do. Nobody may write to the file.
func Repair(path string, allow ...string) (*repair.Plan, *repair.Receipt, error) {
	if campaign.Long() || planned.Add(1)%4 == 1 {
		if err := planAlike(path, allow); err != nil {
			return nil, nil, err
		}
	}
	return RepairInUse(path, allow...)
}

// RepairInUse is Repair of a file that somebody writes to.
func RepairInUse(path string, allow ...string) (*repair.Plan, *repair.Receipt, error) {
	plan, kind, err := Plan(path, allow...)
	if err != nil || plan.IsEmpty() {
		return plan, nil, err
	}
	ctx := context.Background()
	ed, err := kind.Edit(ctx, registry.ToEdit(path))
	if err != nil {
		return plan, nil, err
	}
	apply := repair.Apply{Backup: path + ".backup", Receipt: path + ".receipt.json", Prologue: kind.Prologue}
	receipt, err := apply.Run(ctx, ed, plan)
	return plan, receipt, errors.Join(err, ed.Close())
}

// planned counts the repairs: outside the long form, each fourth is held against another one.
var planned atomic.Int64

// planAlike holds the plan that is made with the texts of what it changes against the one that is
// made with all texts.
func planAlike(path string, allow []string) error {
	plan, _, err := Plan(path, allow...)
	if err != nil {
		return nil //nolint:nilerr // the caller finds it, too
	}
	whole, _, err := makePlan(path, allow, func(*repair.Tree, *session.Tree, *session.Tree) {})
	if err != nil {
		return err
	}
	few, _ := json.Marshal(plan)
	all, _ := json.Marshal(whole)
	if !bytes.Equal(few, all) {
		return fmt.Errorf("with all texts another plan is made:\n%s\nand not\n%s", all, few)
	}
	return nil
}

// Undo takes a repair back by the receipt at a path, and counts what was restored.
func Undo(path, receipt string) (int, error) {
	r, err := repair.ReadReceipt(receipt)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	for _, kind := range registry.Kinds {
		if kind.Name != r.Store.Kind {
			continue
		}
		ctx := context.Background()
		ed, err := kind.Edit(ctx, registry.ToEdit(path))
		if err != nil {
			return 0, err
		}
		n, err := repair.Undo(ctx, ed, r)
		return n, errors.Join(err, ed.Close())
	}
	return 0, fmt.Errorf("no kind of store is called %q", r.Store.Kind)
}
