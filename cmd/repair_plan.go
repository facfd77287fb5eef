package cmd

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
)

// planFrom makes the plan for an opened store, or takes the one that was saved.
func (r *repairRun) planFrom(ctx context.Context, opened *registry.Opened) error {
	r.kind, r.facts, r.left = opened.Kind, opened.Facts(), nil
	if err := r.assumeDead(r.facts); err != nil {
		return err
	}
	if r.saved != nil {
		return r.adopt(ctx, opened.Store)
	}
	return r.make(ctx, opened.Store)
}

func (r *repairRun) make(ctx context.Context, st store.Store) error {
	judge, err := r.judge()
	if err != nil {
		return err
	}
	opts := repair.Options{
		Rules: r.rules, Named: len(r.config.Select) > 0, Judge: judge, Allow: map[string]bool{}, Prologue: r.kind.Prologue,
	}
	for _, word := range r.config.Allow {
		opts.Allow[word] = true
	}
	if r.config.Session != "" {
		one, err := findSession(ctx, st, r.config.Session)
		if err != nil {
			return err
		}
		opts.Session = one.found.ID
	}
	plan, result, err := repair.Make(ctx, st, opts)
	switch {
	case err != nil && problem.ClassOf(err) == 0 && ctx.Err() == nil:
		return problem.New(problem.Unreadable, "`sessctl check` says what is wrong with it; what `sessctl export` can still read of it can be repaired.",
			"%s cannot be read to its end, so its repair cannot be planned: %v", r.path, err)
	case err != nil:
		return err
	}
	if plan.Store.Path, err = absolute(r.path); err != nil {
		return err
	}
	r.plan, r.left, r.incomplete, r.recovery = plan, plan.Findings, result.Incomplete, result.Recovery
	return nil
}

// absolute is the path of a store wherever the plan or the receipt is read.
func absolute(path string) (string, error) {
	if path == "-" {
		return path, nil
	}
	return filepath.Abs(path)
}

// adopt takes a saved plan. The store is checked for what the plan does not
// hold: the titles of its sessions, and what it leaves.
func (r *repairRun) adopt(ctx context.Context, st store.Store) error {
	const next = "Make a new plan with --plan-out."
	plan := r.saved
	path, err := absolute(r.path)
	switch {
	case err != nil:
		return err
	case plan.Store.Path != path:
		return problem.New(problem.Usage, next, "the plan in %s is for %s, not for %s", r.config.Plan, plan.Store.Path, path)
	case plan.Store.Kind != r.facts.Kind || plan.Store.Generation != r.facts.Generation:
		return problem.New(problem.Usage, next, "the plan in %s is for a store of the kind %s, schema %s; %s is of the kind %s, schema %s",
			r.config.Plan, plan.Store.Kind, plan.Store.Generation, r.path, r.facts.Kind, r.facts.Generation)
	}
	titles, found := map[string]string{}, map[string][]*check.Finding{}
	result, err := check.Run(ctx, st, check.Options{
		Rules: catalogue.Usual(), Judge: plan.Judge(), EachTree: func(tree *session.Tree, list []*check.Finding) {
			root := tree.Root()
			titles[root.ID], found[root.ID] = root.Title, list
		},
	})
	if err != nil {
		return err
	}
	for _, t := range plan.Trees {
		t.Title, t.Before = titles[t.Root], found[t.Root]
	}
	for _, f := range result.Findings {
		if slices.Contains(plan.Left, f.Fingerprint) {
			r.left = append(r.left, f)
		}
	}
	r.plan, r.incomplete, r.recovery = plan, result.Incomplete, result.Recovery
	return nil
}

// biggestPlan is how long a plan may be. It holds no texts: an edit takes some
// 300 bytes, so this is for millions of them.
const biggestPlan = 1 << 30 // bytes

// readPlan reads a plan that --plan-out wrote.
func readPlan(path string) (*repair.Plan, error) {
	const next = "Name a file that --plan-out wrote."
	data, err := atomicfile.ReadRegular(path, biggestPlan)
	if err != nil {
		return nil, problem.New(problem.Usage, next, "the plan %s cannot be read: %s", path, problem.Reason(err))
	}
	plan := &repair.Plan{}
	if err := json.Unmarshal(data, plan); err != nil || plan.Schema != repair.PlanSchema || slices.Contains(plan.Trees, nil) {
		return nil, problem.New(problem.Usage, next, "%s is no plan of this version of sessctl (%s)", path, repair.PlanSchema)
	}
	return plan, nil
}

// savePlan writes the plan for later.
func (r *repairRun) savePlan() error {
	return writeNew(r.config.PlanOut, func(w io.Writer) error {
		data, err := json.MarshalIndent(r.plan, "", " ")
		if err != nil {
			return err
		}
		_, err = w.Write(append(data, '\n'))
		return err
	})
}
