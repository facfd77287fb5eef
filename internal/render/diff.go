package render

import (
	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// DiffWriter prints a comparison of two stores.
type DiffWriter interface {
	// Tree prints a session tree that differs. It keeps none of its texts.
	Tree(tree *diff.Tree) error
	Close(end DiffEnd) error
}

// DiffEnd is what is known when everything was compared.
type DiffEnd struct {
	Tally    diff.Tally
	ExitCode int
	Next     []Command // what to type next
}

// DiffStore is one of the stores.
type DiffStore struct {
	*session.Store
	Trees   int // session trees in it
	Orphans int // records of no session, where these are compared
	// Incomplete is the reason why not all of it was compared, "" if it was.
	Incomplete string
}

// DiffOptions say how a comparison is printed.
type DiffOptions struct {
	Screen *ui.Screen
	Tool   Tool
	Home   string // the folder that ~ stands for
	Quiet  bool   // in text and markdown: only whether the stores differ
	Full   bool   // whole texts, and every item of added and gone sessions
	A, B   DiffStore
}

// Diff makes the writer of a format: text, json or markdown.
func Diff(format string, opts DiffOptions) DiffWriter {
	if format == "json" {
		return &diffJSON{DiffOptions: opts, sessions: []diffSession{}}
	}
	return &diffPage{DiffOptions: opts, print: document.New(format, opts.Screen)}
}

// diffPage prints for people, tree by tree.
type diffPage struct {
	DiffOptions
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
		store *DiffStore
	}{{"A", &d.A}, {"B", &d.B}} {
		name := document.Span{Role: document.Name, Text: storeName(s.store.Store, d.Home)}
		stores = append(stores, document.Item{Label: s.label, Text: document.Text{name}, More: document.Words(diffStoreFacts(s.store))})
	}
	return document.Document{document.Heading{Level: 1, Text: document.Words("Differences")}, stores, document.Gap{}}
}

func (d *diffPage) Tree(tree *diff.Tree) error {
	if d.Quiet {
		return nil
	}
	return d.print(append(d.head(), sessionHeading(tree.Root.ID, tree.Root.Title), diffChanges(tree, d.Full), document.Gap{}))
}

func (d *diffPage) Close(end DiffEnd) error {
	doc := append(d.head(), document.Paragraph(document.Words(d.tally(&end.Tally))))
	if !d.Quiet {
		doc = append(doc, document.Commands{List: end.Next})
	}
	return d.print(doc)
}
