package main

import (
	"regexp"
	"strings"
)

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
