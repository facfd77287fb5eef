package document

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
)

// kinds are the sign, the word and the colour of a change.
var kinds = [...]struct {
	sign, word string
	style      *lipgloss.Style
}{
	Altered: {"~", "changed", nil}, Added: {"+", "added", &ui.Green}, Gone: {"−", "gone", &ui.Red}, Moved: {"→", "moved", &ui.Cyan},
}

// WidestQuote is how many columns of what a record says a line shows at most.
const WidestQuote = 40

// writeChanges prints a line each with the notes one below the other. A line without a note
// has the whole width; what an item says gives way first.
func (l *lines) writeChanges(list Changes, indent string) {
	places, notes := 0, 0
	for i := range list {
		places, notes = max(places, lipgloss.Width(list[i].Place)), max(notes, lipgloss.Width(list[i].Note))
	}
	const least = 16 // columns for what an item is: notes give way
	whole := l.width - len(indent) - 2 - places - len(step)
	longest, what := 0, make([]string, len(list))
	for i := range list {
		c := &list[i]
		room := max(least, whole-len(step)-notes)
		if c.Note == "" {
			room = max(least, whole)
		}
		what[i] = c.What.In(0)
		if free := room - lipgloss.Width(what[i]) - len(`: ""`); free >= least/2 {
			what[i] = c.What.In(min(free, WidestQuote))
		}
		if what[i] = ui.Truncate(what[i], room); c.Note != "" {
			longest = max(longest, lipgloss.Width(what[i]))
		}
	}
	for i := range list {
		c, kind := &list[i], kinds[list[i].Kind]
		text := indent + kind.sign + " " + ui.Pad(c.Place, places) + step + what[i]
		if c.Note != "" {
			text += strings.Repeat(" ", max(longest-lipgloss.Width(what[i]), 0)) + step + c.Note
		}
		text = ui.Truncate(strings.TrimRight(text, " "), l.width)
		if kind.style != nil {
			text = kind.style.Render(text)
		}
		l.out.WriteString(text + "\n")
		l.writeBlocks(c.Below, indent+step+step)
	}
}
