package cmd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/ui"
)

// repairRun is one run of repair over one store.
type repairRun struct {
	*program
	path   string
	rules  []*rules.Rule
	saved  *repair.Plan // of --plan, else nil
	writer render.RepairWriter

	kind       store.Kind
	facts      *session.Store
	planned    fs.FileInfo // the file that the plan was made for
	plan       *repair.Plan
	left       []*check.Finding // what the plan does not repair
	incomplete string           // why not everything is known, "" if it is
	recovery   string           // what to do about that where it is damage
}

func newRepairRun(p *program) (*repairRun, error) {
	c := p.config
	c.Deep = true // damage is looked for before anything is changed
	r := &repairRun{program: p}
	if err := r.checkFlags(); err != nil {
		return nil, err
	}
	var err error
	if r.rules, err = p.selectedRules(); err != nil {
		return nil, err
	}
	if c.Plan != "" {
		if r.saved, err = readPlan(c.Plan); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// locate finds the one store to repair. A saved plan names its own.
func (r *repairRun) locate(ctx context.Context, args []string) (err error) {
	if r.saved != nil && len(args) == 0 {
		r.path = r.saved.Store.Path
	} else if r.path, err = r.onePath(ctx, args); err != nil {
		return err
	}
	r.writer = render.Repair(r.config.Format, render.RepairOptions{
		Screen: r.out, Tool: tool(), Home: r.home, Quiet: r.config.Quiet, MaxSteps: int(r.config.MaxFindings),
		Content: r.out.Terminal || r.config.ShowContent, Check: "sessctl check " + shell.Path(r.path), Allowed: r.config.Allow,
	})
	return nil
}

// code is the exit code of what a repair leaves.
func (r *repairRun) code() int {
	code := r.failing(r.left)
	if r.incomplete != "" {
		code = worse(code, int(problem.Unreadable))
	}
	return code
}

// end prints how the run ended.
func (r *repairRun) end(o render.Outcome) error {
	if err := r.writer.Close(o); err != nil {
		return err
	}
	if r.incomplete != "" {
		return problem.New(problem.Unreadable, cmp.Or(ui.Sentence(r.recovery), seeCheck), "the plan does not cover all of %s: %s", r.facts.Path, r.incomplete)
	}
	if o.Applied && o.ExitCode != exitOK {
		return errors.Join(withCode(o.ExitCode), errChanged)
	}
	return withCode(o.ExitCode)
}

// saves writes the plan where --plan-out says, and reports whether the run is
// over with that.
func (r *repairRun) saves() (stop bool, err error) {
	if r.config.PlanOut == "" {
		return r.config.DryRun, nil
	}
	return r.config.DryRun || !r.config.Yes, r.savePlan()
}

// stop ends a run in which nothing was changed, with the command that does it.
func (r *repairRun) stop(next ...render.Command) error {
	return r.end(render.Outcome{ExitCode: worse(exitFindings, r.code()), Next: next})
}

// again is this command line without what kept it from changing anything, and
// with more words.
func (r *repairRun) again(why string, words ...string) render.Command {
	flags, stores := beforeDashes(r.args)
	if r.config.PlanOut != "" {
		return render.Command{Line: repairCommand(r.path, shell.Words(append([]string{"--plan", r.config.PlanOut}, words...))...), Why: why}
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(arg string) bool {
		return slices.Contains([]string{"--dry-run", "--dry-run=true", "-n"}, arg)
	})
	return render.Command{Line: "sessctl " + strings.Join(shell.Words(slices.Concat(flags, words, stores)), " "), Why: why}
}
