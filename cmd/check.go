package cmd

import (
	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/render"
)

func newCheckCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [STORE...]",
		Short: "Find what would break or mislead the next run",
		Long: `Check stores and print what is wrong with their sessions, each with its cause
and with the error that the provider would answer. Nothing is changed.

STORE is a file, a folder with stores in it, a pattern that stands for several
('stores/**/*.db'; ** is any number of folders), or - for a canonical stream on
standard input. Without one, the stores at their usual places are checked.

A project that has findings already writes them into a baseline; runs with it
fail on new ones only, and on known ones that got worse.

Whether the next request would be accepted depends on the provider. Each session
is judged for the one that its recorded model or its call ids hint at, and else
for the strictest common form (generic); --profile names others.

The first line of a finding holds its severity, its rule, and its place as
SESSION:ITEMS, on a terminal and in a pipe alike: ` + "`sessctl check | grep SC701`" + `.

` + exitStatus("nothing found at or above --fail-on", append(storeCodes, exitFindings)...),
		Example: `  sessctl check
  sessctl check ~/.cagent/session.db --fail-on warning
  sessctl check --select SC7 --session 1f0c
  sessctl check --session 1f0c --profile gemini --explain-request
  sessctl check 'stores/**/*.db' --shard 1/4
  sessctl check --format ndjson --since 7d | jq .message
  sessctl check --write-baseline baseline.json
  sessctl check --baseline baseline.json`,
		GroupID: groupStore,
		RunE:    func(cmd *cobra.Command, args []string) error { return runCheck(cmd, p, args) },
	}
	addCheckFlags(cmd, p)
	return cmd
}

func addCheckFlags(cmd *cobra.Command, p *program) {
	flags := cmd.Flags()
	addFormatFlag(cmd, render.CheckFormatNames()...)
	addReportFlag(cmd)
	addStoreFlag(cmd)
	addFindingFlags(cmd)
	addBaselineFlags(cmd)
	flags.String("session", "", "check only the session with this `ID` (its beginning will do) and what belongs to it")
	flags.String("since", "", "check only sessions in which something happened since this `TIME`: a date, or an age (7d, 36h); those whose times are missing or unreadable, too")
	flags.String("shard", "", "check only the `I/N`th part of the sessions: 1/3, 2/3 and 3/3 are all of them")
	flags.Bool("deep", false, "also make the tests that take longer than the check itself")
	addProfileFlags(cmd)
	flags.Bool("explain-request", false, "of the session of --session, also print what the provider answers to its next request")
	addAssumeDeadFlag(cmd)
	completeFlag(cmd, "session", p.sessionWords)
	completeFlag(cmd, "since", oneOf())
	completeFlag(cmd, "shard", oneOf())
	cmd.ValidArgsFunction = completeStores(0)
}

func runCheck(cmd *cobra.Command, p *program, args []string) error {
	ctx := cmd.Context()
	paths, empty, err := p.expand(ctx, args)
	if err != nil {
		return err
	}
	file, err := p.newBaseline(ctx, paths)
	if err != nil {
		return err
	}
	if file != nil {
		defer func() { _ = file.Discard() }() // nothing is left of it after a commit
	}
	reports, err := p.openReports(ctx, paths)
	if err != nil {
		return err
	}
	defer reports.discard()
	if file != nil || len(reports) > 0 {
		defer surviveClosedPipes()()
	}
	run, err := newCheckRun(p, reports, paths, len(paths)+len(empty) > 1)
	if err != nil {
		return err
	}
	for _, e := range empty {
		run.unread(e.word, e.reason)
	}
	for _, path := range paths {
		if err := run.store(ctx, path); err != nil {
			return err
		}
	}
	if len(run.results) == 0 && run.missed != nil {
		return run.nowhere()
	}
	return run.end(ctx, args, file, reports)
}
