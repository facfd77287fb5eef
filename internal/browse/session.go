package browse

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/views"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// opened is a session that was entered, with the tree of all agents of its root.
type opened struct {
	store, id string
	provider  string // "" for the session's own
	in        view.Input
	whole     *view.View // the items as they are stored: what the cursor means is found there

	agents []agent
	tree   list
	inTree bool // the keys are for the tree

	lens   int
	viewer int // of viewers, -1 for all
	names  []view.Viewer
	plan   *Proposal // for the lens repaired; nil as long as nobody asked

	lines    []views.Line
	list     list
	here     session.Place // of the last item that the cursor was on
	unfolded map[string]bool
	found    map[session.Place][]*check.Finding // by each item that they name, -1 for the session itself
	detail   page
	said     string // why the lens shows something else
	size     panes
}

// agent is a line of the tree of agents: a session, or one that speaks on a branch of it.
type agent struct {
	session string
	viewer  int // of opened.names, -1 for the session itself
	depth   int
	name    string
	items   int
	mark    string
}

// The lenses, all over the same session.
var lenses = []string{"stored", "request", "visibility", "repaired", "lanes", "borders"}

const (
	lensStored = iota
	lensRequest
	lensVisibility
	lensRepaired
	lensLanes
	lensBorders
)

// panes are the sizes of the parts of the screen; tree is 0 where it has no room.
type panes struct{ tree, main, detail, height, lines, below int }

// shareScreen shares the screen out.
func (m *Model) shareScreen() panes {
	p := panes{main: m.width, detail: m.width, height: m.bodyHeight()}
	if m.width < wideScreen {
		p.below = max(p.height*2/5, 1)
		p.lines = max(p.height-p.below-1, 1)
		return p
	}
	p.tree = min(max(m.width/5, 24), 32)
	p.detail = max((m.width-p.tree)*2/5, 42) // a printer has 40 columns at least
	p.main, p.lines = m.width-p.tree-p.detail-2, p.height
	return p
}

// readSession reads a session with all that is known of it; again says that it was shown already.
func (m *Model) readSession(store, id, provider string, again bool) tea.Cmd {
	what := "reading session " + rules.ShortID(id)
	m.endJobs(func(j job) bool { return strings.HasPrefix(j.what, "reading session ") }) // only the last one is wanted
	return m.runJob(what, func(ctx context.Context, _ func(func())) (func() tea.Cmd, error) {
		in, err := m.Program.Read(ctx, store, id, provider)
		if err != nil {
			return nil, err
		}
		o := openSession(store, provider, in)
		return func() tea.Cmd { m.showSession(o, again); return nil }, nil
	})
}

// openSession is the session of an input.
func openSession(store, provider string, in view.Input) *opened {
	o := &opened{store: store, id: in.Session, provider: provider, in: in, viewer: -1, unfolded: map[string]bool{}}
	o.found = map[session.Place][]*check.Finding{}
	for _, f := range in.Findings {
		items := f.Items
		if len(items) == 0 {
			items = []int{-1}
		}
		for _, item := range items {
			at := session.Place{Session: f.Session, Item: item}
			o.found[at] = append(o.found[at], f)
		}
	}
	in.Request, in.Lanes = false, false
	o.whole = view.BuildView(in)
	top := o.whole
	if in.Session = in.Tree.Root().ID; in.Session != o.id {
		top = view.BuildView(in)
	}
	if seen, err := view.BuildVisibility(in, view.Question{All: true}); err == nil {
		o.names = seen.Visibility.Viewers
	}
	o.addAgents(top.Shown, 0, map[string]bool{})
	for _, s := range in.Tree.Sessions { // that nothing leads to
		if !slices.ContainsFunc(o.agents, func(a agent) bool { return a.session == s.ID }) {
			in.Session = s.ID
			o.addAgents(view.BuildView(in).Shown, 0, map[string]bool{})
		}
	}
	return o
}

