package views

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// viewPage makes the document of a view: nested lists, to be read elsewhere. On a screen
// the items of a view have columns of their own.
type viewPage struct {
	full bool
	html *htmlView // nil for a page that is no HTML
}

// printPage prints the page. Of the items of a session not all texts are held at a time.
func (p viewPage) printPage(v *view.View, print document.Printer) error {
	s, doc := v.Shown, p.headBlocks(v)
	switch {
	case v.Visibility != nil:
		return print(append(doc, visibilityPage(v, p.full)...))
	case v.Borders != nil:
		return print(append(doc, borderBlocks(v, p.full)...))
	case v.Lanes != nil:
		doc = append(doc, noteItems(s.Notes), lanesSource(v))
	case v.Request != nil:
		doc = append(doc, p.requestBlocks(v.Request)...)
	default:
		doc = append(doc, noteItems(s.Notes))
		for pieces := range slices.Chunk(s.Pieces(false), itemsAtOnce) {
			doc = append(doc, p.pieceItems(s, pieces))
			if v.Err() != nil {
				return v.Err()
			}
			if err := print(doc); err != nil {
				return err
			}
			doc = nil
		}
	}
	return print(append(doc, p.pageFindings(v)...))
}

// itemsAtOnce are printed together.
const itemsAtOnce = 100

// headBlocks names the session.
func (p viewPage) headBlocks(v *view.View) document.Document {
	s := v.Shown
	facts := document.Words(render.Span(document.Code, s.ID))
	if s.Parent != "" {
		facts = document.Words(facts, " · sub-session of ", render.Span(document.Code, s.Parent))
	}
	if s.Agent != "" {
		facts = document.Words(facts, " · agent ", s.Agent)
	}
	facts = document.Words(facts, " · ", sizeWords(s))
	if day := render.Date(s.Created); day != "" {
		facts = document.Words(facts, " · "+day)
	}
	if read := render.ReadingNote(v.Store); read != "" {
		facts = document.Words(facts, " · ", ui.Clean(read))
	}
	return document.Document{document.Heading{Level: 1, Text: document.Words(render.Title(s.Title))}, document.Paragraph(facts)}
}

// pageFindings end the page.
func (p viewPage) pageFindings(v *view.View) document.Document {
	var doc document.Document
	if len(v.Findings) == 0 {
		doc = append(doc, render.Say(healthySentence(v)))
	} else {
		doc = append(doc, document.Heading{Level: 2, Text: document.Words("Findings")})
	}
	for _, f := range v.Findings {
		doc = append(doc, render.NewFinding(f, render.SaidMessage(f), v.Request == nil))
	}
	if v.Others > 0 {
		doc = append(doc, render.Say(othersSentence(v)))
	}
	return doc
}

func (p viewPage) rowItems(s *view.Session, short bool) document.List {
	return p.pieceItems(s, s.Pieces(short))
}

func (p viewPage) pieceItems(s *view.Session, pieces []view.Piece) document.List {
	var list document.List
	for _, piece := range pieces {
		switch r := piece.Row; {
		case r == nil:
			list = append(list, render.Entry("…"+strconv.Itoa(piece.Hidden)+" more (", render.Span(document.Code, "--full"), render.Span(document.Marked, ")")))
		case r.Child != nil:
			list = append(list, p.childItem(r))
		default:
			who := r.Who
			if r.Item >= 0 {
				who = strings.TrimSpace(strconv.Itoa(r.Item) + " " + r.Who)
			}
			it := p.rowItem(s.WholeRow(r), document.Words(render.Span(document.Strong, ui.Excerpt(who, 40))), r.Flags)
			p.html.placeItem(&it, s, r)
			list = append(list, it)
		}
	}
	return list
}

func (p viewPage) childItem(r *view.Row) document.Item {
	c, name := r.Child, "sub-session"
	if r.Item >= 0 {
		name = strconv.Itoa(r.Item) + " sub-session"
	}
	it := render.Entry(render.Span(document.Strong, name), " ", render.Span(document.Code, c.ID), " ", ui.Excerpt(render.Title(c.Title), 60), ", "+sizeWords(c))
	if r.Item < 0 && !r.Named {
		it.Text = document.Words(it.Text, ", no item refers to it")
	}
	it.Below, it.Fold = []document.Block{noteItems(r.Notes), noteItems(c.Notes), p.rowItems(c, !p.full)}, true
	return it
}

