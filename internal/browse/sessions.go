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
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// sessions is the list of all root sessions.
type sessions struct {
	rows     []*render.Row          // in the order of the list
	about    map[*render.Row]*entry // of all rows
	known    map[sessionKey]*render.Row
	shown    []*render.Row // those that the filter leaves
	list     list
	moved    bool // somebody chose the session under the cursor
	only     int  // of showOnly
	order    int  // of render.SortOrders
	filter   string
	marked   map[*render.Row]bool
	stamps   map[string]string // of the stores when they were listed
	changed  string            // the store that changed since, "" for none
	reading  bool              // the list has not ended
	checking bool              // a check has not ended
	checked  int               // sessions that the running check has seen
	unread   error             // of the first store that could not be listed
	own      []*check.Finding  // in the stores themselves
}

// entry is what is known of a row besides.
type entry struct {
	store      string
	counted    bool // its items are
	checked    bool
	found      []ruleCount
	repairable bool
}

type ruleCount struct {
	rule *rules.Rule
	n    int
}

type sessionKey struct{ store, id string }

// showOnly are the choices of what the list shows.
var showOnly = []string{"all", "damaged", "repairable"}

type health struct {
	store string
	row   *render.Row
	found []ruleCount
	fixes bool
}

func (m *Model) readStores() tea.Cmd {
	m.endJobs(func(j job) bool { return j.what == checking || j.what == listing }) // which tell of what is read anew
	m.sessions.changed, m.sessions.unread, m.sessions.reading = "", nil, true
	return m.runJob(listing, func(ctx context.Context, tell func(func())) (func() tea.Cmd, error) {
		for _, store := range m.Stores {
			stamp := m.Program.Stamp(store)
			list, err := m.Program.List(ctx, store)
			tell(func() {
				m.sessions.addStore(store, stamp, list, err)
				m.noteError(err)
			})
		}
		return func() tea.Cmd {
			m.sessions.reading = false
			if len(m.sessions.rows) == 0 && m.sessions.unread != nil {
				m.nothing = m.sessions.unread
				return tea.Quit
			}
			return m.checkStores()
		}, nil
	})
}

// The jobs that begin anew when stores are read again.
const (
	listing  = "reading"
	checking = "checking"
)

// checkStores checks all stores, and tells what it finds in batches.
func (m *Model) checkStores() tea.Cmd {
	m.sessions.checking, m.sessions.checked, m.sessions.own = true, 0, nil
	return m.runJob(checking, func(ctx context.Context, tell func(func())) (func() tea.Cmd, error) {
		for _, store := range m.Stores {
			var batch []health
			err := m.Program.Check(ctx, store, func(row *render.Row, list []*check.Finding) {
				if row == nil {
					tell(func() { m.sessions.own = append(m.sessions.own, list...) })
					return
				}
				if batch = append(batch, healthOf(store, row, list)); len(batch) == 200 {
					full := batch
					tell(func() { m.sessions.addHealth(full) })
					batch = nil
				}
			})
			tell(func() {
				m.sessions.addHealth(batch)
				if m.noteError(err); err == nil {
					m.sessions.endCheck(store)
				}
			})
		}
		return func() tea.Cmd { m.sessions.checking = false; return nil }, nil
	})
}

// healthOf counts what was found in a conversation by its rules, in the order of the report.
func healthOf(store string, row *render.Row, list []*check.Finding) health {
	h := health{store: store, row: row}
	for _, f := range list {
		at := slices.IndexFunc(h.found, func(c ruleCount) bool { return c.rule == f.Rule })
		if at < 0 {
			at, h.found = len(h.found), append(h.found, ruleCount{rule: f.Rule})
		}
		h.found[at].n++
		h.fixes = h.fixes || f.IsRepairable()
	}
	return h
}

// addStore takes in the sessions of a store in place of those that were known.
func (s *sessions) addStore(store, stamp string, list *render.ListedStore, err error) {
	s.stamps[store], s.unread = stamp, cmp.Or(s.unread, err)
	if list == nil {
		return
	}
	marked, selected, at := map[string]bool{}, s.selectedRow(), ""
	if !s.moved {
		selected = nil
	}
	s.rows = slices.DeleteFunc(s.rows, func(r *render.Row) bool {
		gone := s.about[r].store == store
		if gone {
			marked[r.ID] = s.marked[r]
			delete(s.about, r)
			delete(s.marked, r)
			if r == selected {
				at = r.ID
			}
		}
		return gone
	})
	for _, r := range list.Rows {
		s.rows = append(s.rows, r)
		s.about[r] = &entry{store: store, counted: list.Store == nil || !list.Uncounted}
		s.known[sessionKey{store, r.ID}] = r
		if marked[r.ID] {
			s.marked[r] = true
		}
		if at != "" && r.ID == at {
			selected = r
		}
	}
	s.arrangeRows(selected)
}

