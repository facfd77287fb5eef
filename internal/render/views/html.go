package views

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// What a page in HTML holds at most, so that a browser opens it in a second.
const (
	mostMessages = 20_000
	mostLanes    = 12
	mostSteps    = 400   // of lanes; of more, those between agents and those where something is wrong
	longestText  = 2_000 // in bytes, without --full
)

// htmlView knows where the items of a view are on its page, and who saw them.
type htmlView struct {
	full  bool
	asked *view.Visibility // nil where nobody was asked
	seen  map[session.Place]*view.Event
	at    map[string]int // numbers of sessions
	shown map[session.Place]bool
	room  int // for messages
}

// htmlDocument is the page of a session: what is wrong, what happened between the agents, the
// messages with what each agent saw, and the next request.
func htmlDocument(v *view.View, opts Options) document.Document {
	h := &htmlView{full: opts.Full, asked: v.Visibility, seen: map[session.Place]*view.Event{}, at: map[string]int{}, shown: map[session.Place]bool{}, room: mostMessages}
	if v.Visibility != nil {
		for i := range v.Visibility.Events {
			e := &v.Visibility.Events[i]
			h.seen[session.Place{Session: e.Session.ID, Item: e.Item}] = e
		}
	}
	p, left := viewPage{full: true, html: h}, h.trimRows(v.Shown)
	whole := v.Visibility
	v.Visibility = nil
	doc := append(p.headBlocks(v), h.findingBlocks(v)...)
	if len(opts.Next) > 0 {
		doc = append(doc, document.Commands{Lead: "Next, in a terminal", List: opts.Next})
	}
	if v.Lanes != nil && len(v.Lanes.Steps) > 0 {
		doc = append(doc, partHeading("What happened between the agents"), drawPicture(v.Lanes, mostSteps, h.messageAnchor))
	}
	doc = append(doc, partHeading("Messages"))
	if whole != nil && !whole.IsCrowd() {
		doc = append(doc, h.viewerChoices(whole))
	}
	doc = append(doc, noteItems(v.Shown.Notes), p.rowItems(v.Shown, false))
	if left > 0 {
		doc = append(doc, document.Callout{Role: document.Notice, Text: document.Words("Not on this page: ", ui.Count(left, "more message"), ". ", render.Span(document.Code, opts.Rest), " shows them.")})
	}
	if v.Request != nil && left == 0 {
		doc = append(doc, p.requestBlocks(v.Request)...)
	}
	if whole != nil && left == 0 {
		v.Visibility = whole
		doc = append(doc, partHeading("Who could see what"), document.Fold{Title: document.Words(ui.AsSentence(visibilityCount(whole))), Below: visibilityPage(v, false)})
	}
	return doc
}

func partHeading(title string) document.Heading {
	return document.Heading{Level: 2, Text: document.Words(title)}
}

// findingBlocks are what is wrong, with links to the messages.
func (h *htmlView) findingBlocks(v *view.View) document.Document {
	if len(v.Findings) == 0 {
		return document.Document{document.Callout{Role: document.Good, Text: document.Words(healthySentence(v))}}
	}
	says := document.Words(render.SeverityCounts(v.Findings), ".")
	for i, sentence := range v.Request.Verdict() {
		if i == 0 && v.Request.Answer.Verdict == check.Reject { // the finding has the words of the provider
			sentence, _, _ = strings.Cut(sentence, ": ")
		}
		says = document.Words(says, " "+ui.EndSentence(ui.Clean(sentence)))
	}
	doc := document.Document{document.Callout{Role: render.WorstRole(v.Findings), Text: says}, partHeading("What is wrong")}
	for _, f := range v.Findings {
		found := render.WholeFinding(f, render.SaidMessage(f))
		if f.Session != "" && f.Item >= 0 {
			found.At = h.messageAnchor(f.Session, f.Item)
		}
		doc = append(doc, found)
	}
	if v.Others > 0 {
		doc = append(doc, render.Say(othersSentence(v)))
	}
	return doc
}

// viewerChoices are those among whom the reader chooses.
func (h *htmlView) viewerChoices(asked *view.Visibility) document.Viewers {
	return lists.MapEach(asked.Viewers, func(v view.Viewer) string { return v.Name() + ": " + seesCount(asked, &v) })
}

// messageAnchor names a message on the page, "" for one that is not there.
func (h *htmlView) messageAnchor(in string, item int) string {
	if !h.shown[session.Place{Session: in, Item: item}] {
		return ""
	}
	if _, known := h.at[in]; !known {
		h.at[in] = len(h.at)
	}
	return fmt.Sprintf("m%d-%d", h.at[in], item)
}

