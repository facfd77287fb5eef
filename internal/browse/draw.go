package browse

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// wideScreen is the number of columns from which on panes stand side by side.
const wideScreen = 110

// list is a cursor in lines, and the first one on the screen.
type list struct{ at, top int }

// visibleLines are the lines on a screen that shows the cursor.
func (l *list) visibleLines(n, height int) (from, to int) {
	height = max(height, 1)
	if l.at < l.top {
		l.top = l.at
	}
	if l.at >= l.top+height {
		l.top = l.at - height + 1
	}
	l.top = max(min(l.top, n-height), 0)
	return l.top, min(l.top+height, n)
}

// movesBy are the keys that move in a list, and how far: whole screens beyond 1.
func movesBy(key string, page int) (by int, moves bool) {
	by, moves = map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "ctrl+b": -page, "pgdown": page, "ctrl+f": page,
		"ctrl+u": -page / 2, "ctrl+d": page / 2, "home": -1 << 40, "g": -1 << 40, "end": 1 << 40, "G": 1 << 40,
	}[key]
	return by, moves
}

// moveCursor moves the cursor among n lines, if the key does that.
func (l *list) moveCursor(key string, n, page int) bool {
	by, moves := movesBy(key, page)
	if moves {
		l.at = max(min(l.at+by, n-1), 0)
	}
	return moves
}

// page is text that is read.
type page struct {
	title string
	lines []string
	top   int
}

func (p *page) scrollLines(key string, height int) bool {
	by, moves := movesBy(key, height)
	if moves {
		p.top = max(min(p.top+by, len(p.lines)-height), 0)
	}
	return moves
}

// position says which lines are on the screen, where they are not all.
func (p *page) position(height int) string {
	if len(p.lines) <= height {
		return ""
	}
	return fmt.Sprintf("lines %d–%d of %d", p.top+1, min(p.top+height, len(p.lines)), len(p.lines))
}

// View draws the screen: a title, what is shown, what is said of it, and the keys.
func (m *Model) View() tea.View {
	lines := []string{ui.Bold.Render(ui.Truncate(m.title(), m.width))}
	body := m.drawBody(m.bodyHeight())
	for i := range m.bodyHeight() {
		line := ""
		if i < len(body) {
			line = ui.Truncate(body[i], m.width)
		}
		lines = append(lines, line)
	}
	if note := ui.WrapWhole(m.note, m.width); m.prompt == nil && len(note) > 1 { // over the end of what is shown
		note = note[:min(len(note)-1, m.bodyHeight())]
		for i, line := range note {
			lines[len(lines)-len(note)+i] = ui.Truncate(line, m.width)
		}
	}
	lines = append(lines, ui.Truncate(m.status(), m.width), ui.Dim.Render(ui.Truncate(footLine(m.footKeys()), m.width)))
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.WindowTitle, v.MouseMode = true, "sessctl browse", tea.MouseModeCellMotion
	return v
}

// bodyHeight are the lines between the title and the foot.
func (m *Model) bodyHeight() int { return max(m.height-3, 1) }

func (m *Model) drawBody(height int) []string {
	switch {
	case m.page != nil:
		return m.page.lines[min(m.page.top, len(m.page.lines)):]
	case m.plan != nil:
		return m.plan.text.lines[min(m.plan.text.top, len(m.plan.text.lines)):]
	case len(m.open) > 0:
		return m.topSession().drawPanes(m.width, height)
	}
	return m.sessions.drawList(m.width, height)
}

// title says where one is, and through whose eyes one sees.
func (m *Model) title() string {
	switch {
	case m.page != nil:
		return m.page.title
	case m.plan != nil:
		return ui.Clean(m.plan.title)
	case len(m.open) > 0:
		return m.breadcrumb()
	}
	words := "sessctl browse"
	if row := m.sessions.selectedRow(); row != nil {
		words += "  " + ui.Clean(ui.Tilde(m.sessions.about[row].store, m.Home))
	}
	return words
}

// status is what is asked, what happened, or how things stand.
func (m *Model) status() string {
	switch {
	case m.prompt != nil:
		return ui.Clean(m.prompt.ask) + ui.Clean(m.prompt.text) + "█"
	case m.note != "":
		note := ui.WrapWhole(m.note, m.width)
		return note[len(note)-1]
	case m.page != nil:
		return m.page.position(m.bodyHeight())
	case len(m.running) > 0 && m.running[len(m.running)-1].what != checking:
		return ui.Clean(m.running[len(m.running)-1].what) + "… (Ctrl-C stops that)"
	case m.plan != nil:
		return m.plan.text.position(m.bodyHeight())
	case len(m.open) > 0:
		return m.topSession().status()
	}
	return m.sessions.status()
}

// cursorSign is the cursor, which has a shape besides its colour.
func cursorSign(here bool) string {
	if here {
		return ui.Cyan.Render("▌")
	}
	return " "
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(width-ui.Width(text), 0)) + text
}

// screenOf is a screen of so many columns for what is printed into a pane.
func screenOf(width int) *ui.Screen {
	return ui.NewScreen(io.Discard, ui.ColorAlways, func(name string) string {
		return map[string]string{"COLUMNS": strconv.Itoa(width)}[name]
	})
}

// beside puts panes side by side; all but the last have a width.
func beside(height int, widths []int, panes ...[]string) []string {
	lines := make([]string, height)
	for i := range lines {
		for n, pane := range panes {
			text := ""
			if i < len(pane) {
				text = pane[i]
			}
			if n+1 < len(panes) {
				text = ui.Pad(text, widths[n]) + ui.Dim.Render("│")
			}
			lines[i] += text
		}
	}
	return lines
}

func (m *Model) showRule(rule *rules.Rule) {
	text, err := rule.Page()
	if err != nil {
		m.noteError(err)
		return
	}
	var b strings.Builder
	if err := render.PrintRules(&b, []render.Page{{Rule: rule, Markdown: text}}, true); err != nil {
		m.noteError(err)
	}
	m.page = &page{title: rule.ID + " " + rule.Name, lines: strings.Split(b.String(), "\n")}
}
