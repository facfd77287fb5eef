package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
)

func newConfigCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where each comes from",
		Long: `Show every setting with its value and its source. A flag wins over the
environment (--fail-on is SESSCTL_FAIL_ON), which wins over the configuration
file (the key fail-on), which wins over the default.

The file is the one of --config, of SESSCTL_CONFIG, ./.sessctl.yaml, or
$XDG_CONFIG_HOME/sessctl/config.yaml: the first that there is. A setting serves
all commands that have a flag of its name. A format that a command does not have
is passed over. The limits of the isolation rules have no flags: they stand in the
file below isolation, or in the environment (SESSCTL_ISOLATION_MAX_STEPS).

` + exitStatus("shown"),
		Example: `  sessctl config
  SESSCTL_FAIL_ON=warning sessctl config --format json`,
		GroupID: groupOther,
		Args:    atMost(0, ""),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runConfig(cmd, p) },
	}
	addFormatFlag(cmd, "text", "json")
	return cmd
}

func runConfig(cmd *cobra.Command, p *program) error {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return err
	}
	all, err := config.Load(allFlags(cmd), p.getenv, file)
	if err != nil {
		return err
	}
	settings := append(all.Settings(), settingsOfIsolation(all)...)
	if p.config.Format == "json" {
		return machine.PrintConfig(p.out.Plain(), thisTool(), all.File, settings)
	}
	return render.PrintConfig(p.config.Format, p.out, all.File, config.UsualFiles(p.getenv), settings)
}

// allFlags are the flags of this command, and those that other commands have
// besides.
func allFlags(cmd *cobra.Command) *pflag.FlagSet {
	all := pflag.NewFlagSet("all", pflag.ContinueOnError)
	all.AddFlagSet(cmd.Flags())
	for _, c := range cmd.Root().Commands() {
		all.AddFlagSet(c.LocalNonPersistentFlags())
	}
	return all
}
