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

// page is a text in the language of man(7) that grows.
type page struct {
	strings.Builder
	headed bool // nothing stands below the last heading yet
}

// escapes keep characters from being taken for commands, and from being printed
// as typographic ones: what is copied from a page must work.
var escapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `~`, `\(ti`, `^`, `\(ha`)

func escape(text string) string { return escapes.Replace(text) }
func bold(text string) string   { return `\fB` + escape(text) + `\fR` }

// italic takes text that is escaped.
func italic(text string) string { return `\fI` + text + `\fR` }

// typed is what people type: `code`, --option, NAME_OF_A_VARIABLE.
var typed = regexp.MustCompile("`[^`]+`" + `|--?\b[a-z][a-z-]*\b|\b[A-Z]+_[A-Z_]*[A-Z]\b`)

// inline escapes prose and sets in bold what is typed.
func inline(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range typed.FindAllStringIndex(text, -1) {
		if inWord := at[0] > 0 && !strings.ContainsRune(" (\n", rune(text[at[0]-1])); inWord {
			continue // the hyphen of a word
		}
		out.WriteString(escape(text[end:at[0]]))
		out.WriteString(bold(strings.Trim(text[at[0]:at[1]], "`")))
		end = at[1]
	}
	return out.String() + escape(text[end:])
}

// heading opens a section (SH) or a part of one (SS).
func (p *page) heading(request, title string) {
	p.WriteString("." + request + " " + quote(title) + "\n")
	p.headed = true
}

// quote makes one argument of a text.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\e`, `"`, `\(dq`).Replace(text) + `"`
}

// paragraph opens one. The first of a section is open already.
func (p *page) paragraph() {
	if !p.headed {
		p.WriteString(".PP\n")
	}
}

// line writes text that is escaped. A dot at its beginning is no command.
func (p *page) line(text string) {
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	p.WriteString(text + "\n")
	p.headed = false
}

// tagged writes an entry of a list: the tag is escaped, the text is not.
func (p *page) tagged(tag, text string) {
	p.WriteString(".TP\n")
	p.line(tag)
	p.line(inline(text))
}

// verbatim writes lines as they stand, without the space before them.
func (p *page) verbatim(text string) {
	p.paragraph()
	p.WriteString(".RS 2\n.EX\n")
	for line := range strings.Lines(text) {
		p.line(escape(strings.TrimSpace(line)))
	}
	p.WriteString(".EE\n.RE\n")
}

var (
	section = regexp.MustCompile(`^[A-Z]{2}[A-Z ]*$`)
	entry   = regexp.MustCompile(`^ {2,}(\S+(?: \S+)*) {2,}(.*)$`)
)

// text writes the long help of a command. Parts are parted by empty lines. A line
// of capitals opens a section, one with two columns is an entry of a list, others
// that are indented stand as they are.
func (p *page) text(help string) {
	for part := range strings.SplitSeq(strings.Trim(help, "\n"), "\n\n") {
		first, rest, _ := strings.Cut(part, "\n")
		switch {
		case part == "":
		case section.MatchString(first):
			p.heading("SH", first)
			p.text(rest)
		case strings.HasPrefix(first, "#"):
			p.heading("SS", strings.Trim(first, "#: "))
			p.text(rest)
		case strings.HasPrefix(first, "\t"):
			p.verbatim(part)
		case entry.MatchString(first):
			p.entries(part)
		default:
			p.paragraph()
			for line := range strings.Lines(part) {
				p.line(inline(strings.TrimRight(line, "\n")))
			}
		}
	}
}

// entries writes a list of two columns. A line without the first goes on with the
// entry before it.
func (p *page) entries(part string) {
	for line := range strings.Lines(part) {
		if m := entry.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			p.tagged(bold(m[1]), m[2])
			continue
		}
		p.line(inline(strings.TrimSpace(line)))
	}
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
