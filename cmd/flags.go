package cmd

import (
	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/config"
)

// addChoice declares a flag that takes one of a few words and completes them.
func addChoice(cmd *cobra.Command, name, standard string, values []string, usage string) {
	config.AddChoice(cmd.Flags(), name, standard, values, usage)
	completeFlag(cmd, name, func(*cobra.Command, []string) []string { return values })
}

// addFormatFlag declares --format; the first format is the default.
func addFormatFlag(cmd *cobra.Command, formats ...string) {
	addChoice(cmd, "format", formats[0], formats, "how to print it")
}