// rowItem is an item, headed by the words in front of it.
func (p viewPage) rowItem(r *view.Row, head document.Text, flags []string) document.Item {
	text := ""
	switch what := rowSubstance(r); {
	case what != "" && r.Text != "" && r.Stored != nil && !p.full:
		text = ui.WithExcerpt(what+":", r.Text, document.Columns)
	case what != "":
		text = what
	case r.Text != "" && !p.full:
		text = ui.Excerpt(r.Text, document.Columns)
	}
	if text != "" {
		head = document.Words(head, " ", text)
	}
	if len(flags) > 0 {
		head = document.Words(head, " ", render.Span(document.Emphasis, "("+strings.Join(flags, ", ")+")"))
	}
	it := document.Item{Text: head}
	if p.full {
		it.Below = append(it.Below, p.cutSource("reasoning", r.Thought), p.cutSource("", r.Text))
	}
	calls := mediaList(r.Media)
	for i := range r.Calls {
		calls = append(calls, p.callItem(&r.Calls[i]))
	}
	for i := range r.Results {
		result := &r.Results[i]
		calls = append(calls, document.Item{
			Text: document.Words(ui.Excerpt(result.Label, document.Columns), stateClause(result.Answer)), Said: p.html.cutText(result.Answer.Text), Whole: p.full,
			Below: []document.Block{mediaList(result.Answer.Media)},
		})
	}
	it.Below = append(it.Below, calls, noteItems(r.Notes))
	return it
}

func (p viewPage) callItem(c *view.Call) document.Item {
	about := c.About
	if p.full {
		about = ""
	}
	it := render.Entry(render.Span(document.Code, ui.WithExcerpt(callLabel(c), about, document.Columns)), stateClause(c.Answer))
	if p.full {
		it.Below = append(it.Below, p.cutSource("arguments", c.Args))
	}
	if p.full && c.Answer.Folded {
		it.Below = append(it.Below, p.cutSource("result", c.Answer.Text))
	}
	if c.Answer.Folded {
		it.Below = append(it.Below, mediaList(c.Answer.Media))
	}
	return it
}

// mediaList are images and files, by their types and sizes.
func mediaList(media []string) document.List {
	return lists.MapEach(media, func(m string) document.Item { return render.Entry(render.Span(document.Code, m)) })
}

// cutSource is a whole text.
func (p viewPage) cutSource(what, text string) document.Source {
	return document.Source{What: what, Text: p.html.cutText(text)}
}

// stateClause is how a call ended, in parentheses.
func stateClause(a view.Answer) string {
	if words := answerWords(a); words != "" {
		return " (" + strings.Join(strings.Fields(words), " ") + ")"
	}
	return ""
}

func noteItems(notes []view.Note) document.List {
	return lists.MapEach(notes, func(n view.Note) document.Item {
		text, _ := noteWords(n)
		return render.Entry("⚠ ", text)
	})
}

// requestBlocks is what the next run sends.
func (p viewPage) requestBlocks(r *view.Request) document.Document {
	doc := document.Document{document.Heading{Level: 2, Text: document.Words("What the next run sends")}, render.Say(ui.AsSentence(ui.Clean(r.Head())))}
	if words := r.Preface(); words != "" {
		doc = append(doc, render.Say(words))
	}
	doc = append(doc, document.List(lists.MapEach(r.Parts, func(part view.Part) document.Item { return p.partItem(r, &part) })))
	return append(doc, render.SayEach(r.Verdict())...)
}

func (p viewPage) partItem(r *view.Request, part *view.Part) document.Item {
	head := "–"
	switch {
	case part.Last > part.Message:
		head = "messages " + messageNumbers(part)
	case part.Message >= 0:
		head = "message " + messageNumbers(part)
	}
	if part.Role != "" {
		head += " " + part.Role
	}
	text := document.Words(head)
	if part.Row.Item >= 0 {
		who := strings.TrimSpace("item " + strconv.Itoa(part.Row.Item) + " " + part.Row.Who)
		text = document.Words(head+" ", render.Span(document.Strong, ui.Excerpt(who, 60)))
	}
	flags := part.Row.Flags
	if part.Unsent {
		flags = append(flags[:len(flags):len(flags)], "not sent")
	}
	it := p.rowItem(&part.Row, text, flags)
	var remarks document.List
	if part.Why != "" {
		remarks = append(remarks, render.Entry(part.Why))
	}
	for i := range part.Adjusted {
		remarks = append(remarks, render.Entry(render.Span(document.Marked, "~ adjusted: "), render.Span(document.Code, part.Adjusted[i].Words(r))))
	}
	for _, name := range part.Renamed {
		remarks = append(remarks, render.Entry(render.Span(document.Marked, "~ sent as: "), render.Span(document.Code, name.From), " → ", render.Span(document.Code, name.To)))
	}
	for i := range part.Rejected {
		remarks = append(remarks, render.Entry("✗ ", render.Span(document.Code, part.Rejected[i].Words(r.Profile))))
	}
	it.Below = append(it.Below, remarks)
	return it
}
