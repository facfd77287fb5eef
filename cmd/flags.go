package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
)

// addChoice declares a flag that takes one of a few words and completes them.
func addChoice(cmd *cobra.Command, name, standard string, values []string, usage string) {
	config.AddChoice(cmd.Flags(), name, standard, values, usage)
	completeFlag(cmd, name, oneOf(values...))
}

// addFormatFlag declares --format; the first format is the default.
func addFormatFlag(cmd *cobra.Command, formats ...string) {
	addChoice(cmd, "format", formats[0], formats, "how to print it")
}

// addFindingFlags declares which findings count and are printed.
func addFindingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, "fail-on", "error", []string{"error", "warning", "info", "never"}, "the lowest severity that makes the exit code 1")
	flags.StringSlice("select", nil, "run only these `RULES`: ids, names, or beginnings of ids (SC7)")
	flags.StringSlice("ignore", nil, "leave these `RULES` out")
	flags.Uint("max-findings", 100, "where people read them, show at most `N` findings of one rule, 0 for all")
	completeFlag(cmd, "select", listOf(ruleListWords))
	completeFlag(cmd, "ignore", listOf(ruleListWords))
	completeFlag(cmd, "max-findings", oneOf())
}

// selectedRules are those that --select and --ignore leave.
func (p *program) selectedRules() ([]*rules.Rule, error) {
	wanted := p.config.Select
	if len(wanted) == 0 && p.config.Isolation.Enabled {
		wanted = []string{"SC"} // the isolation rules with all others
	}
	selected, err := catalogue.Select(wanted, p.config.Ignore)
	if err != nil {
		return nil, problem.New(problem.Usage, "`sessctl explain` lists the rules.", "%v", err)
	}
	return selected, nil
}

// withTexts reports whether texts are loaded for the rules that find more with them:
// where they were chosen, by name or by the configuration.
func (p *program) withTexts(selected []*rules.Rule) bool {
	chosen := len(p.config.Select) > 0 || p.config.Isolation.Enabled
	return chosen && slices.ContainsFunc(selected, func(r *rules.Rule) bool { return r.Bodies })
}
