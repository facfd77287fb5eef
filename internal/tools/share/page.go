package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// book is what all pages of a release have in common.
type book struct {
	version string
	date    time.Time
}

// page is the man page of a command in the language of man(7). It says what the
// help of the command says, in the sections that man-pages(7) knows and in their
// order. The pages that cobra can write lack the names of values and the exit
// status.
func (b book) page(c *cobra.Command) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	var p page
	fmt.Fprintf(&p.Builder, ".TH %s 1 %s %s %s\n", strings.ToUpper(pageName(c)), b.date.Format(time.DateOnly), quote("sessctl "+b.version), quote("User Commands"))
	p.WriteString(".nh\n.ad l\n") // the names of options and pages stay whole
	p.heading("SH", "NAME")
	p.line(escape(pageName(c)) + ` \- ` + inline(c.Short))
	p.heading("SH", "SYNOPSIS")
	p.line(synopsis(c))
	p.heading("SH", "DESCRIPTION")
	description, status := c.Long, ""
	if at := strings.Index(c.Long, "EXIT STATUS\n"); at >= 0 {
		description, status = c.Long[:at], c.Long[at:]
	}
	p.text(description)
	p.commands(c)
	p.options(c)
	p.text(status)
	p.text(more[c.CommandPath()])
	if c.Example != "" {
		p.heading("SH", "EXAMPLES")
		p.verbatim(c.Example)
	}
	p.seeAlso(c)
	return p.String()
}

// synopsis is the line behind Usage with the command in bold and what is to be
// filled in, in italics.
func synopsis(c *cobra.Command) string {
	path := c.CommandPath()
	rest := strings.TrimPrefix(c.UseLine(), path)
	if c.HasAvailableSubCommands() {
		rest = " COMMAND" + rest
	}
	rest = strings.Replace(rest, "[flags]", "[OPTIONS]", 1)
	return bold(path) + regexp.MustCompile(`[A-Z]+`).ReplaceAllStringFunc(escape(rest), italic)
}

// commands lists what is below a command, in the groups of its help.
func (p *page) commands(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	p.heading("SH", "COMMANDS")
	groups := slices.Concat(c.Groups(), []*cobra.Group{{}})
	for _, group := range groups {
		heading := group.Title
		for _, below := range c.Commands() {
			if !below.IsAvailableCommand() || below.GroupID != group.ID {
				continue
			}
			if heading != "" {
				p.heading("SS", strings.TrimSuffix(heading, ":"))
				heading = ""
			}
			p.tagged(bold(below.Name()), below.Short)
		}
	}
}

// options lists the flags of a command, then those of all commands.
func (p *page) options(c *cobra.Command) {
	p.heading("SH", "OPTIONS")
	for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				p.option(f)
			}
		})
	}
}

func (p *page) option(f *pflag.Flag) {
	tag := bold("--" + f.Name)
	if f.Shorthand != "" {
		tag = bold("-"+f.Shorthand) + ", " + tag
	}
	value, usage := pflag.UnquoteUsage(f)
	if value != "" {
		tag += " " + italic(escape(value))
	}
	if !slices.Contains([]string{"", "false", "0", "[]"}, f.DefValue) {
		usage += fmt.Sprintf(" (default %s)", f.DefValue)
	}
	p.tagged(tag, usage)
}

// seeAlso names the command above and those below.
func (p *page) seeAlso(c *cobra.Command) {
	var pages []string
	if c.HasParent() {
		pages = append(pages, bold(pageName(c.Parent()))+"(1)")
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			pages = append(pages, bold(pageName(below))+"(1)")
		}
	}
	p.heading("SH", "SEE ALSO")
	p.WriteString(".nh\n") // a heading of groff's turns hyphens on again
	if len(pages) > 0 {
		p.line(strings.Join(pages, ",\n"))
	}
	p.paragraph()
	p.line("https://github.com/sessctl/sessctl")
}
