package render

import (
	"io"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/ui"
)

// diffMarkdown prints a comparison as lists, to be pasted into an issue.
type diffMarkdown struct {
	DiffOptions
	headed bool
}

func (d *diffMarkdown) head(m *markdown) {
	if d.headed || d.Quiet {
		return
	}
	d.headed = true
	m.line("# Differences")
	m.line("")
	m.line("- A: " + code(storeName(d.A.Store, d.Home)) + ", " + escaped(diffStoreFacts(&d.A)))
	m.line("- B: " + code(storeName(d.B.Store, d.Home)) + ", " + escaped(diffStoreFacts(&d.B)))
	m.line("")
}

func (d *diffMarkdown) Tree(tree *diff.Tree) error {
	if d.Quiet {
		return nil
	}
	m := &markdown{full: d.Full}
	d.head(m)
	m.line("## " + escaped(ui.Excerpt(title(tree.Root.Title), excerptColumns)))
	m.line("")
	m.line(code(tree.Root.ID))
	m.line("")
	for _, l := range diffLines(tree, d.Full) {
		p := l.parts(excerptColumns)
		if d.Full {
			p = l.parts(0)
		}
		text := "- **" + changeWord(&l) + "** " + code(p.place) + " " + escaped(p.what)
		if p.note != "" {
			text += ", " + escaped(p.note)
		}
		m.line(text)
		if blocks := l.blocks(); d.Full && len(blocks) > 0 {
			m.below(func() {
				for _, b := range blocks {
					m.block(escaped(b.what), b.text)
				}
			})
		}
	}
	m.line("")
	_, err := io.WriteString(d.Screen.Plain(), m.out.String())
	return err
}

// changeWord says what became of a session, a field or an item.
func changeWord(l *diffLine) string {
	switch {
	case l.item != nil:
		return string(l.item.Change)
	case l.field != nil:
		return string(diff.Changed)
	}
	return string(l.session.Change)
}

func (d *diffMarkdown) Close(end DiffEnd) error {
	m := &markdown{}
	d.head(m)
	m.line(d.tally(&end.Tally))
	_, err := io.WriteString(d.Screen.Plain(), m.out.String())
	return err
}
