package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/check"
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

// RowOf makes the row of a tree with one for each sub-session.
func RowOf(tree *session.Tree, findings []*check.Finding) *Row {
	root := sessionRow(tree.Root())
	root.Subs = len(tree.Sessions) - 1
	own := map[string]*Row{}
	for _, s := range tree.Sessions[1:] {
		sub := sessionRow(s)
		own[s.ID] = sub
		root.Children = append(root.Children, sub)
		root.addAgents(sub.Agents)
	}
	for _, f := range findings {
		root.Health[f.Severity]++
		if sub := own[f.Session]; sub != nil {
			sub.Health[f.Severity]++
		}
	}
	return root
}

func sessionRow(s *session.Session) *Row {
	r := &Row{ID: s.ID, Title: s.Title, Parent: s.Parent, Created: s.Created, Updated: s.Updated, Items: len(s.Items), Subs: below(s)}
	for i := range s.Items {
		if s.Items[i].Role == session.Assistant {
			r.addAgents([]string{s.Items[i].Agent})
		}
	}
	if len(r.Agents) == 0 {
		r.addAgents([]string{s.Agent})
	}
	return r
}

// below counts the sessions below one. Damage can make a loop of them.
func below(s *session.Session) int {
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
		if n != "" && !slices.Contains(r.Agents, n) {
			r.Agents = append(r.Agents, n)
		}
	}
}

// SortRows puts the newest session first.
func SortRows(rows []*Row) {
	slices.SortStableFunc(rows, func(a, b *Row) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
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

// ListedStore is a store with its root sessions.
type ListedStore struct {
	*session.Store
	Rows []*Row
}

// Ls prints a list as text, json or ndjson.
func Ls(format string, screen *ui.Screen, l *Listing) error {
	switch format {
	case "json":
		return lsJSON(screen.Plain(), l)
	case "ndjson":
		return lsLines(screen.Plain(), l)
	}
	var out strings.Builder
	for i, s := range l.Stores {
		if i > 0 {
			out.WriteString("\n")
		}
		if !l.Quiet {
			fmt.Fprintf(&out, "%s  %s, %s\n", ui.Bold.Render(storeName(s.Store, l.Home)), ui.Clean(s.Title), ui.Count(len(s.Rows), "session"))
		}
		if len(s.Rows) == 0 {
			continue
		}
		if err := lsTable(&out, s.Rows, l.All, screen.Width); err != nil {
			return err
		}
	}
	_, err := io.WriteString(screen, out.String())
	return err
}

func lsTable(out *strings.Builder, rows []*Row, all bool, width int) error {
	columns := []tableColumn{
		{name: "ID"}, {name: "DATE"}, {name: "TITLE"}, {name: "ITEMS", right: true},
		{name: "SUBS", right: true}, {name: "AGENTS"}, {name: "HEALTH"},
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, r.cells(""))
		if all {
			for _, c := range r.Children {
				cells = append(cells, c.cells("  "))
			}
		}
	}
	const titles, agents, mostAgents = 2, 5, 5 // a fifth of the screen
	for _, row := range cells {
		row[agents] = ui.Truncate(row[agents], width/mostAgents)
	}
	fit(columns, cells, width, titles, ui.Truncate)
	return writeTable(out, columns, cells)
}

func (r *Row) cells(indent string) []string {
	agents := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		agents[i] = ui.Clean(a)
	}
	subs := ""
	if r.Subs > 0 {
		subs = strconv.Itoa(r.Subs)
	}
	return []string{
		ui.Clean(rules.Short(r.ID)), date(r.Created), indent + title(r.Title),
		strconv.Itoa(r.Items), subs, strings.Join(agents, ", "), r.health(),
	}
}

// health is the worst severity with the number of its findings.
func (r *Row) health() string {
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Info} {
		if n := r.Health[s]; n > 0 {
			return styleOf(s).Render(ui.Count(n, s.String()))
		}
	}
	return ui.Green.Render("ok")
}
