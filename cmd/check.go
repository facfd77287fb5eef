package cmd

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/render"
)

func newCheckCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [STORE...]",
		Short: "Find what would break or mislead the next run",
		Long: `Check stores and print what is wrong with their sessions, each with its cause
and with the error that the provider would answer. Nothing is changed.

STORE is a file, a folder with stores in it, or - for a canonical stream on
standard input. Without one, the stores at their usual places are checked.

Whether the next request would be accepted depends on the provider. Each session
is judged for the one that its recorded model or its call ids hint at, and else
for the strictest common form (generic); --profile names others.

The first line of a finding holds its severity, its rule, and its place as
SESSION:ITEMS, on a terminal and in a pipe alike: ` + "`sessctl check | grep SC701`" + `.

` + exitStatus("nothing found at or above --fail-on", append(storeCodes, exitFindings)...),
		Example: `  sessctl check
  sessctl check ~/.cagent/session.db --fail-on warning
  sessctl check --select SC7 --session 1f0c
  sessctl check --session 1f0c --profile anthropic,gemini --explain-request
  sessctl check --format ndjson --since 7d | jq .message`,
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
	flags.String("session", "", "check only the session with this `ID` (its beginning will do) and what belongs to it")
	flags.String("since", "", "check only sessions in which something happened since this `TIME`: a date, or an age (7d, 36h)")
	flags.Bool("deep", false, "also make the tests that take longer than the check itself")
	addProfileFlags(cmd)
	flags.Bool("explain-request", false, "of the session of --session, also print what the provider answers to its next request")
	addAssumeDeadFlag(cmd)
	completeFlag(cmd, "session", p.sessionWords)
}

func runCheck(cmd *cobra.Command, p *program, args []string) error {
	ctx := cmd.Context()
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return err
	}
	reports, err := p.openReports(paths)
	if err != nil {
		return err
	}
	defer reports.discard()
	run, err := newCheckRun(p, reports)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := run.store(ctx, path); err != nil {
			return err
		}
	}
	if len(run.results) == 0 && run.missed != nil {
		return run.missed
	}
	end := render.Ending{ExitCode: run.code, Next: nextCommands(args, run.results)}
	if err := cmp.Or(run.writer.Close(end), reports.commit()); err != nil {
		return err
	}
	return withCode(run.code)
}
