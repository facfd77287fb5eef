package views

import (
	"fmt"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// visibilityPage is who could see what, as a table.
func visibilityPage(v *view.View, full bool) document.Document {
	asked := v.Visibility
	doc := document.Document{render.Say(ui.AsSentence(modelWords(v)))}
	if asked.Single {
		doc = document.Document{render.Say("Viewer ", asked.Viewers[0].Name(), ", ", modelWords(v))}
	}
	doc = append(doc, render.SayEach(asked.Remarks(v.Store))...)
	if len(asked.Holders) > 0 {
		return append(doc, holderTable(asked), render.Say(visibilityCount(asked)))
	}
	events := newVisibilityTable(asked)
	switch {
	case asked.Single:
	case asked.IsCrowd():
		doc = append(doc, events.crowdBlocks()...)
	default:
		doc = append(doc, viewerList(events))
	}
	table := document.Table{Columns: lists.MapEach(append(events.columnNames(), "text"), func(name string) document.Column {
		return document.Column{Name: name}
	})}
	for i := range asked.Events {
		e := &asked.Events[i]
		about := ui.Excerpt(e.About(), document.Columns)
		if full {
			about = e.About()
		}
		table.Rows = append(table.Rows, lists.MapEach(append(events.eventCells(e), about), func(cell string) document.Text { return document.Words(cell) }))
	}
	return append(doc, table, render.Say(visibilityCount(asked)))
}

// viewerList says which viewer a column stands for, and what the signs mean.
func viewerList(table *visibilityTable) document.List {
	var list document.List
	for i := range table.v.Viewers {
		viewer := &table.v.Viewers[i]
		list = append(list, document.Item{
			Label: viewerLetters(i), Text: document.Words(render.Span(document.Code, viewer.Name()), " ", viewer.Agent, ": ", seesCount(table.v, viewer)),
		})
	}
	return append(list, render.Entry(strings.Join(table.signLegend(), ", ")))
}

// visibilityDiagram is a sequence diagram: branches are its participants, and an event is
// an arrow from its branch to every viewer that sees it. For a single viewer there are
// also arrows that are lost, with the reason.
func visibilityDiagram(v *view.View, full bool) document.Diagram {
	d := diagram{v: v.Visibility, shown: v.Shown.Session, names: map[string]string{}, full: full}
	for i := range d.v.Events {
		d.senderOf(&d.v.Events[i]) // participants stand in the order in which they speak
	}
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		d.addParticipant(viewerPlace(viewer), viewer.Name())
	}
	for i := range d.v.Events {
		d.drawEvent(&d.v.Events[i])
	}
	return d.steps
}

type diagram struct {
	v     *view.Visibility
	shown *session.Session
	full  bool
	names map[string]string // of participants, by what they are
	steps document.Diagram
}

// addParticipant is the short name of a place in the diagram.
func (d *diagram) addParticipant(place, label string) string {
	if d.names[place] == "" {
		d.names[place] = fmt.Sprintf("p%d", len(d.names))
		d.steps = append(d.steps, document.Step{Kind: document.Enter, From: d.names[place], Lines: []string{label}})
	}
	return d.names[place]
}

func viewerPlace(v *view.Viewer) string {
	return v.Session.ID + "\x00" + v.Branch + "\x00" + v.Scope + "\x00" + v.Key
}

// senderOf is the participant that an event comes from: the viewer that spoke, else its
// branch, else the user.
func (d *diagram) senderOf(e *view.Event) string {
	it := e.Stored()
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		if it.Role != session.User && viewer.Session == e.Session && viewer.Branch == it.Branch() &&
			viewer.Scope == it.Scope() && (viewer.Agent == it.Agent() || viewer.Agent == "") {
			return d.addParticipant(viewerPlace(viewer), viewer.Name())
		}
	}
	label := it.Branch()
	if label == "" {
		label = e.Who()
	}
	if e.Session != d.shown {
		label += ", sub-session"
	}
	return d.addParticipant(e.Session.ID+"\x00"+label, view.BranchLabel(label))
}

const diagramColumns = 40

// drawEvent prints the arrows of an event.
func (d *diagram) drawEvent(e *view.Event) {
	from := d.senderOf(e)
	width := diagramColumns
	if d.full {
		width = 4 * diagramColumns
	}
	text := fmt.Sprintf("%d %s", e.Item, strings.TrimSpace(e.Who()+" "+ui.Excerpt(e.About(), width)))
	for i := range d.v.Viewers {
		viewer := &d.v.Viewers[i]
		cell, step := d.v.Cell(e, i, 0), document.Step{Kind: document.Send, From: from, To: d.names[viewerPlace(viewer)], Lines: []string{text}}
		switch {
		case !cell.Visible && !d.v.Single:
			continue
		case !cell.Visible:
			step.Kind, step.Lines[0] = document.Lost, text+" (hidden, "+cell.Words(viewer, e)+")"
		}
		d.steps = append(d.steps, step)
	}
}
