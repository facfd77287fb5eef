package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
)

func newRepairCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair [STORE]",
		Short: "Put sessions right, with a backup and a way back",
		Long: `Show what would be changed so that the sessions of a store resume again, and
change it when you say yes. Nothing that was said is lost: what leaves the store
is in the receipt, and ` + "`sessctl undo`" + ` takes the whole repair back.

Before anything is changed, the store is copied to STORE.sessctl-TIME. The
result is checked before it is committed; if it is not exactly what the plan
says, nothing is changed. Close the runtime first.

STORE is a file; without one, the store at its usual place, if there is only
one. On a terminal you are asked; elsewhere --yes is needed. With --output the
store stays as it is and a repaired copy is written, of a canonical stream, too
(STORE may be - then).

What the provider of a session accepts is left as it is, unless --select names
the rule.

Repairs that need a decision are made with --allow only: lossy (something is
gone for good), prune (references and records that lead nowhere), guesses (what
is likely, not certain), split (one session into several), waiting (an answer in
place of one that somebody outside may still give; only where the runtime is gone,
or --assume-dead says so), import-backup (sessions of a .bak), unknown-form
(records that a newer or another program wrote go to the receipt). A finding names
the word that its repair needs; ` + "`sessctl explain RULE`" + ` says what that costs.

` + exitStatus("nothing is left at or above --fail-on", append(changing, exitFindings)...) + `

With 1, findings are left, or a plan was shown and not carried out.`,
		Example: `  sessctl repair session.db --dry-run
  sessctl repair session.db
  sessctl repair session.db --session 1f0c --yes
  sessctl repair session.db --output repaired.db
  sessctl repair session.db --plan-out plan.json
  sessctl repair session.db --plan plan.json`,
		GroupID: groupRepair,
		Args:    atMost(1, "one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRepair(cmd.Context(), p, args)
		},
	}
	cmd.ValidArgsFunction = completeStores(1)
	addRepairFlags(cmd, p)
	return cmd
}

// allowed are the words of --allow.
var allowed = []string{"lossy", "prune", "guesses", "split", "waiting", "import-backup", rules.UnknownForm}

func addRepairFlags(cmd *cobra.Command, p *program) {
	flags := cmd.Flags()
	addFormatFlag(cmd, "text", "json")
	addStoreFlag(cmd)
	flags.BoolP("dry-run", "n", false, "show the plan and stop")
	flags.BoolP("yes", "y", false, "do not ask")
	flags.StringP("output", "o", "", "write a repaired copy into this new `FILE` and leave the store as it is")
	flags.StringSlice("allow", nil, "also make repairs of these `KINDS`: "+strings.Join(allowed, ", "))
	flags.StringSlice("select", nil, "repair only what these `RULES` find: ids, names, or beginnings of ids (SC7)")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	flags.String("session", "", "repair only the session with this `ID` (its beginning will do) and what belongs to it")
	flags.String("plan-out", "", "write the plan into this new `FILE`; without --yes, stop then")
	flags.String("plan", "", "carry out exactly the plan in this `FILE`")
	addChoice(cmd, "fail-on", "error", []string{"error", "warning", "info", "never"}, "the lowest severity that makes the exit code 1")
	flags.Bool("show-content", false, "show the beginning of what items say off a terminal, too")
	flags.Uint("max-findings", 100, "show at most `N` steps, 0 for all")
	addProfileFlags(cmd)
	addAssumeDeadFlag(cmd)
	completeFlag(cmd, "allow", listOf(always(allowed)))
	completeFlag(cmd, "select", listOf(ruleListWords))
	completeFlag(cmd, "ignore", listOf(ruleListWords))
	completeFlag(cmd, "session", p.sessionWords)
	completeFlag(cmd, "max-findings", oneOf())
}

func runRepair(ctx context.Context, p *program, args []string) error {
	defer surviveClosedPipes()()
	r, err := newRepairRun(p)
	if err != nil {
		return err
	}
	if err := r.locate(ctx, args); err != nil {
		return err
	}
	if p.config.Output != "" {
		return r.toFile(ctx)
	}
	return r.inPlace(ctx)
}

// checkFlags refuses settings that exclude each other, and unknown words.
func (r *repairRun) checkFlags() error {
	c := r.config
	for _, word := range c.Allow {
		if !slices.Contains(allowed, word) {
			return problem.New(problem.Usage, "", "there is nothing to allow with the name %q: use %s", word, strings.Join(allowed, ", "))
		}
	}
	if c.Plan == "" {
		return nil
	}
	for _, other := range []string{"select", "ignore", "session", "allow", "profile", "mode", "plan-out"} {
		if c.Sources[other] == "--"+other {
			return problem.New(problem.Usage, "Make a new plan with --plan-out.", "--plan carries a plan out as it is, so --%s has no place beside it", other)
		}
	}
	return nil
}
