package render

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// stepLine is a step in its parts: "− 1f0c9e2a:2  worker message + read_file  same as 43b02aea:2".
type stepLine struct{ mark, place, what, note string }

// widestExcerpt is how many columns of what an item says a step shows at most.
const widestExcerpt = 40

// stepLines prints the steps of a fix, one a line.
func stepLines(steps []repair.Step, content bool, width int) string {
	lines := alignedLines(len(steps), content, width, func(i, columns int) stepLine { return lineOf(&steps[i], columns) })
	return strings.Join(lines, "")
}

// alignedLines are n lines with their notes one below the other. A line without a note
// has the whole width. line makes one, with so many columns of what an item says, of which
// there are none without content.
func alignedLines(n int, content bool, width int, line func(i, columns int) stepLine) []string {
	const indent, gap = "    ", "  "
	lines := make([]stepLine, n)
	places, notes := 0, 0
	for i := range lines {
		lines[i] = line(i, 0)
		places, notes = max(places, lipgloss.Width(lines[i].place)), max(notes, lipgloss.Width(lines[i].note))
	}
	const least = 16 // columns for what an item is: notes give way
	whole := width - len(indent) - 2 - places - len(gap)
	longest := 0
	for i := range lines {
		room := max(least, whole-len(gap)-notes)
		if lines[i].note == "" {
			room = max(least, whole)
		}
		if free := room - lipgloss.Width(lines[i].what) - len(`: ""`); content && free >= least/2 {
			lines[i].what = line(i, min(free, widestExcerpt)).what
		}
		lines[i].what = ui.Truncate(lines[i].what, room)
		if lines[i].note != "" {
			longest = max(longest, lipgloss.Width(lines[i].what))
		}
	}
	texts := make([]string, n)
	for i, l := range lines {
		text := indent + l.mark + " " + ui.Pad(l.place, places) + gap
		if l.note == "" {
			text += l.what
		} else {
			text += ui.Pad(l.what, longest) + gap + l.note
		}
		texts[i] = ui.Truncate(strings.TrimRight(text, " "), width) + "\n"
	}
	return texts
}

// lineOf says what a step does, with so many columns of what the item says.
func lineOf(s *repair.Step, columns int) stepLine {
	l := stepLine{place: stepPlace(s.Session, s.Item), what: itemWords(s, columns)}
	switch s.Op {
	case session.RemoveTwin:
		l.mark, l.note = "−", "same as "+twinPlace(s.Twin)
	case session.Quarantine:
		l.mark, l.note = "−", "to the receipt"
		if s.Twin != nil {
			l.note += "; stays in " + twinPlace(s.Twin)
		}
	case session.Move:
		l.mark, l.note = "→", destination(s)
	case session.MoveRun:
		l.mark, l.what, l.note = "→", "run "+ui.Clean(rules.Short(s.Run)), destination(s)
	case session.Insert:
		l.mark, l.note = "+", behind(s.After)
		if s.Role == session.System {
			l.what, l.note = "task and start message", "at the start"
		}
	case session.Create:
		l.mark, l.place, l.what, l.note = "+", stepPlace(s.Child, -1), "new sub-session", "below "+stepPlace(s.To, -1)
		switch {
		case s.Like != "": // all of one agent, so that only the calls tell them apart
			l.what, l.note = "new sub-session for "+callID(s), "split from "+stepPlace(s.Like, -1)
		case s.Agent != "":
			l.what += " for " + ui.Clean(s.Agent)
		}
	case session.Set, session.Wrap, session.Scrub:
		l.mark, l.what = "~", editWords(s)
	}
	return l
}

// editWords say what a record says from then on.
func editWords(s *repair.Step) string {
	part, id := partWord(s), ""
	if s.Value != nil {
		id = ui.Clean(*s.Value)
	}
	switch {
	case s.Op == session.Wrap:
		return "the arguments of call " + callID(s) + " become an object that holds them as text"
	case s.Op == session.Scrub:
		return "what is no text becomes U+FFFD"
	case part == "calls" && s.Field == session.FieldChild:
		return "the question of " + callID(s) + " names session " + rules.Short(id)
	case part == "calls":
		return "call " + callID(s) + " gets the id " + id
	case s.Field == session.FieldChild:
		return "the result of " + callID(s) + " names session " + rules.Short(id)
	case part == "results":
		return "the result of " + callID(s) + " becomes that of " + id
	case part == "blocks" && s.Value == nil:
		return "a part loses the provider's id"
	case part == "blocks":
		return "a part gets the provider's id " + id
	case s.Field == session.FieldText && s.Item >= 0:
		return "the blank text goes"
	}
	return ui.Clean(s.Field) + " → " + value(s.Value)
}

// partWord is the list that the part of a step stands in, "" for a whole item.
func partWord(s *repair.Step) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(s.Part, "/"), "/")
	return part
}

// callID is the id of the call that a step is about.
func callID(s *repair.Step) string {
	if s.Call == "" {
		return "(no id)"
	}
	return ui.Clean(s.Call)
}

func destination(s *repair.Step) string {
	if s.To != s.Session {
		return "to " + stepPlace(s.To, -1)
	}
	if s.After < 0 {
		return "moves"
	}
	return "to " + behind(s.After)
}

func behind(item int) string {
	if item < 0 {
		return ""
	}
	return "after item " + strconv.Itoa(item)
}

func twinPlace(p *session.Place) string {
	if p == nil {
		return "another item"
	}
	return stepPlace(p.Session, p.Item)
}

// stepPlace is SESSION:ITEM as in a finding, or SESSION for what has no place yet.
func stepPlace(session string, item int) string {
	id := ui.Clean(rules.Short(session))
	if item < 0 {
		return id
	}
	return id + ":" + strconv.Itoa(item)
}

// itemWords say what an item is, with so many columns of what it says.
func itemWords(s *repair.Step, columns int) string {
	said := ""
	if columns > 0 && s.Text != "" {
		said = `"` + ui.Excerpt(s.Text, columns) + `"`
	}
	switch {
	case s.Kind == session.SubSession:
		return "reference to sub-session " + stepPlace(s.Child, -1)
	case s.Kind == session.Summary:
		return joined("summary", said)
	case s.Kind == session.Other:
		return "record"
	case s.Rest:
		return joined("only the result of "+callID(s), said)
	case s.Role == session.Tool || partWord(s) == "results":
		return joined("result of "+callID(s), said)
	}
	who := ui.Clean(s.Agent)
	if who == "" {
		who = s.Role.String()
	}
	if said == "" {
		said = "message"
	}
	text := joined(who, said)
	if len(s.Calls) > 0 {
		text += " + " + ui.Clean(strings.Join(s.Calls, ", "))
	}
	return text
}

// joined is "worker: "It is smaller now."", or "worker message".
func joined(who, said string) string {
	switch {
	case said == "":
		return who
	case strings.HasPrefix(said, `"`):
		return who + ": " + said
	}
	return who + " " + said
}

// value is what a field becomes.
func value(v *string) string {
	if v == nil {
		return "NULL"
	}
	return `"` + ui.Excerpt(*v, widestExcerpt) + `"`
}
