package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Row is what a list says of a session. For a root, what is counted includes
// its sub-sessions, but for the items.
type Row struct {
	ID, Title, Parent string
	Created, Updated  time.Time
	Items             int
	Subs              int
	Agents            []string
	Health            [rules.Error + 1]int // number of findings by severity
	Children          []*Row               // all sessions below, parents before children
}

// RowOf makes the row of a tree, or of a part of one, with one for each sub-session. In a brief
// one nobody knows who spoke, and all agents that messages name are taken for those.
func RowOf(tree *session.Tree, findings []*check.Finding, brief bool) *Row {
	root := sessionRow(tree.Root(), brief)
	root.Subs = len(tree.Sessions) - 1
	own := map[string]*Row{root.ID: root}
	for _, s := range tree.Sessions[1:] {
		sub := sessionRow(s, brief)
		own[s.ID] = sub
		root.Children = append(root.Children, sub)
		root.addAgents(sub.Agents)
	}
	for _, f := range findings {
		row := own[f.Session] // nil where another part of the tree has it
		if row != nil {
			root.Health[f.Severity]++
		}
		if row != nil && row != root {
			row.Health[f.Severity]++
		}
	}
	return root
}

func sessionRow(s *session.Session, brief bool) *Row {
	r := &Row{ID: s.ID, Title: s.Title, Parent: s.Parent, Created: s.Created, Updated: s.Updated, Items: len(s.Items), Subs: countBelow(s)}
	for i := range s.Items {
		if brief || s.Items[i].Role == session.Assistant {
			r.addAgents([]string{s.Items[i].Agent()})
		}
	}
	if len(r.Agents) == 0 {
		r.addAgents([]string{s.Agent})
	}
	return r
}

// countBelow counts the sessions below one. Damage can make a loop of them.
func countBelow(s *session.Session) int {
	seen := map[*session.Session]bool{s: true}
	var count func(*session.Session)
	count = func(s *session.Session) {
		for _, c := range s.Children {
			if !seen[c] {
				seen[c] = true
				count(c)
			}
		}
	}
	count(s)
	return len(seen) - 1
}

// addAgents adds names that are not there yet.
func (r *Row) addAgents(names []string) {
	for _, n := range names {
		if n != "" {
			r.Agents = lists.AppendNew(r.Agents, n)
		}
	}
}

// SortOrders are the orders of a list; the first one is the usual one.
var SortOrders = []string{"newest", "oldest", "title", "items", "health"}

// SortRows puts the newest session first, or what the order says: the most items, the
// worst health.
func SortRows(rows []*Row, order string) {
	first := map[string]func(a, b *Row) int{
		"oldest": func(a, b *Row) int { return a.Created.Compare(b.Created) },
		"title":  func(a, b *Row) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
		"items":  func(a, b *Row) int { return cmp.Compare(b.Items, a.Items) },
		"health": func(a, b *Row) int {
			return cmp.Or(cmp.Compare(b.Health[rules.Error], a.Health[rules.Error]), cmp.Compare(b.Health[rules.Warning], a.Health[rules.Warning]),
				cmp.Compare(b.Health[rules.Info], a.Health[rules.Info]))
		},
	}[order]
	slices.SortStableFunc(rows, func(a, b *Row) int {
		usual := cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
		if first == nil {
			return usual
		}
		return cmp.Or(first(a, b), usual)
	})
}

// Listing is the result of ls.
type Listing struct {
	Tool     Tool
	Home     string // the folder that ~ stands for
	All      bool   // sub-sessions too
	Quiet    bool   // tables only
	ExitCode int
	Stores   []ListedStore
}

// ListedStore is a store with those of its root sessions that are to be listed.
type ListedStore struct {
	*session.Store
	Rows []*Row
	Read int // number of its root sessions
}

// rowsOfTable are in one table: of a longer list no more is laid out at a time, and each
// table has the names of its columns.
const rowsOfTable = 10_000

// PrintSessions prints a list for people.
func PrintSessions(format string, screen *ui.Screen, l *Listing) error {
	printer := document.NewPrinter(format, screen)
	for i, s := range l.Stores {
		var doc document.Document
		if i > 0 {
			doc = append(doc, document.Gap{})
		}
		if !l.Quiet {
			count := ui.Count(s.Read, "session")
			if len(s.Rows) < s.Read {
				count = ui.Number(len(s.Rows)) + " of " + count
			}
			doc = append(doc, document.Heading{Level: 2, Text: document.Words(NameOf(s.Store, l.Home), "  "+s.Title+", "+count)})
		}
		if s.Brief && !l.Quiet {
			what := "Health was not read, because the store is large: `sessctl ls --health` reads all messages for it."
			if s.Uncounted {
				what = "Health was not read, nor how many items there are, because the store is large: of each session, " +
					"this is what its first and its last lines say. `sessctl ls --health` reads all."
			}
			doc = append(doc, document.Paragraph(document.Words(what)))
		}
		columns := lsColumns(s)
		for rows := range slices.Chunk(s.Rows, rowsOfTable) {
			if err := printer(append(doc, lsTable(s, columns, rows, l.All, screen.Width))); err != nil {
				return err
			}
			doc = nil
		}
		if err := printer(doc); err != nil {
			return err
		}
	}
	return nil
}

func lsColumns(s ListedStore) []document.Column {
	columns := []document.Column{
		{Name: "ID"}, {Name: "DATE"}, {Name: "TITLE", Give: document.Cut}, {Name: "ITEMS", Right: true},
		{Name: "SUBS", Right: true}, {Name: "AGENTS"}, {Name: "HEALTH"},
	}
	if s.Brief { // without health, and without agents where only messages name them
		known := len(columns) - 1
		if !slices.ContainsFunc(s.Rows, func(r *Row) bool { return len(r.Agents) > 0 }) {
			known--
		}
		columns = columns[:known]
	}
	if s.Uncounted {
		columns = slices.Delete(columns, itemsColumn, itemsColumn+1)
	}
	return columns
}

const itemsColumn = 3 // of all columns

func lsTable(s ListedStore, columns []document.Column, rows []*Row, all bool, width int) document.Table {
	table := document.Table{Columns: columns}
	add := func(r *Row, indent string) {
		cells := r.listCells(indent, width)
		if s.Uncounted {
			cells = slices.Delete(cells, itemsColumn, itemsColumn+1)
		}
		table.Rows = append(table.Rows, cells[:len(columns)])
	}
	for _, r := range rows {
		add(r, "")
		for i := 0; all && i < len(r.Children); i++ {
			add(r.Children[i], "  ")
		}
	}
	return table
}

func (r *Row) listCells(indent string, width int) []document.Text {
	const mostAgents = 5 // a fifth of the screen
	subs := ""
	if r.Subs > 0 {
		subs = strconv.Itoa(r.Subs)
	}
	return Cells(rules.ShortID(r.ID), Date(r.Created), indent+Title(r.Title), strconv.Itoa(r.Items), subs,
		ui.Truncate(ui.Clean(strings.Join(r.Agents, ", ")), width/mostAgents), r.worstHealth())
}

// worstHealth is the worst severity with the number of its findings.
func (r *Row) worstHealth() document.Span {
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		if n := r.Health[s]; n > 0 {
			return Span(roleOf(s), ui.Count(n, s.String()))
		}
	}
	return Span(document.Good, "ok")
}
