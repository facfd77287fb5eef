package cmd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sessctl/sessctl/internal/ui"
)

// flagGroups are the groups of flags in the help, in their order. A flag that is in none
// of them is in the last.
var flagGroups = []struct {
	title string
	flags []string
}{
	{"What is read", []string{"store", "session", "by-index", "match", "since", "damaged", "shard", "app", "user", "jobs", "max-memory", "against"}},
	{"What is shown", []string{"model-input", "lanes", "all", "agent", "sort", "limit", "isolation", "branch", "tokens", "visibility", "compare-visibility", "assign-by"}},
	{"What counts", []string{"select", "ignore", "fail-on", "deep", "profile", "as-is", "assume-dead", "live-window", "allow", "baseline", "write-baseline"}},
	{"How it goes on", []string{"every", "poll", "metrics"}},
	{"What is done", []string{"dry-run", "yes", "output", "plan", "plan-out", "redact", "list"}},
	{"How it is printed", nil},
}

// printHelp prints what --help does, on a screen and a half: of the description the first
// paragraph, and the exit codes without their meanings. The rest is in the man page and
// on the pages of docs.
func (p *program) printHelp(cmd *cobra.Command, _ []string) {
	long, status, ours := strings.Cut(cmd.Long, exitTitle)
	if ours {
		long, _, _ = strings.Cut(long, "\n\n")
	}
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	text := strings.TrimSpace(long) + "\n\nUsage: " + use + "\n" + strings.TrimRight(cmd.Example, "\n") + "\n"
	for _, group := range cmd.Groups() {
		text += "\n" + group.Title + "\n"
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && c.IsAvailableCommand() {
				text += fmt.Sprintf("  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	for _, c := range cmd.Commands() {
		if c.GroupID == "" && c.IsAvailableCommand() {
			text += fmt.Sprintf("  %-11s %s\n", c.Name(), c.Short)
		}
	}
	text += p.flagHelp(cmd.LocalNonPersistentFlags()) + "\nEvery command: --color WHEN, --config FILE, -q/--quiet, -h/--help"
	if cmd.Flags().Lookup(noPager) != nil {
		text += ", --" + noPager
	}
	if ours {
		codes := regexp.MustCompile(`(?m)^ +(\d+)  `).FindAllStringSubmatch(status, -1)
		var words []string
		for _, c := range codes {
			words = append(words, c[1])
		}
		text += "\nExit codes: " + strings.Join(words, ", ") + "; docs/exit-codes.md says what they mean."
	}
	_, _ = fmt.Fprintln(cmd.OutOrStdout(), text)
}

// flagHelp lists flags by their groups.
func (p *program) flagHelp(flags *pflag.FlagSet) string {
	const widest = 24
	column := 0
	lists := make([][]*pflag.Flag, len(flagGroups))
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || slices.Contains([]string{"help", "version", noPager}, f.Name) {
			return
		}
		column = max(column, min(widest, len(flagName(f))))
		at := 0
		for at < len(flagGroups)-1 && !slices.Contains(flagGroups[at].flags, f.Name) {
			at++
		}
		lists[at] = append(lists[at], f)
	})
	text := "\n"
	for i, list := range lists {
		if len(list) > 0 {
			text += flagGroups[i].title + ":\n"
		}
		for _, f := range list {
			_, usage := pflag.UnquoteUsage(f)
			if standard := f.DefValue; standard != "" && standard != "false" && standard != "[]" {
				usage += " (default " + standard + ")"
			}
			text += ui.Hang(fmt.Sprintf("  %-*s  ", column, flagName(f)), strings.Repeat(" ", column+4), usage, p.out.TextWidth())
		}
	}
	return strings.TrimRight(text, "\n")
}

// flagName is how a flag is written, with its value.
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, _ := pflag.UnquoteUsage(f)
	return strings.TrimSpace(name + " " + value)
}
