package render

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// request prints what the next run sends: a line for each stored item with the
// message that it becomes, and the places at which a provider refuses it.
func (t *viewText) request() {
	r := t.v.Request
	if words := r.CoverWords(); words != "" {
		t.out.WriteString(ui.Hang("", "", words, t.paragraph) + "\n")
	}
	c := measure(t.v.Shown, t.width, 0, "")
	item := max(c.number, len("item"))
	c.number = max(c.number, len("msg"))
	c.who = max(c.who, len("system")) + item + 1 // the item's position stands before its speaker
	t.put(c, viewLine{number: "msg", who: "item", style: &ui.Dim})
	for i := range r.Parts {
		t.part(&r.Parts[i], c, item)
	}
	t.out.WriteString("\n")
	for _, text := range r.Verdict() {
		t.out.WriteString(ui.Hang("", "", ui.Clean(text), t.paragraph))
	}
}

// part prints one part of the request; item is the width of its position.
func (t *viewText) part(p *view.Part, c viewColumns, item int) {
	lines := t.contents(&p.Row, c.text())
	first := &lines[0]
	who, position := p.Role, ""
	if p.Row.Item >= 0 {
		who, position = p.Row.Who, strconv.Itoa(p.Row.Item)
	}
	first.who = strings.Repeat(" ", max(item-len(position), 0)) + position + " " + excerpt(who, c.who-item-1)
	if p.Message >= 0 {
		first.number = strconv.Itoa(p.Message)
	}
	first.right = strings.TrimSpace(strings.Join(p.Row.Flags, ", ") + "  " + first.right)
	if p.Unsent {
		first.right = strings.TrimPrefix(first.right+", not sent", ", ")
	}
	if len(p.Rejected) > 0 {
		first.mark = "!"
	}
	for _, l := range append(lines, t.remarksOf(p, c.text())...) {
		t.put(c, l)
	}
}

// remarksOf are the lines below a part: why it is not sent, that it leaked, and
// what the provider says to it.
func (t *viewText) remarksOf(p *view.Part, width int) []viewLine {
	var lines []viewLine
	add := func(text string, style *lipgloss.Style) {
		for _, l := range ui.Wrap(ui.Clean(text), width) {
			lines = append(lines, viewLine{content: l, style: style})
		}
	}
	if p.Why != "" {
		add(p.Why, &ui.Dim)
	}
	for _, n := range p.Row.Notes {
		text, style := noteWords(n)
		add(text, style)
	}
	for _, r := range p.Rejected {
		add("refused: "+strings.Join(append(r.Rules, r.Error), " "), &ui.Red)
	}
	return lines
}