func (s *sessions) addHealth(batch []health) {
	selected := s.selectedRow()
	for _, h := range batch {
		key := sessionKey{h.store, h.row.ID}
		row := s.known[key]
		if row == nil || s.about[row] == nil { // it came after the list was read
			row = h.row
			s.rows, s.known[key] = append(s.rows, row), row
		}
		*row = *h.row
		s.about[row] = &entry{h.store, true, true, h.found, h.fixes}
	}
	s.checked += len(batch)
	s.arrangeRows(selected)
}

// endCheck leaves out what a check of a whole store has not seen: what only looked like a root session
// before all was read.
func (s *sessions) endCheck(store string) {
	s.rows = slices.DeleteFunc(s.rows, func(r *render.Row) bool { return s.about[r].store == store && !s.about[r].checked })
	s.arrangeRows(s.selectedRow())
}

// arrangeRows sorts and filters the list. The cursor stays on its session.
func (s *sessions) arrangeRows(selected *render.Row) {
	render.SortRows(s.rows, render.SortOrders[s.order])
	s.shown = s.shown[:0:0]
	for _, r := range s.rows {
		if s.keepsRow(r) {
			s.shown = append(s.shown, r)
		}
	}
	if at := slices.Index(s.shown, selected); at >= 0 {
		s.list.at = at
	}
	s.list.at = max(min(s.list.at, len(s.shown)-1), 0)
}

// selectedRow is the row under the cursor, nil where there is none.
func (s *sessions) selectedRow() *render.Row {
	if s.list.at < len(s.shown) {
		return s.shown[s.list.at]
	}
	return nil
}

// keepsRow reports whether the list shows a session: every word of the filter has to be met.
func (s *sessions) keepsRow(r *render.Row) bool {
	e := s.about[r]
	switch showOnly[s.only] {
	case "damaged":
		if r.Health[rules.Error]+r.Health[rules.Warning] == 0 {
			return false
		}
	case "repairable":
		if !e.repairable {
			return false
		}
	}
	return !slices.ContainsFunc(strings.Fields(s.filter), func(word string) bool { return !e.fitsWord(r, word) })
}

// fitsWord reports whether a word of the filter means a session.
func (e *entry) fitsWord(r *render.Row, word string) bool {
	if name, is := strings.CutPrefix(word, "rule:"); is {
		return slices.ContainsFunc(e.found, func(c ruleCount) bool {
			return strings.HasPrefix(strings.ToLower(c.rule.ID), strings.ToLower(name)) || c.rule.Name == name
		})
	}
	speaks := func(name string) bool {
		return slices.ContainsFunc(r.Agents, func(a string) bool { return strings.Contains(strings.ToLower(a), strings.ToLower(name)) })
	}
	if name, is := strings.CutPrefix(word, "agent:"); is {
		return speaks(name)
	}
	return view.FitsName(r.ID, r.Title, word) || speaks(word) || strings.Contains(e.store, word) ||
		slices.ContainsFunc(r.Children, func(c *render.Row) bool { return view.FitsName(c.ID, c.Title, word) })
}

// noteChanges looks whether a store is not what it was when it was listed.
func (s *sessions) noteChanges(stamps map[string]string) {
	s.changed = ""
	for store, stamp := range stamps {
		if was, known := s.stamps[store]; known && was != stamp {
			s.changed = store
		}
	}
}

// markOf is the sign of a session: of the worst that was found in it.
func (s *sessions) markOf(r *render.Row) string {
	switch {
	case !s.about[r].checked:
		return " "
	case r.Health[rules.Error] > 0:
		return severityMark(rules.Error)
	case r.Health[rules.Warning] > 0:
		return severityMark(rules.Warning)
	case r.Health[rules.Info] > 0:
		return severityMark(rules.Info)
	}
	return ui.Green.Render("✓")
}

