package views

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// requestColumns are the columns of a request: in front of the item and its
// speaker stand the messages that it becomes, and their role.
type requestColumns struct {
	viewColumns
	role int // columns of the role; 0 on a narrow screen, where it gives way
	item int // columns of the item's position, in front of its speaker
}

func measureRequest(v *view.View, width int) requestColumns {
	c := requestColumns{viewColumns: measureColumns(v.Shown, width, 0, "")}
	c.item = max(c.number, len("item"))
	c.who = max(c.who, len("system")) + c.item + 1
	c.number = len("msg")
	for i := range v.Request.Parts {
		p := &v.Request.Parts[i]
		c.number = max(c.number, lipgloss.Width(messageNumbers(p)))
		c.role = max(c.role, len(p.Role))
	}
	messages := c.number
	if c.number += 1 + c.role; c.textWidth() < leastText {
		c.number, c.role = messages, 0
	}
	return c
}

// messageNumbers are the messages that a part is: "3", "3–5", "" for none.
func messageNumbers(p *view.Part) string {
	switch {
	case p.Message < 0:
		return ""
	case p.Last > p.Message:
		return fmt.Sprintf("%d–%d", p.Message, p.Last)
	}
	return strconv.Itoa(p.Message)
}

// requestLine is one with the messages, their role, and the item's position with its
// speaker at its beginning.
func (c *requestColumns) requestLine(messages, role, position, who string) viewLine {
	l := viewLine{number: messages}
	if c.role > 0 {
		l.number += " " + ui.Pad(role, c.role)
	}
	l.who = strings.Repeat(" ", max(c.item-len(position), 0)) + position + " " + ui.Excerpt(who, c.who-c.item-1)
	return l
}

// printRequest prints what the next run sends: a line for each stored item with the
// messages that it becomes, what is sent otherwise, and the places at which the
// provider refuses it.
func (t *viewText) printRequest() {
	r := t.v.Request
	if words := r.Preface(); words != "" {
		t.printBlocks(render.Say(words), document.Gap{})
	}
	c := measureRequest(t.v, t.width)
	head := c.requestLine("msg", "role", "item", "")
	head.style = &ui.Dim
	t.putLine(c.viewColumns, head)
	for i := range r.Parts {
		t.markPlace(t.v.Shown.Session, r.Parts[i].Row.Item, &r.Parts[i].Row)
		t.printPart(&r.Parts[i], c)
	}
	t.markPlace(nil, 0, nil)
	t.out.WriteString("\n")
	for _, text := range r.Verdict() {
		t.printBlocks(render.Say(text))
	}
}

// printPart prints one part of the request.
func (t *viewText) printPart(p *view.Part, c requestColumns) {
	lines := t.contentLines(&p.Row, c.textWidth())
	first := &lines[0]
	who, position := p.Row.Who, ""
	switch {
	case p.Row.Item >= 0:
		position = strconv.Itoa(p.Row.Item)
	case c.role == 0:
		who = p.Role
	}
	head := c.requestLine(messageNumbers(p), p.Role, position, who)
	first.number, first.who = head.number, head.who
	first.right = strings.TrimSpace(strings.Join(p.Row.Flags, ", ") + "  " + first.right)
	if p.Unsent {
		first.right = strings.TrimPrefix(first.right+", not sent", ", ")
	}
	switch {
	case len(p.Rejected) > 0:
		first.mark = "!"
	case len(p.Adjusted)+len(p.Renamed) > 0:
		first.mark = "~"
	}
	for _, l := range append(lines, t.remarksOf(p, c.textWidth())...) {
		t.putLine(c.viewColumns, l)
	}
}

// remarksOf are the lines below a part: why it is not sent, that it leaked, what
// is sent instead, and what the provider says to it.
func (t *viewText) remarksOf(p *view.Part, width int) []viewLine {
	var lines []viewLine
	add := func(text string, style *lipgloss.Style) {
		for _, l := range ui.Wrap(ui.Clean(text), width) {
			for part := range strings.SplitSeq(ansi.Hardwrap(l, width, false), "\n") {
				lines = append(lines, viewLine{content: part, style: style})
			}
		}
	}
	if p.Why != "" {
		add(p.Why, &ui.Dim)
	}
	for _, n := range p.Row.Notes {
		text, style := noteWords(n)
		add(text, style)
	}
	for i := range p.Adjusted {
		add("adjusted: "+p.Adjusted[i].Words(t.v.Request), &ui.Yellow)
	}
	for _, r := range p.Renamed {
		add("sent as: "+ui.Excerpt(r.From, width/2)+" → "+r.To, &ui.Yellow)
	}
	for i := range p.Rejected {
		add(p.Rejected[i].Words(t.v.Request.Profile), &ui.Red)
	}
	return lines
}
