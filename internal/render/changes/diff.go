package changes

import (
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
)

// Diff makes the writer of a format: text, json or markdown.
func Diff(format string, opts render.DiffOptions) render.DiffWriter {
	if format == "json" {
		return machine.Diff(opts)
	}
	return &diffPage{DiffOptions: opts, print: document.New(format, opts.Screen)}
}

// diffPage prints for people, tree by tree.
type diffPage struct {
	render.DiffOptions
	print  document.Printer
	headed bool
}

// head names the stores, once.
func (d *diffPage) head() document.Document {
	if d.headed || d.Quiet {
		return nil
	}
	d.headed = true
	var stores document.List
	for _, s := range []struct {
		label string
		store *render.DiffStore
	}{{"A", &d.A}, {"B", &d.B}} {
		name := document.Span{Role: document.Name, Text: render.StoreName(s.store.Store, d.Home)}
		stores = append(stores, document.Item{Label: s.label, Text: document.Text{name}, More: document.Words(diffStoreFacts(s.store))})
	}
	return document.Document{document.Heading{Level: 1, Text: document.Words("Differences")}, stores, document.Gap{}}
}

func (d *diffPage) Tree(tree *diff.Tree) error {
	if d.Quiet {
		return nil
	}
	return d.print(append(d.head(), render.SessionHeading(tree.Root.ID, tree.Root.Title), diffChanges(tree, d.Full), document.Gap{}))
}

func (d *diffPage) Close(end render.DiffEnd) error {
	doc := append(d.head(), document.Paragraph(document.Words(tally(&d.DiffOptions, &end.Tally))))
	if !d.Quiet {
		doc = append(doc, document.Commands{List: end.Next})
	}
	return d.print(doc)
}
