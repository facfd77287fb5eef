package browse

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// binding is what keys do, and how the foot of the screen and the list of all keys call it.
type binding struct {
	keys []string
	word string // at the foot, "" for none
	help string
	do   func(m *Model) tea.Cmd
}

// prompt is a line that is typed.
type prompt struct {
	ask, text string
	done      func(text string) tea.Cmd
	changed   func(text string) // with every letter; may be nil
}

// pressKey does what a key means where it was pressed; text is what it types.
func (m *Model) pressKey(key, text string) tea.Cmd {
	m.note = ""
	switch {
	case key == "ctrl+c":
		m.prompt = nil
		return m.stopOrLeave()
	case m.prompt != nil:
		return m.typeKey(key, text)
	case m.page != nil || m.plan != nil:
		if m.scrollText(key) {
			return nil
		}
	case m.moveIn(key):
		return nil
	}
	for _, b := range slices.Concat(m.bindings(), everywhere) {
		if slices.Contains(b.keys, key) {
			return b.do(m)
		}
	}
	return nil
}

func (m *Model) scrollText(key string) bool {
	if m.page != nil {
		return m.page.scrollLines(key, m.bodyHeight())
	}
	return m.plan.text.scrollLines(key, m.bodyHeight())
}

// moveIn moves the cursor of the list on the screen.
func (m *Model) moveIn(key string) bool {
	if len(m.open) == 0 {
		moves := m.sessions.list.moveCursor(key, len(m.sessions.shown), m.bodyHeight()-1)
		m.sessions.moved = m.sessions.moved || moves
		return moves
	}
	o := m.topSession()
	if o.inTree {
		return o.moveTree(key)
	}
	return o.moveCursor(key)
}

func (o *opened) moveTree(key string) bool {
	return o.tree.moveCursor(key, len(o.agents), o.size.height-1)
}

// typeKey takes a key for the line that is typed.
func (m *Model) typeKey(key, text string) tea.Cmd {
	p := m.prompt
	switch key {
	case "enter":
		m.prompt = nil
		return p.done(p.text)
	case "esc":
		m.prompt = nil
		return p.done("")
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-size]
	case "ctrl+u":
		p.text = ""
	default:
		p.text += text
	}
	if p.changed != nil {
		p.changed(p.text)
	}
	return nil
}

// bindings are the keys of what is on the screen.
func (m *Model) bindings() []binding {
	switch {
	case m.page != nil:
		return nil
	case m.plan != nil && (m.plan.busy || m.plan.done || m.plan.CarryOut == nil):
		return planKeys[1:]
	case m.plan != nil:
		return planKeys
	case len(m.open) > 0 && m.topSession().inTree:
		return treeKeys
	case len(m.open) > 0:
		return sessionKeys
	}
	return listKeys
}

// footGap is between the words at the foot.
const footGap = "  "

// footKeys are the most used keys, as many as there is room for at the foot.
func (m *Model) footKeys() (list []binding) {
	end := []binding{{keys: []string{"?"}, word: "keys"}, {keys: []string{"q"}, word: "leave"}}
	if m.page != nil || m.plan != nil || len(m.open) > 0 {
		end = slices.Insert(end, 0, binding{keys: []string{"esc"}, word: "back"})
	}
	for _, b := range m.bindings() {
		if b.word != "" && ui.Width(footLine(slices.Concat(list, []binding{b}, end))) <= m.width {
			list = append(list, b)
		}
	}
	return append(list, end...)
}

// footLine is the foot: what keys do.
func footLine(list []binding) string {
	return strings.Join(lists.MapEach(list, func(b binding) string { return b.keys[0] + " " + b.word }), footGap)
}

func (m *Model) showKeys() tea.Cmd {
	lines := []string{"  ↑ ↓ or k j, pgup pgdown, g G   move"}
	for _, b := range slices.Concat(m.bindings(), everywhere) {
		lead := strings.Join(b.keys, " or ")
		for _, help := range ui.Wrap(b.help, max(m.width-33, 29)) {
			lines = append(lines, "  "+ui.Pad(lead, 29)+"  "+help)
			lead = ""
		}
	}
	m.page = &page{title: "Keys", lines: lines}
	return nil
}

// The keys of each screen. They are filled in by init, because what they do shows them.
var listKeys, sessionKeys, treeKeys, planKeys, everywhere []binding

