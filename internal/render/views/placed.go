package views

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// Line is a printed line with what it is about.
type Line struct {
	Text string
	At   session.Place // no session where it is about no item
	Row  *view.Row     // nil where only the place is known
}

// Lines are a view as PrintView prints it as text, without what it says of the whole session,
// for a screen in which a cursor moves.
func Lines(v *view.View, opts Options) []Line {
	t := &viewText{v: v, opts: opts, width: opts.Screen.Width, places: []placed{{}}}
	switch {
	case v.Visibility != nil:
		t.printBlocks(render.Say(t.visibilityHead()))
		t.printVisibility()
	case v.Borders != nil:
		t.printBlocks(borderBlocks(v, opts.Full)...)
	case v.Lanes != nil:
		t.printLanes()
	case v.Request != nil:
		t.printBlocks(render.Say(v.Request.Head()))
		t.printRequest()
	default:
		t.markPlace(v.Shown.Session, -1, nil)
		t.printRemarks(v.Shown.Mark(), "", v.Shown.Notes)
		t.printRows(v.Shown, measureColumns(v.Shown, t.width, 0, ""))
	}
	return t.placedLines()
}

// placed says what is printed from an offset on.
type placed struct {
	from int
	at   session.Place
	row  *view.Row
}

// markPlace notes what the next lines are about, where somebody asks for that.
func (t *viewText) markPlace(in *session.Session, item int, row *view.Row) {
	if t.places == nil {
		return
	}
	next := placed{from: t.out.Len(), row: row}
	if in != nil {
		next.at = session.Place{Session: in.ID, Item: item}
	}
	t.places = append(t.places, next)
}

func (t *viewText) placedLines() []Line {
	var list []Line
	at, offset := 0, 0
	for text := range strings.Lines(t.out.String()) {
		for at+1 < len(t.places) && t.places[at+1].from <= offset {
			at++
		}
		offset += len(text)
		list = append(list, Line{strings.TrimSuffix(text, "\n"), t.places[at].at, t.places[at].row})
	}
	return list
}

// RowLines are all that a row says, in lines: whole texts, with the arguments of calls laid out.
func RowLines(v *view.View, row *view.Row, screen *ui.Screen) []string {
	t := &viewText{v: v, opts: Options{Screen: screen, Full: true}, width: screen.Width}
	whole := *row
	whole.Calls = append([]view.Call{}, row.Calls...)
	for i := range whole.Calls {
		args := jsontext.Value(whole.Calls[i].Args)
		if args.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)) == nil { // else it stays as it is stored
			whole.Calls[i].Args = string(args)
		}
	}
	var list []string
	for _, l := range t.contentLines(&whole, screen.Width) {
		text := l.content
		if l.right != "" {
			text += "  " + l.right
		}
		if l.style != nil {
			text = l.style.Render(text)
		}
		list = append(list, text)
	}
	return list
}