// addAgents adds a session, those that speak on branches of it, and the sessions below it.
func (o *opened) addAgents(s *view.Session, depth int, seen map[string]bool) {
	seen[s.ID] = true
	name := agentName(s)
	for _, a := range o.agents {
		if a.viewer < 0 && a.name == name { // tell them apart
			name += " " + cmp.Or(s.Title, rules.ShortID(s.ID))
			break
		}
	}
	o.agents = append(o.agents, agent{s.ID, -1, depth, name, len(s.Items), worstMark(o.in.Findings, s.ID)})
	if o.id == s.ID {
		o.tree.at = len(o.agents) - 1
	}
	first := len(o.agents)
	for i := range o.names {
		if v := &o.names[i]; v.Session.ID == s.ID {
			o.agents = append(o.agents, agent{s.ID, i, depth + 1, "@" + cmp.Or(v.Agent, v.Name()), v.Sees[0], " "})
		}
	}
	if len(o.agents) == first+1 { // the session's own
		o.agents = o.agents[:first]
	}
	for i := range s.Rows {
		if c := s.Rows[i].Child; c != nil && !seen[c.ID] {
			o.addAgents(c, depth+1, seen)
		}
	}
}

// worstMark is the sign of the worst that was found in a session.
func worstMark(list []*check.Finding, id string) string {
	var worst *check.Finding
	for _, f := range list {
		if f.Session == id && (worst == nil || f.Severity > worst.Severity) {
			worst = f
		}
	}
	if worst == nil {
		return " "
	}
	return severityMark(worst.Severity)
}

// showSession shows a session that was read: on top, or in the place of what it was before.
func (m *Model) showSession(o *opened, again bool) {
	if again {
		for i, was := range m.open {
			if was.store == o.store && was.id == o.id {
				o.lens, o.list, o.here, o.viewer, o.unfolded = was.lens, was.list, was.here, was.viewer, was.unfolded
				o.viewer = min(o.viewer, len(o.names)-1)
				m.open[i] = o
			}
		}
	} else {
		m.open = append(m.open, o)
	}
	m.layOutAgain()
}

// enterSession opens the session of another agent of the same tree, which need not be read.
func (m *Model) enterSession(id string, viewer int) {
	from := m.topSession()
	in := from.in
	in.Session = id
	o := openSession(from.store, from.provider, in)
	if viewer >= 0 {
		o.lens, o.viewer = lensVisibility, viewer
	}
	m.open = append(m.open, o)
	m.layOutAgain()
}

func (o *opened) printLens(size panes) {
	o.size, o.said = size, ""
	opts := views.Options{Screen: screenOf(size.main - 2), Open: o.unfolded}
	in := o.in
	in.Request, in.Lanes = o.lens == lensRequest, o.lens == lensLanes
	switch o.lens {
	case lensStored:
		o.lines = views.Lines(o.whole, opts)
	case lensRequest, lensLanes:
		o.lines = views.Lines(view.BuildView(in), opts)
	case lensBorders:
		o.lines = views.Lines(view.BuildBorders(in), opts)
	case lensVisibility:
		in, question := o.lensQuestion()
		v, err := view.BuildVisibility(in, question)
		if err != nil {
			o.said, o.lines = errorWords(err), nil
			break
		}
		o.lines = views.Lines(v, opts)
	case lensRepaired:
		o.lines = o.repairedLines(opts.Screen)
	}
	o.keepPlace()
}

// lensQuestion asks what the chosen viewer saw, or every viewer.
func (o *opened) lensQuestion() (view.Input, view.Question) {
	if o.viewer < 0 {
		return o.in, view.Question{All: true}
	}
	v, in := &o.names[o.viewer], o.in
	in.Session = v.Session.ID
	return in, view.Question{Branch: &v.Branch, Agent: v.Agent}
}

// repairedLines are the session before and after the repair that was planned for it.
func (o *opened) repairedLines(screen *ui.Screen) []views.Line {
	text := "Planning…"
	switch {
	case o.plan != nil && len(o.plan.Sides) > 0:
		text = document.OnScreen(screen, o.plan.Sides...)
	case o.plan != nil:
		text = "No repair changes this session."
	}
	var lines []views.Line
	for line := range strings.Lines(text) {
		lines = append(lines, views.Line{Text: strings.TrimSuffix(line, "\n")})
	}
	return lines
}

// isStop reports whether the cursor stops at a line: where something else begins.
func (o *opened) isStop(i int) bool {
	return i == 0 || o.lines[i].Row == nil && o.lines[i].At.Session == "" || o.lines[i].Row != o.lines[i-1].Row || o.lines[i].At != o.lines[i-1].At
}

