package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/atomicfile"
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/changes"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// exitDiffers is the code of a comparison that found a difference.
const exitDiffers = 1

func newDiffCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two stores, or a store and its backup",
		Long: `Compare two stores: which sessions and items B has that A lacks, which it lacks,
which are in another place, and which changed. A is the store before, B the
one after. Nothing is changed.

A and B may be of different kinds, a database and its export for example: then what
is said is compared. Between two databases of one kind the records are, to the
last byte: a message that says the same and has another time or cost has changed.

With --quiet, one line says whether they differ.

` + exitStatus("nothing differs\n    1  something does", storeCodes...),
		Example: `  sessctl diff session.db.sessctl-20261120T214500Z session.db
  sessctl diff session.db sessions.ndjson
  sessctl diff before.db after.db --session 1f0c --full
  sessctl diff before.db after.db --quiet && echo equal`,
		GroupID: groupStore,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return problem.New(problem.Usage, "Name the store before and the store after.", "`sessctl diff` takes two stores, not %s", ui.Count(len(args), "argument"))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runDiff(cmd.Context(), p, args) },
	}
	addFormatFlag(cmd, "text", "json", "markdown")
	addPagerFlag(cmd)
	cmd.Flags().Bool("full", false, "show whole texts, and every item of added and gone sessions")
	cmd.Flags().String("session", "", "compare only this `SESSION` and its tree")
	return cmd
}

// diffRun is one comparison.
type diffRun struct {
	*program
	a, b *registry.Opened
	only string // the id of the session to which it is limited, "" for all
}

func runDiff(ctx context.Context, p *program, args []string) error {
	if args[0] == "-" && args[1] == "-" {
		return problem.New(problem.Usage, "Write one of them into a file.", "standard input cannot be both stores")
	}
	run := &diffRun{program: p}
	p.compares = true
	var paths [2]string
	for i, arg := range args {
		var err error
		if paths[i], err = p.onePath(ctx, []string{arg}); err != nil {
			return err
		}
	}
	if atomicfile.SameFile(paths[0], paths[1]) {
		p.printNote("both names refer to the same store")
	}
	return p.insistUnseen(ctx, paths[:], func() (err error) {
		if run.a, err = p.openStore(ctx, paths[0]); err != nil {
			return err
		}
		if run.b, err = p.openStore(ctx, paths[1]); err != nil {
			return errors.Join(err, run.a.Close())
		}
		return errors.Join(run.compareStores(ctx), run.b.Close(), run.a.Close())
	})
}

// compareStores prints what differs.
func (run *diffRun) compareStores(ctx context.Context) error {
	c := run.config
	if err := run.findWanted(ctx); err != nil {
		return err
	}
	found, err := diff.CompareStores(ctx, sourceOf(run.a), sourceOf(run.b), run.only)
	if err != nil {
		return err
	}
	before, after := found.Sizes()
	lostBefore, lostAfter := found.Orphans()
	partBefore, partAfter := found.Incomplete()
	writer := changes.NewDiffWriter(c.Format, render.DiffOptions{
		Screen: run.out, Tool: thisTool(), Home: run.home, Quiet: c.Quiet, Full: c.Full,
		A: render.DiffStore{Store: run.a.Facts(), Trees: before, Orphans: lostBefore, Incomplete: partBefore}, B: render.DiffStore{Store: run.b.Facts(), Trees: after, Orphans: lostAfter, Incomplete: partAfter},
	})
	var first *diff.Tree
	tally, err := found.EachTree(ctx, func(tree *diff.Tree) error {
		first = cmp.Or(first, tree)
		return writer.Tree(tree)
	})
	if err != nil {
		return err
	}
	incomplete := run.incompleteProblem(found)
	code := exitOK
	if first != nil || lostBefore != lostAfter {
		code = exitDiffers
	}
	code = max(code, int(problem.ClassOf(incomplete)))
	if err := writer.Close(render.DiffEnd{Tally: tally, ExitCode: code, Next: run.nextAfterDiff(first)}); err != nil {
		return err
	}
	if incomplete != nil {
		return incomplete
	}
	return withCode(code)
}

func sourceOf(o *registry.Opened) diff.Source {
	return diff.Source{Store: o.Store, Keyed: o.Kind.Edit != nil}
}

// findWanted finds the session that --session means, in one store or both.
func (run *diffRun) findWanted(ctx context.Context) error {
	word := run.config.Session
	if word == "" {
		return nil
	}
	search, known := view.Search{}, map[string]bool{}
	for _, opened := range []*registry.Opened{run.b, run.a} {
		for tree, err := range opened.Trees(ctx) {
			if err != nil {
				return err
			}
			search.Add(opened.Facts().Path, tree)
		}
		search.AddFacts(opened.Facts())
	}
	search.Known = slices.DeleteFunc(search.Known, func(k view.Known) bool {
		again := known[k.ID]
		known[k.ID] = true
		return again
	})
	found, err := search.Choose(word)
	if run.only = found.ID; err == nil {
		run.noteRoot(found)
	}
	return err
}

// incompleteProblem is the problem with a comparison that does not cover everything.
func (run *diffRun) incompleteProblem(found *diff.Comparison) error {
	for _, opened := range []*registry.Opened{run.a, run.b} {
		if changed := opened.Changed(); changed != "" {
			return problem.New(problem.Busy, "Close the runtime and compare again.", "%s, so the comparison may mix two states", changed)
		}
	}
	var lacking []string
	partA, partB := found.Incomplete()
	for _, part := range []struct{ path, why string }{{run.a.Facts().Path, partA}, {run.b.Facts().Path, partB}} {
		if part.why != "" {
			lacking = append(lacking, "a part of "+part.path+" cannot be read ("+part.why+")")
		}
	}
	damage := found.Damage()
	orphansA, orphansB := found.Orphans()
	switch {
	case len(lacking) > 0:
		return &problem.Error{
			Class: problem.Unreadable, Err: damage, Next: seeCheck,
			What: "the comparison is incomplete: " + strings.Join(lacking, ", and ") + "; only what could be read was compared",
		}
	case orphansA > 0 && orphansA == orphansB: // where they differ in number, that is the answer
		return problem.New(problem.Unreadable, seeCheck,
			"the comparison is incomplete: %s that belong to no session in each store were counted but not compared", ui.Count(orphansA, "record"))
	case damage != nil:
		return &problem.Error{
			Class: problem.Unreadable, Err: damage, Next: seeCheck,
			What: "the comparison is incomplete: " + damage.Error() + "; only what sessions and messages say was compared, not their records",
		}
	}
	return nil
}

// nextAfterDiff are the commands that lead on: the whole texts of the first tree that differs, and
// that tree as it is now.
func (run *diffRun) nextAfterDiff(tree *diff.Tree) []render.Command {
	a, b := run.a.Facts().Path, run.b.Facts().Path
	if tree == nil || a == "-" || b == "-" {
		return nil
	}
	var next []render.Command
	id := tree.Root.ID // whole: others may begin alike
	if !run.config.Full && tree.Change == diff.Changed {
		line := "sessctl diff " + shell.Path(a) + " " + shell.Path(b) + " --session " + shell.Word(id) + " --full"
		next = append(next, render.Command{Line: line, Why: "whole texts"})
	}
	in := b
	if tree.Change == diff.Gone {
		in = a
	}
	return append(next, render.Command{Line: shell.ViewCommand(in, id), Why: "the session as it is"})
}
