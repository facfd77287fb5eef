package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/find"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/shell"
	"github.com/sessctl/sessctl/internal/store"
	"github.com/sessctl/sessctl/internal/store/registry"
	"github.com/sessctl/sessctl/internal/view"
)

func newFindCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "find WORDS [STORE...]",
		Short: "Find words in what agents said, ran and read",
		Long: `Find the messages that hold all WORDS, in whatever case and order: in their
texts and reasoning, in the arguments and results of calls, and in the names of
attachments; those of sub-agents, too. Words between quotation marks are one.
Without a STORE, the usual places are searched.

The filters have to be met all at once. The newest sessions of a store come
first, each as soon as it is found; --limit counts messages. Nothing is indexed,
and no file is written.

` + exitStatus("found\n    1  nothing was found", storeCodes...),
		Example: `  sessctl find dockerfile
  sessctl find '"exit code 3" pytest' --in results --since 7d
  sessctl find deploy session.db --agent worker --context 2
  sessctl find 'toolu_[0-9]+' --regexp --format ndjson`,
		GroupID: groupStore,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return problem.New(problem.Usage, "Write `sessctl find 'some words'`; `sessctl ls` lists all sessions.", "there is nothing to look for")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runFind(cmd.Context(), p, args) },
	}
	cmd.ValidArgsFunction = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeStores(0)(c, args[1:], typed)
	}
	addFormatFlag(cmd, "text", "json", "ndjson")
	addStoreFlag(cmd)
	flags := cmd.Flags()
	flags.Bool("regexp", false, "WORDS are a regular expression (RE2)")
	addChoice(cmd, "in", "", find.Parts, "look only into")
	addChoice(cmd, "role", "", find.Roles, "look only into messages of")
	flags.String("agent", "", "look only into what the agent `NAME` said and was given")
	flags.String("tool", "", "look only into calls of the tool `NAME` and their results")
	flags.String("branch", "", "look only into messages on this branch (`LABEL`)")
	flags.String("session", "", "look only into this `SESSION` and its tree")
	flags.String("since", "", "look only into sessions active since this `TIME`: 7d, 2026-02-03")
	flags.Bool("damaged", false, "look only into sessions with errors or warnings")
	flags.BoolP("list", "l", false, "show the sessions without the messages")
	flags.Bool("count", false, "show how many messages were found, by session")
	flags.Uint("context", 0, "show `N` messages before and after, too")
	flags.Uint("limit", 50, "show `N` messages at most, 0 for all")
	flags.Bool("redact", false, "show where the words are, and no text")
	return cmd
}

func runFind(ctx context.Context, p *program, args []string) error {
	query, err := p.findQuery(args[0])
	if err != nil {
		return err
	}
	since, err := parseSince(p.config.Since, time.Now()) //nolint:forbidigo // an age counts from now
	if err != nil {
		return err
	}
	paths, empty, err := p.expandArguments(ctx, args[1:])
	if err != nil {
		return err
	}
	list := render.Findings{Tool: thisTool(), Home: p.home, Limit: int(p.config.Limit), Quiet: p.config.Quiet, Sessions: p.config.List, Counts: p.config.Count, Redact: p.config.Redact}
	end := p.printFound(&list)
	for _, e := range empty {
		p.reportError(e.reason)
		list.ExitCode = max(list.ExitCode, exitCode(e.reason))
	}
	var missed []error // of stores without the session
	for _, path := range paths {
		unprinted, err := p.findInStore(ctx, path, query, touchedSince(since), &list)
		switch {
		case unprinted != nil || ctx.Err() != nil:
			return cmp.Or(unprinted, ctx.Err())
		case errors.Is(err, view.ErrNoSession):
			missed = append(missed, err)
		case err != nil:
			p.reportError(err)
			list.ExitCode = max(list.ExitCode, exitCode(err))
		}
	}
	if len(missed) == len(paths) { // else one of them has it, or why it does not is told
		for _, err := range missed {
			p.reportError(err)
			list.ExitCode = max(list.ExitCode, exitCode(err))
		}
	}
	if list.Messages == 0 {
		list.ExitCode = max(list.ExitCode, exitFindings)
	}
	if err := end(); err != nil {
		return err
	}
	return withCode(list.ExitCode)
}

