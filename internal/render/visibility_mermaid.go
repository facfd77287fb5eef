package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibilityMermaid prints a sequence diagram: branches are its participants, and
// an event is an arrow from its branch to every viewer that sees it. For a single
// viewer there are also arrows that end in a cross, with the reason.
func visibilityMermaid(v *view.View, opts ViewOptions) error {
	d := diagram{v: v.Visibility, shown: v.Shown.Session, names: map[string]string{}, full: opts.Full}
	for i := range d.v.Events {
		d.from(&d.v.Events[i]) // participants stand in the order in which they speak
	}
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		d.participant(viewerPlace(viewer), viewer.Name())
	}
	for i := range d.v.Events {
		d.event(&d.v.Events[i])
	}
	_, err := io.WriteString(opts.Screen.Plain(), "sequenceDiagram\n"+d.head.String()+d.body.String())
	return err
}

type diagram struct {
	v     *view.Visibility
	shown *session.Session
	full  bool
	names map[string]string // of participants, by what they are
	head  strings.Builder
	body  strings.Builder
}

// participant is the short name of a place in the diagram.
func (d *diagram) participant(place, label string) string {
	if d.names[place] == "" {
		d.names[place] = fmt.Sprintf("p%d", len(d.names))
		fmt.Fprintf(&d.head, "    participant %s as %s\n", d.names[place], mermaidText(participantName(label)))
	}
	return d.names[place]
}

// participantName is a label as a name in a diagram: the end of a long one, and in
// quotes what would be no name.
func participantName(label string) string {
	if strings.TrimSpace(label) == "" {
		return strconv.Quote(label)
	}
	return ui.Tail(ui.Clean(label), 2*diagramColumns)
}

func viewerPlace(v *view.Viewer) string {
	return v.Session.ID + "\x00" + v.Branch + "\x00" + v.Scope + "\x00" + v.Key
}

// from is the participant that an event comes from: the viewer that spoke, else its
// branch, else the user.
func (d *diagram) from(e *view.Event) string {
	it := e.Stored()
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		if it.Role != session.User && viewer.Session == e.Session && viewer.Branch == it.Branch &&
			viewer.Scope == it.Scope && (viewer.Agent == it.Agent || viewer.Agent == "") {
			return d.participant(viewerPlace(viewer), viewer.Name())
		}
	}
	label := it.Branch
	if label == "" {
		label = e.Who()
	}
	if e.Session != d.shown {
		label += ", sub-session"
	}
	return d.participant(e.Session.ID+"\x00"+label, view.Label(label))
}

const diagramColumns = 40

// event prints the arrows of an event.
func (d *diagram) event(e *view.Event) {
	from := d.from(e)
	width := diagramColumns
	if d.full {
		width = 4 * diagramColumns
	}
	text := fmt.Sprintf("%d %s", e.Item, strings.TrimSpace(e.Who()+" "+ui.Excerpt(e.About(), width)))
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		cell, arrow, words := d.v.Cell(e, i, 0), "->>", text
		switch {
		case !cell.Visible && !d.v.Single:
			continue
		case !cell.Visible:
			arrow = "--x"
			words += " (hidden, " + cell.Words(viewer, e) + ")"
		}
		fmt.Fprintf(&d.body, "    %s%s%s: %s\n", from, arrow, d.names[viewerPlace(viewer)], mermaidText(words))
	}
}

// mermaidText is text that a diagram shows as it is: what may mean something to
// Mermaid becomes the number of its character, as does the word that ends a block.
func mermaidText(text string) string {
	var b strings.Builder
	for i, word := range strings.Split(ui.Clean(text), " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		for n, r := range word {
			plain := unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".,_/()…–", r)
			if !plain || n == 0 && strings.EqualFold(word, "end") {
				fmt.Fprintf(&b, "#%d;", r)
				continue
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
