package cmd

import (
	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// completeFlag offers words for a flag; the shell keeps those that fit.
func completeFlag(cmd *cobra.Command, flag string, words func(*cobra.Command, []string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return words(cmd, args), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag was not declared
	}
}

// ruleWords are the ids of all rules with their names.
func ruleWords(*cobra.Command, []string) []string {
	var words []string
	for _, r := range rules.All {
		words = append(words, cobra.CompletionWithDesc(r.ID, r.Name))
	}
	return words
}

// sessionWords are the ids of the sessions in the stores that the arguments
// name. A store that cannot be read offers none.
func (p *program) sessionWords(cmd *cobra.Command, args []string) []string {
	ctx := cmd.Context()
	if p.configure(cmd) != nil {
		return nil
	}
	paths, err := p.storePaths(ctx, args)
	if err != nil {
		return nil
	}
	var words []string
	for _, path := range paths {
		if path == "-" {
			continue // a shell that completes has nothing to pipe
		}
		opened, err := p.open(ctx, path)
		if err != nil {
			continue
		}
		for tree, err := range opened.Trees(ctx) {
			if err != nil {
				break
			}
			words = append(words, cobra.CompletionWithDesc(ui.Clean(tree.Root().ID), ui.Clean(tree.Root().Title)))
		}
		_ = opened.Close()
	}
	return words
}
