package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// KnownKind is a kind of store with the places where it is looked for.
type KnownKind struct {
	Name, Title string
	Stream      bool // can be read from standard input
	Folder      bool // a store is a folder
	Places      []KnownPlace
}

// KnownPlace is such a place.
type KnownPlace struct {
	Path  string
	Found bool
	Store *session.Store // nil when there is none, or it cannot be read
	Error string         // why it cannot be read
}

// Stores prints the kinds and what was found.
func Stores(format string, screen *ui.Screen, home string, kinds []KnownKind) error {
	var doc document.Document
	for i, k := range kinds {
		if i > 0 {
			doc = append(doc, document.Gap{})
		}
		kind := Entry(Span(document.Strong, k.Title), "  --store "+k.Name)
		if len(k.Places) == 0 {
			what := map[bool]string{true: "folder", false: "file"}[k.Folder]
			kind.Below = []document.Block{Say("has no usual place: name the " + what + map[bool]string{true: ", or - for standard input"}[k.Stream])}
		}
		for _, p := range k.Places {
			var facts document.Facts
			if p.Error != "" {
				facts = append(facts, document.Words(ui.Ended(p.Error)))
			}
			if p.Store != nil && p.Store.Versions != "" {
				facts = append(facts, document.Words(p.Store.Versions))
			}
			kind.Below = append(kind.Below, document.Line(document.Words(ui.Tilde(p.Path, home)+"  ", p.summary())), facts)
		}
		doc = append(doc, document.List{kind})
	}
	return document.New(format, screen)(doc)
}

func (p *KnownPlace) summary() document.Text {
	switch {
	case p.Store != nil:
		facts := []string{"schema " + p.Store.Generation, ui.Bytes(p.Store.Bytes)}
		if live := Writer(p.Store); live != "" {
			facts = append(facts, live)
		}
		return document.Words(Span(document.Good, "found"), ", "+strings.Join(facts, ", "))
	case p.Found:
		return document.Words(Span(document.Notice, "a file, but it cannot be read as a store"))
	}
	return document.Words(Span(document.Quiet, "nothing there"))
}