func init() {
	everywhere = []binding{
		{[]string{"esc"}, "", "go back", func(m *Model) tea.Cmd { m.goBack(); return nil }},
		{[]string{"?"}, "", "show this list", (*Model).showKeys},
		{[]string{"q"}, "", "leave the browser", (*Model).leaveBrowser},
		{[]string{"ctrl+z"}, "", "suspend the browser", func(*Model) tea.Cmd { return tea.Suspend }},
		{[]string{"ctrl+c"}, "", "stop what runs, or else leave", (*Model).stopOrLeave},
	}
	treeKeys = []binding{
		{[]string{"enter", "right", "l"}, "open", "open the session of the agent, or see through its eyes", func(m *Model) tea.Cmd {
			o := m.topSession()
			o.inTree = false
			if a := o.agents[o.tree.at]; a.session != o.id || a.viewer != o.viewer {
				m.enterSession(a.session, a.viewer)
			}
			return nil
		}},
		{[]string{"t", "left", "h"}, "items", "go back to the items", func(m *Model) tea.Cmd { m.topSession().inTree = false; return nil }},
	}
	planKeys = []binding{
		{[]string{"a"}, "apply", "carry it out, after a yes", (*Model).askToCarryOut},
		{[]string{"f"}, "fold", "fold the steps, or show them again", func(m *Model) tea.Cmd { m.plan.toggleSteps(); return nil }},
		{[]string{"u"}, "undo", "undo the last repair of the store", func(m *Model) tea.Cmd {
			if m.plan.busy {
				return nil
			}
			return m.planUndo(m.plan.Store)
		}},
	}
}

func init() {
	listKeys = []binding{
		{[]string{"enter"}, "open", "open the session", func(m *Model) tea.Cmd {
			if r := m.sessions.selectedRow(); r != nil {
				return m.readSession(m.sessions.about[r].store, r.ID, "", false)
			}
			return nil
		}},
		{[]string{"/"}, "filter", "show only sessions with these words; rule:SC701 and agent:NAME are words, too", (*Model).askFilter},
		{[]string{"f"}, "show", "show all sessions, the damaged or the repairable ones", func(m *Model) tea.Cmd { return m.sessions.takeNextChoice(&m.sessions.only, len(showOnly)) }},
		{[]string{"s"}, "sort", "sort by another column", func(m *Model) tea.Cmd {
			m.sessions.takeNextChoice(&m.sessions.order, len(render.SortOrders))
			m.note = "Sorted by: " + render.SortOrders[m.sessions.order]
			return nil
		}},
		{[]string{"space"}, "mark", "mark the session", func(m *Model) tea.Cmd { return m.sessions.toggleMark() }},
		{[]string{"R"}, "repair", "plan the repair of the marked sessions, or of all that are damaged", (*Model).repairPlan},
		{[]string{"i"}, "", "show what was found in the stores themselves", (*Model).showOwn},
		{[]string{"u"}, "", "undo the last repair of the store", func(m *Model) tea.Cmd {
			if r := m.sessions.selectedRow(); r != nil {
				return m.planUndo(m.sessions.about[r].store)
			}
			return nil
		}},
		{[]string{"r"}, "", "read the stores again", (*Model).rereadAll},
	}
}

func init() {
	sessionKeys = []binding{
		{[]string{"tab"}, "lens", "look through the next lens", func(m *Model) tea.Cmd { return m.turnLens(1) }},
		{[]string{"shift+tab"}, "", "look through the lens before", func(m *Model) tea.Cmd { return m.turnLens(-1) }},
		{[]string{"t"}, "agents", "go to the tree of agents", func(m *Model) tea.Cmd { m.topSession().inTree = true; return nil }},
		{[]string{"enter"}, "open", "open the session of the sub-agent under the cursor", (*Model).enterRow},
		{[]string{"right", "l"}, "", "unfold the sub-session", func(m *Model) tea.Cmd { return m.foldRow(true) }},
		{[]string{"left", "h"}, "", "fold it", func(m *Model) tea.Cmd { return m.foldRow(false) }},
		{[]string{"n"}, "finding", "go to the next finding", func(m *Model) tea.Cmd { return m.goToFinding(1) }},
		{[]string{"N"}, "", "go to the finding before", func(m *Model) tea.Cmd { return m.goToFinding(-1) }},
		{[]string{"R"}, "repair", "plan its repair", func(m *Model) tea.Cmd { return m.planRepair(m.topSession().store, []string{m.topSession().id}) }},
		{[]string{"e"}, "explain", "explain the rule of the finding", (*Model).explainRule},
		{[]string{"b"}, "", "see what the next agent saw", func(m *Model) tea.Cmd { return m.chooseViewer(m.topSession().viewer + 1) }},
		{[]string{"B"}, "", "see what each agent saw", func(m *Model) tea.Cmd { return m.chooseViewer(-1) }},
		{[]string{"p"}, "", "check the request for the next provider", (*Model).turnProvider},
		{[]string{"J"}, "", "scroll what is under the cursor", func(m *Model) tea.Cmd { m.topSession().scrollDetail("down"); return nil }},
		{[]string{"K"}, "", "scroll it back", func(m *Model) tea.Cmd { m.topSession().scrollDetail("up"); return nil }},
		{[]string{"y"}, "", "copy the id of the session", func(m *Model) tea.Cmd {
			m.note = "Copied: " + m.topSession().id
			return tea.SetClipboard(m.topSession().id)
		}},
		{[]string{"x"}, "", "export the session into a file", func(m *Model) tea.Cmd { return m.exportSession(false) }},
		{[]string{"X"}, "", "export it without its texts", func(m *Model) tea.Cmd { return m.exportSession(true) }},
		{[]string{"r"}, "", "read it again", (*Model).rereadAll},
	}
}