// severityMark is a sign that has a shape besides its colour.
func severityMark(s rules.Severity) string {
	return [...]string{rules.Info: ui.Blue.Render("i"), rules.Warning: ui.Yellow.Render("!"), rules.Error: ui.Red.Render("✗")}[s]
}

// foundWords are what is wrong: "2 leak-duplicate, 1 missing-result".
func (e *entry) foundWords() string {
	if !e.checked {
		return ""
	}
	return strings.Join(lists.MapEach(e.found, func(c ruleCount) string { return ui.Number(c.n) + " " + c.rule.Name }), ", ")
}

// drawList draws the list on so many lines.
func (s *sessions) drawList(width, height int) []string {
	wide := width >= wideScreen
	said, agents := width/4, 0
	if wide {
		said, agents = width/3, width/7
	}
	title := width - 4 - 9 - 11 - 2 - 10 - 2 - said
	if agents > 0 {
		title -= agents + 2
	}
	cells := func(sign, id, day, name, who, items, subs, words string) string {
		line := sign + ui.Pad(id, 8) + " " + ui.Pad(day, 11) + ui.Pad(name, title) + "  "
		if agents > 0 {
			line += ui.Pad(who, agents) + "  "
		}
		return line + padLeft(items, 5) + padLeft(subs, 5) + "  " + ui.Truncate(words, said)
	}
	lines := []string{ui.Dim.Render(cells("    ", "ID", "DATE", "TITLE", "AGENTS", "ITEMS", "SUBS", "FOUND"))}
	switch {
	case len(s.shown) == 0 && s.reading:
		return append(lines, "    reading…")
	case len(s.shown) == 0:
		return append(lines, "    no session to show")
	}
	from, to := s.list.visibleLines(len(s.shown), height-1)
	for i := from; i < to; i++ {
		r := s.shown[i]
		e := s.about[r]
		sign := cursorSign(i == s.list.at) + map[bool]string{true: "*", false: " "}[s.marked[r]] + s.markOf(r) + " "
		items, subs := "", ""
		if e.counted {
			items = ui.Number(r.Items)
		}
		if r.Subs > 0 {
			subs = ui.Number(r.Subs)
		}
		lines = append(lines, cells(sign, ui.Clean(rules.ShortID(r.ID)), render.Date(r.Created), render.Title(r.Title),
			ui.Clean(strings.Join(r.Agents, ", ")), items, subs, e.foundWords()))
	}
	return lines
}

// status says how far the check is.
func (s *sessions) status() string {
	words := ui.Count(len(s.shown), "session")
	if len(s.shown) < len(s.rows) {
		words = ui.Number(len(s.shown)) + " of " + ui.Count(len(s.rows), "session")
	}
	if s.only > 0 {
		words += ", " + showOnly[s.only]
	}
	if s.filter != "" {
		words += `, "` + ui.Clean(s.filter) + `"`
	}
	if n := len(s.marked); n > 0 {
		words += ", " + ui.Number(n) + " marked"
	}
	if s.checking {
		words += "; checked " + ui.Number(s.checked) + " of " + ui.Number(len(s.rows)) + " (Ctrl-C stops that)"
	}
	if n := len(s.own); n > 0 {
		words += "; " + ui.Count(n, "finding") + " about the store itself: i"
	}
	if s.changed != "" {
		words += "; " + ui.Clean(filepath.Base(s.changed)) + " changed: r reads it again"
	}
	return words
}

func (m *Model) showOwn() tea.Cmd {
	text := "Nothing was found in the stores themselves."
	if len(m.sessions.own) > 0 {
		var doc document.Document
		for _, f := range m.sessions.own {
			doc = append(doc, render.WholeFinding(f, render.SaidMessage(f)), document.Gap{})
		}
		text = document.OnScreen(screenOf(m.width), doc...)
	}
	m.page = &page{title: "The stores themselves", lines: strings.Split(text, "\n")}
	return nil
}

// repairPlan plans the repair of the marked sessions of a store, or else of all that is damaged in it:
// of the store under the cursor.
func (m *Model) repairPlan() tea.Cmd {
	s := &m.sessions
	row := s.selectedRow()
	if row == nil {
		return nil
	}
	store := s.about[row].store
	var ids []string
	for _, r := range s.rows {
		if s.marked[r] && s.about[r].store == store {
			ids = append(ids, r.ID)
		}
	}
	return m.planRepair(store, ids)
}
