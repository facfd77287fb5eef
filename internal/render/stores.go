package render

import (
	"io"
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

// StoresText prints the kinds and what was found.
func StoresText(screen *ui.Screen, home string, kinds []KnownKind) error {
	var doc document.Document
	for i, k := range kinds {
		if i > 0 {
			doc = append(doc, document.Gap{})
		}
		kind := entry(span(document.Strong, k.Title), "  --store "+k.Name)
		if len(k.Places) == 0 {
			what := map[bool]string{true: "folder", false: "file"}[k.Folder]
			kind.Below = []document.Block{say("has no usual place: name the " + what + map[bool]string{true: ", or - for standard input"}[k.Stream])}
		}
		for _, p := range k.Places {
			var facts document.Facts
			if p.Error != "" {
				facts = append(facts, words(ui.Ended(p.Error)))
			}
			if p.Store != nil && p.Store.Versions != "" {
				facts = append(facts, words(p.Store.Versions))
			}
			kind.Below = append(kind.Below, document.Line(words(ui.Tilde(p.Path, home)+"  ", p.summary())), facts)
		}
		doc = append(doc, document.List{kind})
	}
	return document.Lines(screen)(doc)
}

func (p *KnownPlace) summary() document.Text {
	switch {
	case p.Store != nil:
		facts := []string{"schema " + p.Store.Generation, ui.Bytes(p.Store.Bytes)}
		if live := writer(p.Store); live != "" {
			facts = append(facts, live)
		}
		return words(span(document.Good, "found"), ", "+strings.Join(facts, ", "))
	case p.Found:
		return words(span(document.Notice, "a file, but it cannot be read as a store"))
	}
	return words(span(document.Quiet, "nothing there"))
}

type storesDocument struct {
	Schema string     `json:"schema"`
	Tool   Tool       `json:"tool"`
	Kinds  []jsonKind `json:"kinds"`
}

type jsonKind struct {
	Kind   string         `json:"kind"`
	Title  string         `json:"title"`
	Places []jsonLocation `json:"places"`
}

type jsonLocation struct {
	Path       string `json:"path"`
	Found      bool   `json:"found"`
	Generation string `json:"generation,omitzero"`
	Bytes      int64  `json:"bytes,omitzero"`
	Writer     string `json:"writer,omitzero"`
	Error      string `json:"error,omitzero"`
}

// StoresJSON prints the same as a document.
func StoresJSON(w io.Writer, tool Tool, kinds []KnownKind) error {
	list := make([]jsonKind, len(kinds))
	for i, k := range kinds {
		list[i] = jsonKind{Kind: k.Name, Title: k.Title}
		for _, p := range k.Places {
			at := jsonLocation{Path: p.Path, Found: p.Found, Error: p.Error}
			if p.Store != nil {
				at.Generation, at.Bytes, at.Writer = p.Store.Generation, p.Store.Bytes, p.Store.Writer.String()
			}
			list[i].Places = append(list[i].Places, at)
		}
	}
	return JSON(w, storesDocument{"sessctl.stores/1", tool, list})
}
