package cmd

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// toFile writes a repaired copy. Nothing that exists is changed, so nobody is
// asked.
func (r *repairRun) toFile(ctx context.Context) (err error) {
	opened, err := r.open(ctx, r.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err := r.planFrom(ctx, opened); err != nil {
		return err
	}
	if !r.copyable() && !r.plan.Empty() && !r.config.DryRun {
		return r.refusal()
	}
	if err := r.show(); err != nil {
		return err
	}
	if r.plan.Empty() {
		return r.end(render.Outcome{ExitCode: r.code()})
	}
	stop, err := r.saves()
	switch {
	case err != nil:
		return err
	case stop && !r.copyable():
		return r.stop(r.instead())
	case stop && r.config.PlanOut != "":
		return r.stop(r.again("write the repaired copy", "--output", r.config.Output))
	case stop:
		return r.stop(r.again("write the repaired copy"))
	}
	return r.write(ctx, opened)
}

func (r *repairRun) write(ctx context.Context, opened *registry.Opened) error {
	out, err := filepath.Abs(r.config.Output)
	if err != nil {
		return err
	}
	set, clearLine := r.progress("copying")
	receipt, err := repair.Apply{Receipt: out + receiptEnding, Tool: toolName(), Prologue: r.kind.Prologue, Progress: set, Changed: opened.Changed}.
		Output(ctx, r.kind, opened.Store, r.plan, out, func(path string) (store.Store, error) {
			return registry.Open(ctx, path, r.kind.Name, nil, store.Options{Deep: true})
		})
	clearLine()
	if err != nil {
		return err
	}
	return r.applied(receipt, render.Outcome{Output: out})
}
