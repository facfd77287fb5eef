package render

import (
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// viewColumns are the places of a session's parts on a line: the mark at the
// left edge, the frames of the sessions around it, the position, the speaker,
// and the content with what stands at the right edge.
type viewColumns struct {
	width  int    // of the screen
	frames string // "   │ "
	level  int    // sub-sessions around
	number int    // columns of the position
	who    int    // columns of the speaker
}

const (
	markColumns = 2  // the mark and a space
	leastText   = 30 // columns: deeper sessions are not indented any further
)

// measure finds the columns for a session.
func measure(s *view.Session, width, level int, frames string) viewColumns {
	c := viewColumns{width: width, frames: frames, level: level, number: len(strconv.Itoa(max(len(s.Items)-1, 0))), who: 4}
	widest := 10
	if level > 0 {
		widest = 8
	}
	for i := range s.Rows {
		if c.who == widest {
			break
		}
		c.who = max(c.who, lipgloss.Width(ui.Excerpt(s.Rows[i].Who, widest)))
	}
	return c
}

// text is the number of columns between the speaker and the right edge.
func (c *viewColumns) text() int {
	return max(c.width-markColumns-lipgloss.Width(c.frames)-c.number-1-c.who-2, 10)
}

// inner are the frames around a sub-session of this one. On a narrow screen all
// levels share the first frame.
func (c *viewColumns) inner() string {
	if c.level > 0 && c.text()-c.number-3 < leastText {
		return c.frames
	}
	return c.frames + strings.Repeat(" ", c.number+1) + "│ "
}

// viewLine is one line of a view. Its strings are safe to print.
type viewLine struct {
	mark    string
	number  string
	who     string
	content string
	right   string
	style   *lipgloss.Style // of the content; nil for none
}

// put prints a line; what does not fit is cut at the content.
func (t *viewText) put(c viewColumns, l viewLine) {
	room := c.text()
	if l.right != "" {
		room = max(room-lipgloss.Width(l.right)-2, 8)
	}
	content := ui.Truncate(l.content, room)
	gap := room - lipgloss.Width(content) + 2
	if l.style != nil && content != "" {
		content = l.style.Render(content)
	}
	text := c.frames + strings.Repeat(" ", max(c.number-len(l.number), 0)) + l.number + " " + ui.Pad(l.who, c.who) + "  " + content
	if l.right != "" {
		text += strings.Repeat(" ", gap) + coloured(l.right)
	}
	t.print(l.mark, text)
}

// print prints a line behind its mark.
func (t *viewText) print(mark, text string) {
	switch mark {
	case "!":
		mark = ui.Red.Render(mark)
	case "":
		mark = " "
	}
	t.out.WriteString(strings.TrimRight(mark+" "+text, " ") + "\n")
}

// coloured gives bad ends of calls a colour.
func coloured(state string) string {
	switch {
	case strings.HasPrefix(state, view.Failed.String()), strings.HasPrefix(state, view.NoResult.String()):
		return ui.Red.Render(state)
	case strings.HasPrefix(state, view.Placeholder.String()), strings.HasPrefix(state, view.Pending.String()):
		return ui.Yellow.Render(state)
	}
	return ui.Dim.Render(state)
}