func (m *Model) askFilter() tea.Cmd {
	set := func(text string) {
		m.sessions.filter = text
		m.sessions.arrangeRows(m.sessions.selectedRow())
	}
	m.prompt = &prompt{ask: "/", text: m.sessions.filter, changed: set, done: func(text string) tea.Cmd { set(text); return nil }}
	return nil
}

// takeNextChoice takes the next of n choices.
func (s *sessions) takeNextChoice(choice *int, n int) tea.Cmd {
	*choice = (*choice + 1) % n
	s.arrangeRows(s.selectedRow())
	return nil
}

func (s *sessions) toggleMark() tea.Cmd {
	if r := s.selectedRow(); r != nil {
		if s.marked[r] {
			delete(s.marked, r)
		} else {
			s.marked[r] = true
		}
		s.list.moveCursor("down", len(s.shown), 1)
	}
	return nil
}

func (m *Model) turnLens(by int) tea.Cmd {
	o := m.topSession()
	o.lens = (o.lens + by + len(lenses)) % len(lenses)
	o.list = list{}
	m.layOutAgain()
	if o.lens == lensRepaired && o.plan == nil {
		return m.planSides()
	}
	return nil
}

// chooseViewer looks through the eyes of a viewer, -1 for all of them.
func (m *Model) chooseViewer(viewer int) tea.Cmd {
	o := m.topSession()
	if o.viewer = viewer; o.viewer >= len(o.names) {
		o.viewer = -1
	}
	o.lens = lensVisibility
	m.layOutAgain()
	return nil
}

// turnProvider reads the session again, judged for the next provider.
func (m *Model) turnProvider() tea.Cmd {
	o := m.topSession()
	next := slices.IndexFunc(rules.Profiles, func(p *rules.Profile) bool { return p.Name == o.provider }) + 1
	name := ""
	if next < len(rules.Profiles) {
		name = rules.Profiles[next].Name
	}
	o.lens = lensRequest
	return m.readSession(o.store, o.id, name, true)
}

// enterRow opens the session of the sub-agent that the cursor is on, or that the item asked.
func (m *Model) enterRow() tea.Cmd {
	o := m.topSession()
	row := o.selectedRow()
	switch {
	case row != nil && row.Child != nil:
		m.enterSession(row.Child.ID, -1)
		return nil
	case o.here.Session != "" && o.here.Session != o.id:
		m.enterSession(o.here.Session, -1)
		return nil
	case row != nil:
		for i := range row.Calls {
			if id := row.Calls[i].Child; id != "" {
				m.enterSession(id, -1)
				return nil
			}
		}
	}
	m.note = "No sub-agent was asked here: t goes to the tree of agents."
	return nil
}

func (o *opened) scrollDetail(key string) { o.detail.scrollLines(key, o.detailHeight()) }

// foldRow shows the items of the sub-session under the cursor, or hides them.
func (m *Model) foldRow(open bool) tea.Cmd {
	o := m.topSession()
	if row := o.selectedRow(); row != nil && row.Child != nil {
		o.unfolded[row.Child.ID] = open
		m.layOutAgain()
	}
	return nil
}

func (m *Model) goToFinding(by int) tea.Cmd {
	if !m.topSession().findNext(by) {
		m.note = "No finding names an item beyond this one."
	}
	return nil
}

func (m *Model) explainRule() tea.Cmd {
	o := m.topSession()
	list := o.in.Findings
	if len(o.lines) > 0 {
		if here := o.findingsAt(o.lines[o.list.at]); len(here) > 0 {
			list = here
		}
	}
	if len(list) == 0 {
		m.note = "Nothing was found here."
		return nil
	}
	m.showRule(list[0].Rule)
	return nil
}