// printFound has what is found printed as it comes; end prints the rest.
func (p *program) printFound(list *render.Findings) (end func() error) {
	switch p.config.Format {
	case "json":
		list.Print, end = machine.CollectFound(p.out.Plain(), list)
		return end
	case "ndjson":
		list.Print, end = machine.FoundLines(p.out.Plain(), list)
		return end
	}
	printer := document.NewPrinter(p.config.Format, p.out)
	list.Print = list.PrintTree(printer, p.out.Width)
	return func() error {
		if list.Session != "" && !p.config.Quiet && list.Store != "-" {
			list.Next = shell.ViewCommand(list.Store, rules.ShortID(list.Session))
		}
		return list.PrintEnd(printer)
	}
}

// findQuery is what the words and the flags ask.
func (p *program) findQuery(typed string) (*find.Query, error) {
	c := p.config
	q := &find.Query{Words: find.SplitWords(typed), Part: c.In, Role: session.ParseRole(c.Role), Agent: c.Agent, Tool: c.Tool}
	if c.Sources["branch"] == "--branch" {
		q.Branch = &c.Branch
	}
	if c.Regexp {
		word, err := find.Expression(typed)
		if err != nil {
			return nil, problem.New(problem.Usage, "The syntax is that of RE2: https://github.com/google/re2/wiki/Syntax.", "%q is no regular expression: %v", typed, err)
		}
		q.Words = []find.Word{word}
	}
	if len(q.Words) == 0 {
		return nil, problem.New(problem.Usage, "`sessctl ls` lists all sessions.", "there is nothing to look for")
	}
	return q, nil
}

// findInStore looks into the sessions of a store. With an error, what was found is that which
// could be read; unprinted is why it cannot be printed.
func (p *program) findInStore(ctx context.Context, path string, q *find.Query, recent func(*session.Tree) bool, list *render.Findings) (unprinted, err error) {
	reader := p.onlySession(path)
	reader.bodies = func(*session.Session) bool { return true }
	if p.config.Session == "" {
		reader.lacks = q.Lacks()
	}
	take := list.Take
	if !p.config.Quiet {
		reader.progress = p.startProgress(path)
		defer reader.progress.Clear()
		take = func(one render.FoundTree) error {
			reader.progress.Hide()
			return list.Take(one)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var waiting render.Waiting
	err = reader.readStore(ctx, path, func(opened *registry.Opened) error {
		waiting = render.Waiting{}
		opts := check.Options{Bodies: true, OmitStore: true}
		if p.config.Damaged {
			opts.Rules = catalogue.UsualRules()
		}
		var st store.Store = opened
		if p.config.Session != "" {
			one, err := findSession(ctx, opened, p.config.Session)
			if err != nil {
				return err
			}
			opts.Session, st = one.found.ID, one
		}
		opts.EachTree = func(tree *session.Tree, found []*check.Finding) {
			damaged := slices.ContainsFunc(found, func(f *check.Finding) bool { return f.Severity > rules.Info })
			if unprinted != nil || !recent(tree) || !damaged && p.config.Damaged {
				return
			}
			one := render.FoundTree{Store: opened.Facts(), Tree: q.InTree(tree, int(p.config.Context))}
			if one.Count = len(one.Hits); !opened.Facts().NewestFirst {
				waiting.Add(one, list.Limit)
				return
			}
			list.Leave(&one)
			if unprinted = take(one); unprinted != nil {
				stop()
			}
		}
		result, err := check.Run(ctx, st, opts)
		if why := cmp.Or(result.Incomplete, result.Unread); err == nil && why != "" {
			err = problem.New(problem.Unreadable, seeCheck, "not all of %s was searched: %s", path, why)
		}
		return err
	})
	for _, one := range waiting.Trees {
		unprinted = cmp.Or(unprinted, take(one))
	}
	return unprinted, err
}
