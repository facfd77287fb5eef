package render

import (
	"io"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// diffText prints for people: the same on a terminal and in a pipe, but for colour.
type diffText struct {
	DiffOptions
	headed bool
}

// head names the stores, once.
func (d *diffText) head(out *strings.Builder) {
	if d.headed || d.Quiet {
		return
	}
	d.headed = true
	for _, s := range []struct {
		name  string
		store *DiffStore
	}{{"A", &d.A}, {"B", &d.B}} {
		out.WriteString(s.name + "  " + ui.Bold.Render(storeName(s.store.Store, d.Home)) + "\n")
		out.WriteString(ui.Hang("   ", "   ", diffStoreFacts(s.store), d.Screen.TextWidth()))
	}
	out.WriteString("\n")
}

func (d *diffText) Tree(tree *diff.Tree) error {
	if d.Quiet {
		return nil
	}
	var out strings.Builder
	d.head(&out)
	id, width := ui.Clean(rules.Short(tree.Root.ID)), d.Screen.Width
	out.WriteString(ui.Bold.Render(id) + "  " + ui.Truncate(title(tree.Root.Title), width-lipgloss.Width(id)-2) + "\n")
	lines := diffLines(tree, d.Full)
	for i, text := range alignedLines(len(lines), !d.Full, width, func(i, columns int) stepLine { return lines[i].parts(columns) }) {
		out.WriteString(marked(text, &lines[i]))
		if d.Full {
			d.texts(&out, lines[i].blocks())
		}
	}
	out.WriteString("\n")
	_, err := io.WriteString(d.Screen, out.String())
	return err
}

// marked gives a line the colour of its change.
func marked(text string, l *diffLine) string {
	change := l.session.Change
	if l.item != nil {
		change = l.item.Change
	}
	style, coloured := map[diff.Change]lipgloss.Style{diff.Added: ui.Green, diff.Gone: ui.Red, diff.Moved: ui.Cyan}[change]
	if !coloured || l.field != nil {
		return text
	}
	return style.Render(strings.TrimSuffix(text, "\n")) + "\n"
}

// texts prints whole texts below their line.
func (d *diffText) texts(out *strings.Builder, blocks []saidBlock) {
	for _, b := range blocks {
		out.WriteString("        " + ui.Dim.Render(ui.Truncate(ui.Clean(b.what), d.Screen.Width-8)) + "\n")
		for _, l := range wrapped(b.text, d.Screen.Width-10) {
			out.WriteString(strings.TrimRight("          "+l.content, " ") + "\n")
		}
	}
}

func (d *diffText) Close(end DiffEnd) error {
	var out strings.Builder
	d.head(&out)
	out.WriteString(ui.Hang("", "", d.tally(&end.Tally), d.Screen.TextWidth()))
	if !d.Quiet {
		out.WriteString(nextLines(end.Next, d.Screen.TextWidth()))
	}
	_, err := io.WriteString(d.Screen, out.String())
	return err
}
