package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is the man page of a command: its help, in the sections that man-pages(7) knows and
// in their order. (The pages that cobra writes lack the names of values and the exit status.)
func manPage(c *cobra.Command, version string, date time.Time) []byte {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var p strings.Builder
	say := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&p, "# %s\n\n%s\n\n", title, text)
		}
	}
	fmt.Fprintf(&p, "%% %q \"1\" %q %q \"User Commands\"\n", strings.ToUpper(pageName(c)), date.Format(time.DateOnly), "sessctl "+version)
	say("NAME", escapeMarkdown(pageName(c)+` - `+c.Short))
	say("SYNOPSIS", "**"+escapeMarkdown(c.UseLine())+"**")
	description, status, _ := strings.Cut(c.Long, "EXIT STATUS\n")
	say("DESCRIPTION", helpMarkdown(description))
	say("COMMANDS", listCommands(c))
	say("OPTIONS", listOptions(c))
	say("EXIT STATUS", helpMarkdown(status))
	p.WriteString(helpMarkdown(more[c.CommandPath()]))
	if c.Example != "" {
		say("EXAMPLES", "```\n"+strings.ReplaceAll(strings.TrimSpace(c.Example), "\n  ", "\n")+"\n```")
	}
	say("SEE ALSO", seeAlso(c))
	head, page, _ := strings.Cut(string(md2man.Render([]byte(p.String()))), ".SH")
	// What is copied from a page must work: no hyphen or quote becomes a typographic one.
	return []byte(head + ".SH" + strings.NewReplacer(`\-`, `\-`, "-", `\-`, "'", `\(aq`, "~", `\(ti`, "^", `\(ha`).Replace(page))
}

// listCommands lists the commands below one, in the groups of its help.
func listCommands(c *cobra.Command) string {
	var list strings.Builder
	for _, group := range slices.Concat(c.Groups(), []*cobra.Group{{}}) {
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() && below.GroupID == group.ID {
				fmt.Fprintf(&list, "**%s**\n:   %s\n\n", below.Name(), escapeMarkdown(below.Short))
			}
		}
	}
	return list.String()
}

// listOptions lists the flags of a command, then those of all commands.
func listOptions(c *cobra.Command) string {
	var list strings.Builder
	for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			tag := "**--" + f.Name + "**"
			if f.Shorthand != "" {
				tag = "**-" + f.Shorthand + "**, " + tag
			}
			value, usage := pflag.UnquoteUsage(f)
			if value != "" {
				tag += " *" + escapeMarkdown(value) + "*"
			}
			if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) {
				usage += " (default " + f.DefValue + ")"
			}
			fmt.Fprintf(&list, "%s\n:   %s\n\n", tag, escapeMarkdown(usage))
		})
	}
	return list.String()
}

// seeAlso names the command above and those below.
func seeAlso(c *cobra.Command) string {
	var pages []string
	for _, other := range append(c.Commands(), cmp.Or(c.Parent(), c)) {
		if other != c && other.IsAvailableCommand() || other == c.Parent() && c.HasParent() {
			pages = append(pages, "**"+pageName(other)+"**(1)")
		}
	}
	return strings.Join(append(pages, "https://github.com/sessctl/sessctl"), ", ")
}

var (
	section = regexp.MustCompile(`(?m)^([A-Z]{2}[A-Z ]*)$`)
	entry   = regexp.MustCompile(`(?m)^ {2,}(\S+(?: \S+)*) {2,}(.*)$`)
)

// helpMarkdown is long help as Markdown: a line of capitals is a heading, one with two columns is an
// entry of a list, and others that are indented go on with the entry before them.
func helpMarkdown(help string) string {
	help = section.ReplaceAllString(escapeMarkdown(help), "# $1\n")
	return entry.ReplaceAllString(help, "\n**$1**\n:   $2")
}

// escapeMarkdown keeps what people type from being taken for Markdown, save for code.
func escapeMarkdown(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`).Replace(text)
}

// more are sections of pages that the help of a command has no room for, in the
// form of that help.
var more = map[string]string{
	"sessctl": `ENVIRONMENT
  SESSCTL_OPTION  the value of --option, in every command that has it: the hyphens of
    its name become underscores. --fail-on is SESSCTL_FAIL_ON. A list is parted by
    commas.
  XDG_CONFIG_HOME  where the configuration file is sought; $HOME/.config if not set
  NO_COLOR  if set, no colour is used
  CLICOLOR_FORCE  if set to anything but 0, colour is used where standard output is no
    terminal, too
  COLUMNS  the width of the text; that of the terminal if not set, and 80 elsewhere
  TMPDIR  where a store is copied to that cannot be read in its place without a trace

FILES
  .sessctl.yaml  settings of a project, in the folder where sessctl is started
  ~/.config/sessctl/config.yaml  settings of a user; read where the project has none
  STORE.sessctl-TIME  a store as it was before a repair, beside it
  STORE.sessctl-TIME.receipt.json  what a repair did, and what it took out of the store`,
}
