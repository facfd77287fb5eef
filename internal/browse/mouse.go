package browse

import (
	tea "charm.land/bubbletea/v2"

	"github.com/sessctl/sessctl/internal/ui"
)

// wheelLines is how far one turn of the wheel goes.
const wheelLines = 3

// pane is a part of the screen.
type pane int

const (
	noPane pane = iota
	textPane
	listPane
	treePane
	itemsPane
	detailPane
)

// paneAt says which part of the screen is at a place, and which of its lines on the screen.
func (m *Model) paneAt(x, y int) (pane, int) {
	row := y - 1 // below the title
	if row < 0 || row >= m.bodyHeight() {
		return noPane, 0
	}
	switch {
	case m.page != nil || m.plan != nil:
		return textPane, row
	case len(m.open) == 0:
		return listPane, row
	}
	size := m.topSession().size
	switch {
	case size.tree == 0 && m.topSession().inTree, x < size.tree:
		return treePane, row
	case size.tree > 0 && x > size.tree+1+size.main:
		return detailPane, row
	case row < size.lines:
		return itemsPane, row
	}
	return detailPane, row
}

func (m *Model) turnWheel(msg tea.MouseWheelMsg) {
	key := map[tea.MouseButton]string{tea.MouseWheelUp: "up", tea.MouseWheelDown: "down"}[msg.Button]
	at, _ := m.paneAt(msg.X, msg.Y)
	if key == "" || m.prompt != nil {
		return
	}
	for range wheelLines {
		switch at {
		case textPane:
			m.scrollText(key)
		case listPane:
			m.moveIn(key)
		case treePane:
			m.topSession().moveTree(key)
		case itemsPane:
			m.topSession().moveCursor(key)
		case detailPane:
			m.topSession().scrollDetail(key)
		}
	}
}

// clickAt moves the cursor to where it was clicked, and goes in where it was already. A word at the foot
// is its key. Nothing is typed by a clickAt.
func (m *Model) clickAt(msg tea.MouseClickMsg) tea.Cmd {
	if m.prompt != nil || msg.Button != tea.MouseLeft {
		return nil
	}
	if msg.Y == m.height-1 {
		return m.clickFoot(msg.X)
	}
	chosen := false
	switch at, row := m.paneAt(msg.X, msg.Y); at {
	case listPane:
		s := &m.sessions
		if i := s.list.top + row - 1; row > 0 && i < len(s.shown) {
			chosen = i == s.list.at
			s.list.at, s.moved = i, true
		}
	case treePane:
		o := m.topSession()
		if i := o.tree.top + row - 1; row > 0 && i < len(o.agents) {
			chosen = o.inTree && i == o.tree.at
			o.tree.at, o.inTree = i, true
		}
	case itemsPane:
		o := m.topSession()
		if i := o.list.top + row; i < len(o.lines) {
			for i > 0 && !o.isStop(i) {
				i--
			}
			chosen = !o.inTree && i == o.list.at
			o.list.at, o.inTree = i, false
			o.printDetail()
		}
	}
	if chosen {
		return m.pressKey("enter", "")
	}
	return nil
}

// clickFoot presses the key of a word at the foot.
func (m *Model) clickFoot(x int) tea.Cmd {
	from := 0
	for _, b := range m.footKeys() {
		to := from + ui.Width(b.keys[0]+" "+b.word)
		if x >= from && x < to {
			return m.pressKey(b.keys[0], "")
		}
		from = to + len(footGap)
	}
	return nil
}
