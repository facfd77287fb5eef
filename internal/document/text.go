package document

import (
	"cmp"
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/ui"
)

// Lines prints on a screen. What reads as sentences is wrapped earlier than a wide screen
// ends.
func Lines(screen *ui.Screen) Printer {
	return func(doc Document) error {
		_, err := io.WriteString(screen, OnScreen(screen, doc...))
		return err
	}
}

// OnScreen is a document in the lines of a screen.
func OnScreen(screen *ui.Screen, doc ...Block) string {
	return layoutLines(doc, screen.Width, screen.TextWidth())
}

// UnstyledLines is a document in lines without colour.
func UnstyledLines(doc Document, width int) string { return ansi.Strip(layoutLines(doc, width, width)) }

// Styled is a text on one line of a screen.
func (t Text) Styled() string {
	var b strings.Builder
	for _, s := range t {
		if text := ui.Clean(s.Text); styles[s.Role] == nil || text == "" {
			b.WriteString(text)
		} else {
			b.WriteString(styles[s.Role].Render(text))
		}
	}
	return b.String()
}

var styles = [...]*lipgloss.Style{
	Strong: &ui.Bold, Lead: &ui.Bold, Name: &ui.Bold, Place: &ui.Cyan, Quiet: &ui.Dim, Good: &ui.Green, Info: &ui.Blue, Notice: &ui.Yellow, Bad: &ui.Red,
	Marked: nil,
}

func layoutLines(doc Document, width, wrap int) string {
	l := lines{width: width, wrap: wrap}
	l.writeBlocks(doc, "")
	return l.out.String()
}

type lines struct {
	out         strings.Builder
	width, wrap int // columns of the screen, and of sentences
	shortened   int // findings
}

const step = "  " // of what belongs to something

func (l *lines) writeBlocks(list []Block, indent string) {
	for _, b := range list {
		switch b := b.(type) {
		case Gap:
			l.out.WriteString("\n")
		case Heading:
			l.writeHeading(b, indent)
		case Callout:
			l.writeParagraph(b.Text, indent)
		case Fold:
			l.writeParagraph(b.Title, indent)
			l.writeBlocks(b.Below, indent+step)
		case Facts:
			for _, fact := range b {
				l.writeParagraph(fact, indent+step)
			}
		case Paragraph:
			l.writeParagraph(Text(b), indent)
		case Line:
			l.out.WriteString(indent + Text(b).Styled() + "\n")
		case Quotation:
			l.writeParagraph(Text(b), indent+step+step)
		case List:
			l.writeList(b, indent)
		case Table:
			l.writeTable(b)
		case Finding:
			l.writeFinding(b, cmp.Or(indent, step))
		case Changes:
			l.writeChanges(b, indent+step+step)
		case Source:
			l.writeSource(b, indent)
		case Commands:
			l.writeCommands(b)
		case Diagram, Viewers: // a screen has no room for it
		}
	}
}

func (l *lines) writeParagraph(t Text, indent string) {
	l.out.WriteString(ui.Hang(indent, indent, t.Styled(), l.wrap))
}

func (l *lines) writeHeading(h Heading, indent string) {
	switch {
	case h.Level == 1:
		return
	case h.Short == "":
		l.out.WriteString(indent + h.Text.Styled() + "\n")
		return
	}
	id := ui.Clean(h.Short)
	l.out.WriteString(indent + ui.Bold.Render(id) + step + ui.Truncate(h.Text.Styled(), l.width-lipgloss.Width(indent+id)-len(step)) + "\n")
}

// writeList prints items with their labels in a column of their own. A label is not said
// again.
func (l *lines) writeList(items List, indent string) {
	labels, before := 0, ""
	for _, it := range items {
		labels = max(labels, lipgloss.Width(ui.Clean(it.Label)))
	}
	for _, it := range items {
		first, rest := indent, indent+step
		if labels > 0 {
			label := ui.Clean(it.Label)
			if it.Label == before {
				label = ""
			}
			before = it.Label
			rest = indent + strings.Repeat(" ", labels) + step
			first = indent + ui.Pad(label, labels) + step
		}
		l.writeItem(&it, first, rest)
	}
}

func (l *lines) writeItem(it *Item, first, rest string) {
	words := it.Text.Styled()
	const least = 30 // columns of stored text
	room := max(l.width-lipgloss.Width(first), least)
	switch {
	case it.Said == "" && lipgloss.Width(first+words) <= l.wrap:
		l.out.WriteString(first + words + "\n")
	case it.Said == "":
		l.out.WriteString(ui.Hang(first, rest, words, l.wrap))
	case it.Whole:
		l.out.WriteString(first + words + ":\n")
		l.writeWhole(it.Said, rest)
	default:
		l.out.WriteString(first + ui.Truncate(ui.WithExcerpt(it.Text.String()+":", it.Said, room), room) + "\n")
	}
	if len(it.More) > 0 {
		l.writeParagraph(it.More, rest)
	}
	l.writeBlocks(it.Below, rest)
}

// writeWhole prints stored text line by line.
func (l *lines) writeWhole(text, indent string) {
	const least = 30
	for _, line := range ui.WrapWhole(text, max(l.width-len(indent), least)) {
		l.out.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
}

func (l *lines) writeSource(s Source, indent string) {
	if s.What != "" {
		l.out.WriteString(indent + ui.Dim.Render(ui.Truncate(ui.Clean(s.What), l.width-len(indent))) + "\n")
		indent += step
	}
	l.writeWhole(s.Text, indent)
}

// writeCommands prints commands one below the other, whole, so that they can be copied. The
// reasons stand behind them, or below where that is too wide.
func (l *lines) writeCommands(c Commands) {
	if c.Lead != "" {
		l.out.WriteString(c.Lead + "\n")
	}
	lines := make([]string, len(c.List))
	longest, widest := 0, 0
	for i, n := range c.List {
		lines[i] = ui.Clean(n.Line)
		longest, widest = max(longest, lipgloss.Width(lines[i])), max(widest, lipgloss.Width(n.Why))
	}
	for i, n := range c.List {
		gap := strings.Repeat(" ", longest-lipgloss.Width(lines[i])+2)
		switch {
		case n.Why == "":
			gap = ""
		case 2+longest+2+widest > l.wrap:
			gap = "\n    "
		}
		l.out.WriteString("  " + lines[i] + gap + ui.Dim.Render(n.Why) + "\n")
	}
}
