// Package repairtest repairs store files as the command does, for the tests of
// repairs and of adapters.
package repairtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// Plan makes the plan for a store file, with the repairs besides that the words of
// --allow name. A writer that cannot be probed is taken for dead.
func Plan(path string, allow ...string) (*repair.Plan, store.Kind, error) {
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
	plan, _, err := repair.MakePlan(ctx, opened.Store, repair.Options{Prologue: opened.Kind.Prologue, Allow: allowed})
	return plan, opened.Kind, errors.Join(err, opened.Close())
}

// Repair carries out the plan of a store file in place, with its backup and its
// receipt beside it. The receipt is nil when there was nothing to do.
func Repair(path string, allow ...string) (*repair.Plan, *repair.Receipt, error) {
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
