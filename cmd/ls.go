package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

func newLsCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ls [STORE...]",
		Short: "List sessions with their health",
		Long: `List the sessions of stores, newest first: how many items and sub-sessions
each has, which agents spoke, and what a check finds in it at worst. Findings do
not change the exit code.

A database of 100 MB or more is listed without what a check finds, and without
reading a message: --health reads it, as do --damaged, --since, --agent and
--sort health. So is a folder of transcripts of Claude Code or Codex, of which the
first lines are read; --sort items reads it as well.

The filters of --damaged, --since, --agent and --match have to be met all at once,
and --limit counts what they leave of each store. --match takes what names a SESSION
elsewhere: the beginning of an id, or words of a title; here several may fit.

` + exitStatus("listed", storeCodes...),
		Example: `  sessctl ls
  sessctl ls session.db --all
  sessctl ls --damaged --since 7d
  sessctl ls --match dockerfile --sort items --limit 5
  sessctl ls --health --format ndjson | jq -r 'select(.health.errors > 0).id'`,
		GroupID: groupStore,
		RunE:    func(cmd *cobra.Command, args []string) error { return runLs(cmd.Context(), p, args) },
	}
	cmd.ValidArgsFunction = completeStores(0)
	addFormatFlag(cmd, "text", "json", "ndjson")
	addPagerFlag(cmd)
	addStoreFlag(cmd)
	flags := cmd.Flags()
	flags.BoolP("all", "a", false, "list sub-sessions too, below their root")
	flags.Bool("health", false, "read the health of every session, however large its store is")
	flags.Bool("damaged", false, "list only sessions with errors or warnings")
	flags.String("since", "", "list sessions active since this `TIME`: 7d, 2026-02-03")
	flags.String("agent", "", "list only sessions in which the agent `NAME` spoke")
	flags.String("match", "", "list sessions whose titles have these `WORDS`, or whose ids begin so")
	flags.Uint("limit", 0, "list `N` sessions of each store at most, 0 for all")
	addChoice(cmd, "sort", render.SortOrders[0], render.SortOrders, "what comes first")
	return cmd
}

// healthBelow is the size from which on a list of a store does without what it takes to read
// all messages.
const healthBelow = 100_000_000

func runLs(ctx context.Context, p *program, args []string) error {
	keeps, err := p.lsFilter()
	if err != nil {
		return err
	}
	paths, empty, err := p.expandArguments(ctx, args)
	if err != nil {
		return err
	}
	if c := p.config; !c.Health && !c.Damaged && c.Since == "" && c.Agent == "" && c.Sort != "health" {
		p.brief = healthBelow
	}
	list := render.Listing{Tool: thisTool(), Home: p.home, All: p.config.All, Quiet: p.config.Quiet}
	for _, e := range empty {
		p.reportError(e.reason)
		list.ExitCode = max(list.ExitCode, exitCode(e.reason))
	}
	for _, path := range paths {
		listed, err := p.listStore(ctx, path, catalogue.UsualRules(), keeps)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.reportError(err)
			list.ExitCode = max(list.ExitCode, exitCode(err))
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
		return machine.PrintSessions(p.out.Plain(), list)
	case "ndjson":
		return machine.LsLines(p.out.Plain(), list)
	}
	return render.PrintSessions(p.config.Format, p.out, list)
}

// lsFilter is what the flags say of the sessions to list.
func (p *program) lsFilter() (func(*session.Tree, *render.Row) bool, error) {
	c := p.config
	since, err := parseSince(c.Since, time.Now()) //nolint:forbidigo // an age counts from now
	if err != nil {
		return nil, err
	}
	return func(tree *session.Tree, row *render.Row) bool {
		speaks := func(name string) bool { return strings.EqualFold(name, c.Agent) }
		fits := func(s *session.Session) bool { return view.FitsName(s.ID, s.Title, c.Match) }
		return touchedSince(since)(tree) && (!c.Damaged || row.Health[rules.Error]+row.Health[rules.Warning] > 0) &&
			(c.Agent == "" || slices.ContainsFunc(row.Agents, speaks)) &&
			(c.Match == "" || slices.ContainsFunc(tree.Sessions, fits))
	}, nil
}

// listStore reads the sessions of a store, with what rules find in them. With an error they are
// those that could be read.
func (p *program) listStore(ctx context.Context, path string, run []*rules.Rule, keeps func(*session.Tree, *render.Row) bool) (*render.ListedStore, error) {
	var listed *render.ListedStore
	err := p.readStore(ctx, path, func(opened *registry.Opened) error {
		listed = &render.ListedStore{Store: opened.Facts()}
		if listed.Brief {
			run = nil
		}
		result, err := check.Run(ctx, opened, check.Options{
			Rules: run,
			EachTree: func(tree *session.Tree, found []*check.Finding) {
				for _, part := range tree.Conversations() {
					row := render.RowOf(part, found, listed.Brief)
					listed.Read++
					if keeps(part, row) {
						listed.Rows = append(listed.Rows, row)
					}
				}
			},
		})
		render.SortRows(listed.Rows, p.config.Sort)
		if most := int(p.config.Limit); most > 0 {
			listed.Rows = listed.Rows[:min(most, len(listed.Rows))]
		}
		if why := cmp.Or(result.Incomplete, result.Unread); err == nil && why != "" {
			err = problem.New(problem.Unreadable, seeCheck, "the list of %s is incomplete: %s", path, why)
		}
		return err
	})
	return listed, err
}
