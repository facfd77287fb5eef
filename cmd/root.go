package cmd

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/ui"
)

// The groups of commands in the help.
const (
	groupStore  = "store"
	groupRepair = "repair"
	groupOther  = "other"
)

// otherWords are the names that other programs give to what our commands do.
var otherWords = map[string][]string{
	"check":   {"validate", "verify", "lint", "fsck", "scan", "test"},
	"view":    {"show", "cat", "print", "open", "inspect", "get"},
	"ls":      {"list", "sessions"},
	"find":    {"search", "grep"},
	"repair":  {"fix", "heal", "recover", "clean"},
	"undo":    {"restore", "revert", "rollback"},
	"why":     {"doctor", "diagnose"},
	"explain": {"rule", "rules", "describe"},
	"diff":    {"compare"},
	"export":  {"dump"},
	"config":  {"settings"},
	"browse":  {"tui", "ui", "explore"},
	"watch":   {"monitor", "follow", "tail"},
	"stores":  {"where"},
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "sessctl",
		Short: "Check and repair the persisted sessions of AI agents",
		Long: `sessctl is an fsck for the sessions of AI agents. It finds what would break or
mislead the next run, and repairs it when told to, with a backup and a way back.

` + exitStatus("nothing found at or above --fail-on", append(changing, exitFindings)...),
		Example: `  sessctl why                       why the newest session does not resume
  sessctl why -                     paste the error, then press Ctrl-D
  sessctl repair session.db         see the plan, then say yes or no
  sessctl check session.db          everything that is wrong with a store`,
		Args:          p.knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       currentBuild().String(),

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE:          func(cmd *cobra.Command, _ []string) error { return p.loadConfig(cmd) },
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpFunc(p.printHelp)
	root.PersistentFlags().String("config", "", "read this configuration `FILE`")
	when := []string{"auto", "always", "never"}
	config.AddChoice(root.PersistentFlags(), "color", when[0], when, "when to use colour")
	completeFlag(root, "color", oneOf(when...))
	root.PersistentFlags().BoolP("quiet", "q", false, "print no notes, hints or progress")

	root.AddGroup(&cobra.Group{ID: groupRepair, Title: "Make a session resume:"}, &cobra.Group{ID: groupStore, Title: "Look at stores:"}, &cobra.Group{ID: groupOther, Title: "Other:"})
	root.AddCommand(
		newCheckCommand(p), newBrowseCommand(p), newViewCommand(p), newLsCommand(p), newFindCommand(p), newStoresCommand(p), newExportCommand(p), newReplayCommand(p), newDiffCommand(p),
		newWhyCommand(p), newRepairCommand(p), newUndoCommand(p), newExplainCommand(p), newConfigCommand(p), newMCPCommand(p), newWatchCommand(p), newSchemaCommand(p), newVersionCommand(p),
	)
	for _, c := range root.Commands() {
		p.completeFlags(c)
		c.SuggestFor = otherWords[c.Name()]
	}
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Long += "\n" + exitStatus("printed")
		}
	}
	return root
}

// loadConfig reads the settings before a command runs.
func (p *program) loadConfig(cmd *cobra.Command) error {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return err
	}
	if p.config, err = config.Load(cmd.Flags(), p.getenv, file); err != nil {
		return err
	}
	p.setScreens(ui.ColorMode(p.config.Color))
	for _, said := range p.passwords {
		p.printNote("%s", said)
	}
	for _, said := range config.MisspelledVariables(os.Environ(), p.getenv) {
		p.printNote("%s", said)
	}
	if in, ok := p.stdin.(*interruptible); ok && cmd.Flags().Lookup(noPager) != nil && !p.config.NoPager && p.config.Format == "text" {
		p.pager = p.out.StartPager(p.err, in.r, p.getenv)
	}
	return nil
}

const noPager = "no-pager"

// addPagerFlag lets long output of a command go through a pager.
func addPagerFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(noPager, false, "print output that is longer than the screen without a pager")
}

// knownCommand refuses a word that is no command, and says which one may have
// been meant.
func (p *program) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	next := "`sessctl --help` lists the commands."
	similar := slices.Compact(root.SuggestionsFor(args[0]))
	if i := slices.IndexFunc(root.Commands(), func(c *cobra.Command) bool { return slices.Contains(c.SuggestFor, args[0]) }); i >= 0 {
		similar = []string{root.Commands()[i].Name()} // another word for it, whatever is spelled like it
	}
	if len(similar) > 0 {
		next = "Did you mean `sessctl " + strings.Join(similar, "` or `sessctl ") + "`? " + next
	}
	return problem.New(problem.Usage, next, "there is no command %q", args[0])
}

// atMost accepts up to n arguments; what they are is for the message.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		takes := "takes " + what + " at most"
		if n == 0 {
			takes = "takes no arguments"
		}
		next := "See `" + cmd.CommandPath() + " --help`."
		if cmd.Flags().Lookup("session") != nil {
			next = "Name a session with --session. " + next
		}
		return problem.New(problem.Usage, next, "`%s` %s, and there are %d: %s", cmd.CommandPath(), takes, len(args), strings.Join(args, " "))
	}
}

// CommandTree is the command line with all commands and flags, for what is made of it
// besides a run: man pages and completions. It has no streams and no
// environment, so that it is the same on every machine.
func CommandTree() *cobra.Command {
	p := &program{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		getenv: func(string) string { return "" },
	}
	p.setScreens(ui.ColorNever)
	return newRootCommand(p)
}
