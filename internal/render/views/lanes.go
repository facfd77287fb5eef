package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// leastLaneText is how many columns the words beside lanes have at least.
const leastLaneText = 40

// laneLines draw lanes on so many columns: below the names of the agents a line for each
// step, with an arc where one agent asks or answers another, and a dotted one from a leaked
// item to the agent that it belongs to.
func laneLines(v *view.View, width int) []viewLine {
	l := narrowLanes(v.Lanes, max((width-leastLaneText)/2, 2))
	var lines []viewLine
	for i, lane := range l.List {
		lines = append(lines, viewLine{content: strings.Repeat("│ ", i) + ui.Excerpt(lane.Name, width-markColumns-2*i)})
	}
	digits := 1
	for i := range l.Steps {
		digits = max(digits, len(strconv.Itoa(l.Steps[i].Row.Item)))
	}
	var before *view.Row
	for i := range l.Steps {
		s := &l.Steps[i]
		line := viewLine{number: strings.Repeat(" ", digits), who: l.drawGraph(i), step: s}
		if s.Row != before {
			line.mark, line.number = s.Row.Mark(), fmt.Sprintf("%*d", digits, s.Row.Item)
			line.right = strings.Join(s.Row.Rules(), " ")
		}
		before = s.Row
		room := width - markColumns - 2*len(l.List) - digits - 1
		if line.right != "" {
			room -= len(line.right) + 2
		}
		line.content, line.style = l.stepWords(s, room)
		line.content = ui.Truncate(line.content, room)
		lines = append(lines, line)
	}
	return lines
}

// lanes are those that there is room for.
type lanes struct{ *view.Lanes }

// narrowLanes puts the lanes that there is no room for into the last one.
func narrowLanes(l *view.Lanes, most int) lanes {
	if len(l.List) <= most {
		return lanes{l}
	}
	few := &view.Lanes{List: append([]view.Lane{}, l.List[:most]...), Steps: append([]view.Step{}, l.Steps...)}
	last := &few.List[most-1]
	last.Name = ui.Count(len(l.List)-most+1, "other agent")
	for _, lane := range l.List[most:] {
		last.First, last.Last = min(last.First, lane.First), max(last.Last, lane.Last)
	}
	for i := range few.Steps {
		s := &few.Steps[i]
		s.Lane, s.To = min(s.Lane, most-1), min(s.To, most-1)
	}
	return lanes{few}
}

// drawGraph draws the lanes at a step.
func (l lanes) drawGraph(i int) string {
	s := &l.Steps[i]
	cells := []rune(strings.Repeat(" ", 2*len(l.List)))
	for n, lane := range l.List {
		if lane.First <= i && i <= lane.Last {
			cells[2*n] = '│'
		}
	}
	line, from, to := '─', '├', '▶'
	switch {
	case s.Leaked:
		line, from, to = '┄', '◆', '○'
	case s.To < s.Lane:
		from, to = '┤', '◀'
	}
	for c := 2*min(s.Lane, s.To) + 1; c < 2*max(s.Lane, s.To); c++ {
		if cells[c] == '│' && line == '─' {
			cells[c] = '┼'
		} else {
			cells[c] = line
		}
	}
	switch {
	case s.Lane != s.To:
		cells[2*s.Lane], cells[2*s.To] = from, to
	case s.Leaked:
		cells[2*s.Lane] = from
	case s.Call != nil || s.Result != nil:
		cells[2*s.Lane] = '○'
	default:
		cells[2*s.Lane] = '●'
	}
	return string(cells)
}

// stepWords are what is said of a step in one line.
func (l lanes) stepWords(s *view.Step, width int) (string, *lipgloss.Style) {
	switch {
	case s.Leaked:
		label := "perhaps leaked:"
		if s.To != s.Lane {
			label = "belongs to " + ui.Excerpt(l.List[s.To].Name, 20) + ":"
		}
		return ui.WithExcerpt(label, leakedWords(s.Row), width), &ui.Red
	case s.Call != nil && s.More > 0:
		return ui.Clean(fmt.Sprintf("%s, %d times", callLabel(s.Call), s.More+1)), &ui.Cyan
	case s.Call != nil:
		state := ""
		if a := s.Call.Answer.State; a != view.OK && a != view.Unsaid {
			state = "  (" + a.String() + ")"
		}
		return ui.WithExcerpt(callLabel(s.Call), s.Call.About, width-len(state)) + state, &ui.Cyan
	case s.Result != nil && s.Lane != s.To:
		label := "answer:"
		if a := s.Result.Answer.State; a != view.OK {
			label = "answer (" + a.String() + "):"
		}
		return ui.WithExcerpt(label, s.Result.Answer.Text, width), &ui.Cyan
	case s.Result != nil:
		return ui.WithExcerpt(s.Result.Label+":", s.Result.Answer.Text, width), nil
	}
	if what := rowSubstance(s.Row); what != "" {
		return ui.Excerpt(what, width), &ui.Dim
	}
	if s.Session.Parent != "" && slices.Contains([]string{session.User.String(), session.System.String()}, s.Row.Who) {
		return ui.WithExcerpt(s.Row.Who+":", s.Row.Text, width), &ui.Dim
	}
	return ui.Excerpt(s.Row.Text, width), nil
}

// leakedWords are what a leaked item says, calls or answers.
func leakedWords(r *view.Row) string {
	switch {
	case r.Text != "":
		return r.Text
	case len(r.Calls) > 0:
		return callLabel(&r.Calls[0]) + " " + r.Calls[0].About
	case len(r.Results) > 0:
		return r.Results[0].Label + ": " + r.Results[0].Answer.Text
	}
	return rowSubstance(r)
}

// printLanes prints lanes.
func (t *viewText) printLanes() {
	for _, l := range laneLines(t.v, t.width) {
		if l.step != nil {
			t.markPlace(l.step.Session.Session, l.step.Row.Item, l.step.Row)
		}
		text := l.content
		if l.style != nil && text != "" {
			text = l.style.Render(text)
		}
		if l.who != "" {
			text = ui.Dim.Render(l.who) + l.number + " " + text
		}
		if l.right != "" {
			text += strings.Repeat(" ", t.width-markColumns-lipgloss.Width(text)-len(l.right)) + ui.Dim.Render(l.right)
		}
		t.printMarked(l.mark, text)
	}
}

// lanesSource are lanes as a text, to be read elsewhere.
func lanesSource(v *view.View) document.Source {
	var b strings.Builder
	for _, l := range laneLines(v, document.Columns) {
		b.WriteString(strings.TrimRight(ui.Pad(l.mark, markColumns)+l.who+l.number+" "+l.content+"  "+l.right, " ") + "\n")
	}
	return document.Source{Text: b.String()}
}

// lanesDiagram are lanes as participants of a sequence diagram.
func lanesDiagram(l lanes) document.Diagram {
	name := func(lane int) string { return "p" + strconv.Itoa(lane) }
	var steps document.Diagram
	for i, lane := range l.List {
		steps = append(steps, document.Step{Kind: document.Enter, From: name(i), Lines: []string{view.BranchLabel(lane.Name)}})
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		words, _ := l.stepWords(s, diagramColumns)
		step := document.Step{Kind: document.Note, From: name(s.Lane), To: name(s.To), Lines: []string{strconv.Itoa(s.Row.Item) + " " + words}}
		switch {
		case s.Lane == s.To:
		case s.Leaked:
			step.Kind = document.Lost
		case s.Result != nil:
			step.Kind = document.Answer
		default:
			step.Kind = document.Send
		}
		steps = append(steps, step)
	}
	return steps
}
