package cmd

import (
	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// addAssumeDeadFlag declares --assume-dead for a command that says of calls at
// the end of a session whether they are over.
func addAssumeDeadFlag(cmd *cobra.Command) {
	cmd.Flags().Bool("assume-dead", false, "where nobody can tell whether the runtime is still writing, take it for ended")
}

// assumeDead takes an unknown writer for dead where --assume-dead says so. It
// is refused where the writer is known to live.
func (p *program) assumeDead(facts *session.Store) error {
	switch {
	case !p.config.AssumeDead:
	case facts.Writer == session.WriterLive:
		who := facts.WriterName
		if who == "" {
			who = "another process"
		}
		return problem.New(problem.Busy, "Close it first, or leave --assume-dead out.",
			"%s is in use: %s has it open, so it cannot be taken for ended", facts.Path, who)
	case facts.Writer == session.WriterUnknown:
		facts.Writer = session.WriterDead
	}
	return nil
}