// placeItem says where an item is on the page, how it stands out, and who saw it.
func (h *htmlView) placeItem(it *document.Item, s *view.Session, r *view.Row) {
	if h == nil || r.Stored == nil {
		return
	}
	it.At, it.Role = h.messageAnchor(s.ID, r.Item), markRoles[r.Mark()]
	e := h.seen[session.Place{Session: s.ID, Item: r.Item}]
	if e == nil || h.asked.IsCrowd() {
		return
	}
	for i := range h.asked.Viewers {
		cell := h.asked.Cell(e, i, 0)
		it.Seen = append(it.Seen, document.Seen{Visible: cell.Visible, Why: cell.Words(&h.asked.Viewers[i], e)})
	}
}

// markRoles are how items with a mark stand out.
var markRoles = map[string]document.Role{"!": document.Bad, "i": document.Info}

// cutText is a text, or what of it a page shows without --full.
func (h *htmlView) cutText(text string) string {
	if h == nil || h.full || len(text) <= longestText {
		return text
	}
	end := longestText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…\n(" + ui.Bytes(int64(len(text)-end)) + " more: --full)"
}

// trimRows takes the rows from a session that a page has no room for, and counts them.
func (h *htmlView) trimRows(s *view.Session) (left int) {
	keep := len(s.Rows)
	for i := range s.Rows {
		r := &s.Rows[i]
		if h.room == 0 {
			keep = min(keep, i)
		}
		switch {
		case r.Child != nil:
			left += h.trimRows(r.Child)
		case h.room == 0:
			left++
		default:
			h.room--
			h.shown[session.Place{Session: s.ID, Item: r.Item}] = true
		}
	}
	s.Rows = s.Rows[:keep]
	return left
}

// DrawLanes draw what happened between the agents of a tree, for a report: where nobody asked for
// content, without a word of what was said.
func DrawLanes(store *session.Store, tree *session.Tree, found []*check.Finding, content bool) document.Diagram {
	const most = 40 // steps, before only the telling ones are shown
	v := view.BuildView(view.Input{Store: store, Tree: tree, Findings: found, Session: tree.Root().ID, Lanes: true})
	if !content {
		forgetTexts(v.Shown)
	}
	return drawPicture(v.Lanes, most, func(string, int) string { return "" })
}

// forgetTexts leaves of the rows of a session what they are.
func forgetTexts(s *view.Session) {
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Stored != nil && r.Stored.Kind == session.Message && r.Label == "" && len(r.Calls)+len(r.Results) == 0 {
			r.Label = "message"
		}
		r.Text = ""
		for n := range r.Calls {
			r.Calls[n].About, r.Calls[n].Answer.Text = "", ""
		}
		for n := range r.Results {
			r.Results[n].Answer.Text = ""
		}
		if r.Child != nil {
			forgetTexts(r.Child)
		}
	}
}

// drawPicture draws lanes. Of more than so many steps, those between agents and those where something is wrong
// are shown, with their neighbours.
func drawPicture(l *view.Lanes, most int, anchor func(session string, item int) string) document.Diagram {
	few := narrowLanes(l, mostLanes)
	d := lanesDiagram(few)
	names := len(few.List)
	for i := range few.Steps {
		s, step := &few.Steps[i], &d[names+i]
		step.Role, step.Place = markRoles[s.Row.Mark()], strconv.Itoa(s.Row.Item)
		step.Lines[0] = strings.TrimPrefix(step.Lines[0], step.Place+" ")
		if rules := s.Row.Rules(); len(rules) > 0 {
			step.Lines = append(step.Lines, strings.Join(rules, " "))
		}
		step.At = anchor(s.Session.ID, s.Row.Item)
	}
	if len(few.Steps) <= most {
		return d
	}
	return append(d[:names:names], tellingSteps(few.Steps, d[names:])...)
}

// tellingSteps are the steps between agents and those where something is wrong, with their
// neighbours, and how many there are between them.
func tellingSteps(steps []view.Step, drawn document.Diagram) document.Diagram {
	const beside = 2
	shown := make([]bool, len(steps))
	for i := range steps {
		if steps[i].Lane == steps[i].To && steps[i].Row.Mark() == "" {
			continue
		}
		for n := max(i-beside, 0); n < min(i+beside+1, len(steps)); n++ {
			shown[n] = true
		}
	}
	var out document.Diagram
	for i := 0; i < len(steps); i++ {
		if shown[i] {
			out = append(out, drawn[i])
			continue
		}
		from := i
		for i+1 < len(steps) && !shown[i+1] {
			i++
		}
		out = append(out, document.Step{Kind: document.Note, From: drawn[from].From, Lines: []string{"… " + strconv.Itoa(i-from+1) + " more steps"}})
	}
	return out
}
