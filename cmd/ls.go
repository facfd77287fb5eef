package cmd

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
)

func newLsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls [STORE...]",
		Short: "List sessions with their health",
		Long: `List the sessions of stores, newest first: how many items and sub-sessions
each has, which agents spoke, and what a check finds in it at worst. Findings do
not change the exit code.

` + exitStatus("listed", storeCodes...),
		Example: `  sessctl ls
  sessctl ls session.db --all
  sessctl ls --format ndjson | jq -r 'select(.health.errors > 0).id'`,
		GroupID: groupStore,
		RunE:    func(cmd *cobra.Command, args []string) error { return runLs(cmd.Context(), p, args) },
	}
	cmd.ValidArgsFunction = completeStores(0)
	addFormatFlag(cmd, "text", "json", "ndjson")
	addPagerFlag(cmd)
	addStoreFlag(cmd)
	cmd.Flags().BoolP("all", "a", false, "list sub-sessions too, below their root")
	return cmd
}

func runLs(ctx context.Context, p *program, args []string) error {
	paths, empty, err := p.expand(ctx, args)
	if err != nil {
		return err
	}
	list := render.Listing{Tool: tool(), Home: p.home, All: p.config.All, Quiet: p.config.Quiet}
	for _, e := range empty {
		p.report(e.reason)
		list.ExitCode = worse(list.ExitCode, exitCode(e.reason))
	}
	for _, path := range paths {
		listed, err := p.list(ctx, path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.report(err)
			list.ExitCode = worse(list.ExitCode, exitCode(err))
		}
		if listed != nil {
			list.Stores = append(list.Stores, *listed)
		}
	}
	if len(list.Stores) > 0 {
		if err := p.printList(&list); err != nil {
			return err
		}
	}
	return withCode(list.ExitCode)
}

func (p *program) printList(list *render.Listing) error {
	switch p.config.Format {
	case "json":
		return machine.Ls(p.out.Plain(), list)
	case "ndjson":
		return machine.LsLines(p.out.Plain(), list)
	}
	return render.Ls(p.config.Format, p.out, list)
}

// list reads the sessions of a store. With an error they are those that could
// be read.
func (p *program) list(ctx context.Context, path string) (*render.ListedStore, error) {
	var listed *render.ListedStore
	err := p.read(ctx, path, func(opened *registry.Opened) error {
		listed = &render.ListedStore{Store: opened.Facts()}
		result, err := check.Run(ctx, opened, check.Options{
			Rules: catalogue.Usual(),
			EachTree: func(tree *session.Tree, found []*check.Finding) {
				listed.Rows = append(listed.Rows, render.RowOf(tree, found))
			},
		})
		render.SortRows(listed.Rows)
		if why := cmp.Or(result.Incomplete, result.Unread); err == nil && why != "" {
			err = problem.New(problem.Unreadable, seeCheck, "the list of %s is incomplete: %s", path, why)
		}
		return err
	})
	return listed, err
}
