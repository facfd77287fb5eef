package document

import (
	"math"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
)

// ShortenedFindings counts the findings of a document that a screen has no room for.
func ShortenedFindings(screen *ui.Screen, doc Document) int {
	l := lines{width: screen.Width, wrap: screen.TextWidth()}
	l.writeBlocks(doc, "")
	return l.shortened
}

// writeFinding prints a line that greps, and what it says.
func (l *lines) writeFinding(f Finding, indent string) {
	head := Text{{Strong, f.Rule, ""}, {Text: " " + f.Name + step}, {Place, f.Place, ""}}
	if f.Severity.Text != "" {
		head = append(Text{f.Severity, {Text: " "}}, head...)
	}
	if f.Note != "" {
		head = append(head, Span{Text: step + f.Note})
	}
	line, most, shortened := indent+head.Styled(), 2, false
	if f.Whole {
		most = math.MaxInt
	}
	if f.Brief {
		most = 1
		message := f.Message.Styled()
		said := ui.Shorten(message, "", l.width-lipgloss.Width(line)-len(step))
		shortened = said != message
		l.out.WriteString(line + step + said + "\n")
	} else {
		l.out.WriteString(line + "\n")
		l.writeParagraph(f.Message, indent+step)
	}
	for _, c := range f.Consequences {
		text, cut := consequenceLines(c.Styled(), ui.Clean(f.Keep), indent+step, l.wrap, most)
		shortened = shortened || cut
		l.out.WriteString(text)
	}
	if shortened {
		l.shortened++
	}
	if f.Known {
		l.out.WriteString(indent + step + "(known: already in the baseline)\n")
	}
}

// consequenceLines is a consequence behind an arrow, on so many lines, but for a word to keep; and
// whether it is cut.
func consequenceLines(text, keep, indent string, width, most int) (said string, isCut bool) {
	const first = "→ "
	rest := indent + step
	width -= len(rest)
	lines := ui.Wrap(first+text, width)
	if isCut = len(lines) > most; isCut {
		lines = lines[:most]
		lines[most-1] = ui.Truncate(lines[most-1]+" …", width)
		cut := strings.Contains(text, keep) && !strings.Contains(strings.Join(lines, " "), keep)
		for room := most*width - lipgloss.Width(first); cut && room > 0; room-- {
			lines = ui.Wrap(first+ui.Shorten(text, keep, room), width)
			cut = len(lines) > most
		}
	}
	lines[0] = indent + lines[0]
	return strings.Join(lines, "\n"+rest) + "\n", isCut
}