func (o *opened) moveCursor(key string) bool {
	by, moves := movesBy(key, o.size.lines)
	if !moves || len(o.lines) == 0 {
		return moves
	}
	if by == 1 || by == -1 {
		for i := o.list.at + by; i >= 0 && i < len(o.lines); i += by {
			if o.isStop(i) {
				o.list.at = i
				break
			}
		}
	} else {
		o.list.at = max(min(o.list.at+by, len(o.lines)-1), 0)
		for o.list.at > 0 && !o.isStop(o.list.at) {
			o.list.at--
		}
	}
	o.printDetail()
	return true
}

// findNext moves the cursor to the next item that a finding names, forwards or back.
func (o *opened) findNext(by int) bool {
	for i := o.list.at + by; i >= 0 && i < len(o.lines); i += by {
		if o.isStop(i) && len(o.findingsAt(o.lines[i])) > 0 {
			o.list.at = i
			o.printDetail()
			return true
		}
	}
	return false
}

// selectedRow is the selectedRow under the cursor as it is stored, nil where there is none.
func (o *opened) selectedRow() *view.Row {
	if o.list.at >= len(o.lines) {
		return nil
	}
	line := o.lines[o.list.at]
	if line.Row != nil {
		return line.Row
	}
	return findRow(o.whole.Shown, line.At)
}

// keepPlace keeps the cursor on its item when the lines were printed anew, or puts it on the first one.
func (o *opened) keepPlace() {
	at := slices.IndexFunc(o.lines, func(l views.Line) bool { return l.At == o.here && l.At.Session != "" })
	if at < 0 {
		at = slices.IndexFunc(o.lines, func(l views.Line) bool { return l.At.Session != "" })
	}
	o.list.at = max(at, 0)
	o.printDetail()
}

func findRow(s *view.Session, at session.Place) *view.Row {
	for i := range s.Rows {
		r := &s.Rows[i]
		if s.ID == at.Session && r.Item == at.Item && r.Item >= 0 {
			return r
		}
		if r.Child != nil {
			if found := findRow(r.Child, at); found != nil {
				return found
			}
		}
	}
	return nil
}

// findingsAt are the findings that name an item or, of a sub-session, the session itself and, where it
// is folded, anything in it.
func (o *opened) findingsAt(line views.Line) []*check.Finding {
	list := o.found[line.At]
	if line.Row == nil || line.Row.Child == nil {
		return list
	}
	if line.At.Item < 0 { // no item refers to it
		list = nil
	}
	child := line.Row.Child
	list = slices.Concat(list, o.found[child.ItemPlace(-1)])
	if o.unfolded[child.ID] {
		return list
	}
	below := map[string]bool{}
	noteBelow(child, below)
	for _, f := range o.in.Findings {
		if below[f.Session] && (f.Session != child.ID || len(f.Items) > 0) {
			list = append(list, f)
		}
	}
	return list
}

func noteBelow(s *view.Session, ids map[string]bool) {
	ids[s.ID] = true
	for i := range s.Rows {
		if c := s.Rows[i].Child; c != nil && !ids[c.ID] {
			noteBelow(c, ids)
		}
	}
}

// printDetail prints what is under the cursor: all of its texts, and what was found there.
func (o *opened) printDetail() {
	screen := screenOf(o.size.detail - 1)
	o.detail = page{}
	if len(o.lines) == 0 {
		return
	}
	line, row := o.lines[o.list.at], o.selectedRow()
	if line.At.Session != "" {
		o.here = line.At
	}
	var doc document.Document
	for _, f := range o.findingsAt(line) {
		doc = append(doc, render.WholeFinding(f, render.SaidMessage(f)), document.Gap{})
	}
	o.detail.lines = strings.Split(strings.TrimSuffix(document.OnScreen(screen, doc...), "\n"), "\n")
	if len(doc) == 0 {
		o.detail.lines = nil
	}
	switch {
	case row == nil:
	case row.Child != nil:
		c := row.Child
		words := agentName(c) + " " + rules.ShortID(c.ID) + ": " + render.Title(c.Title) + ", " + ui.Count(len(c.Items), "item") + ". enter opens it."
		o.detail.lines = append(o.detail.lines, ui.Wrap(ui.Clean(words), screen.Width)...)
	default:
		if row.Who != "" {
			o.detail.lines = append(o.detail.lines, ui.Bold.Render(ui.Excerpt(row.Who, screen.Width)))
		}
		o.detail.lines = append(o.detail.lines, views.RowLines(o.whole, row, screen)...)
	}
}

// detailHeight are the lines that what is under the cursor has room for.
func (o *opened) detailHeight() int {
	if o.size.tree == 0 {
		return o.size.below
	}
	return o.size.height
}

// drawPanes draws the tree of agents, the items and what is under the cursor.
func (o *opened) drawPanes(width, height int) []string {
	if o.size.tree == 0 && o.inTree {
		return o.drawTree(width, height)
	}
	from, to := o.list.visibleLines(len(o.lines), o.size.lines)
	end := o.list.at + 1
	for end < len(o.lines) && !o.isStop(end) {
		end++
	}
	var main []string
	for i := from; i < to; i++ {
		main = append(main, cursorSign(i >= o.list.at && i < end)+ui.Truncate(o.lines[i].Text, o.size.main-2))
	}
	detail := o.detail.lines[min(o.detail.top, len(o.detail.lines)):]
	if o.size.tree > 0 {
		return beside(height, []int{o.size.tree, o.size.main}, o.drawTree(o.size.tree, height), main, indented(detail))
	}
	lines := beside(o.size.lines, nil, main)
	lines = append(lines, ui.Dim.Render(strings.Repeat("─", width)))
	return append(lines, indented(detail)...)
}

func indented(lines []string) []string {
	return lists.MapEach(lines, func(l string) string { return " " + l })
}

// drawTree draws the tree of agents, with the one whose session is shown.
func (o *opened) drawTree(width, height int) []string {
	lines := []string{ui.Dim.Render(" AGENTS")}
	from, to := o.tree.visibleLines(len(o.agents), height-1)
	for i := from; i < to; i++ {
		a := &o.agents[i]
		here := " "
		if a.session == o.id && (a.viewer < 0 && o.viewer < 0 || a.viewer == o.viewer) {
			here = "▸"
		}
		count := " " + ui.Number(a.items) + " "
		text := cursorSign(o.inTree && i == o.tree.at) + here + a.mark + " " + strings.Repeat("  ", min(a.depth, 8)) + ui.Excerpt(a.name, width)
		lines = append(lines, ui.Pad(text, width-len(count))+count)
	}
	return lines
}

// agentName is whose session it is.
func agentName(s *view.Session) string {
	if s.Parent == "" {
		return cmp.Or(s.Agent, session.Assistant.String())
	}
	return cmp.Or(s.Agent, "sub-agent")
}

// breadcrumb is the way to the session, and whose eyes one sees through.
func (m *Model) breadcrumb() string {
	o := m.topSession()
	words := []string{ui.Clean(filepath.Base(o.store)), ui.Excerpt(render.Title(o.in.Tree.Root().Title), 30)}
	for _, s := range m.open {
		words = append(words, ui.Excerpt(agentName(s.whole.Shown), 20))
	}
	eyes := "session of " + agentName(o.whole.Shown)
	switch {
	case o.lens == lensVisibility && o.viewer >= 0:
		eyes = "seen by " + o.names[o.viewer].Name()
	case o.lens == lensVisibility:
		eyes = "seen by each agent"
	case o.lens == lensRequest:
		eyes = "sent by " + agentName(o.whole.Shown)
	}
	eyes = "   " + ui.Excerpt(eyes, 50)
	return ui.TruncateLeft(strings.Join(words, " › ")+" "+ui.Clean(rules.ShortID(o.id)), max(m.width-ui.Width(eyes), 0)) + eyes
}

// status names the lenses and what was found.
func (o *opened) status() string {
	if o.said != "" {
		return ui.Excerpt(o.said, 200)
	}
	words := make([]string, len(lenses))
	for i, name := range lenses {
		if words[i] = name; i == o.lens {
			words[i] = "[" + name + "]"
		}
	}
	text := strings.Join(words, " ")
	if o.provider != "" {
		text += "  for " + o.provider
	}
	if n := len(o.in.Findings); n > 0 {
		text += "  " + ui.Count(n, "finding")
	}
	if len(o.detail.lines) > o.detailHeight() {
		text += "  J K scroll"
	}
	return text
}
