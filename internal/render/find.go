package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/find"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Findings is the result of find.
type Findings struct {
	Tool     Tool
	Home     string // the folder that ~ stands for
	Limit    int    // of messages that are shown, 0 for none
	Quiet    bool
	Sessions bool   // without the messages
	Counts   bool   // how many messages, in place of them
	Next     string // the command that shows the first session
	ExitCode int
	Stores   []FoundStore
}

// FoundStore is a store with what was found in it, the newest session first.
type FoundStore struct {
	*session.Store
	Trees []FoundTree
	kept  int
}

// FoundTree is what was found in a tree; Count is how many messages, with those that are not
// kept.
type FoundTree struct {
	find.Tree
	Count int
}

// Add adds what was found in a tree. No more messages are kept than a limit, if there is one:
// those of the newest sessions.
func (s *FoundStore) Add(found find.Tree, limit int, redact bool) {
	if len(found.Hits) == 0 {
		return
	}
	for i := range found.Hits {
		if hit := &found.Hits[i]; redact {
			hit.Line, hit.Marks, hit.Around = "", nil, nil
		}
	}
	one := FoundTree{found, len(found.Hits)}
	at, _ := slices.BinarySearchFunc(s.Trees, one, func(a, b FoundTree) int { return b.Last.Compare(a.Last) })
	for at < len(s.Trees) && s.Trees[at].Last.Equal(one.Last) {
		at++
	}
	s.Trees = slices.Insert(s.Trees, at, one)
	s.kept += one.Count
	for i := len(s.Trees) - 1; i >= 0 && limit > 0 && s.kept > limit; i-- {
		t := &s.Trees[i]
		drop := min(s.kept-limit, len(t.Hits))
		t.Hits = t.Hits[:len(t.Hits)-drop]
		s.kept -= drop
	}
}

// Add adds a store, and leaves what is above the limit of all.
func (f *Findings) Add(s FoundStore) {
	if s.Store == nil {
		return
	}
	room := f.Limit
	for i := range f.Stores {
		room -= f.Stores[i].kept
	}
	for i := range s.Trees {
		if t := &s.Trees[i]; f.Limit > 0 {
			t.Hits = t.Hits[:min(len(t.Hits), max(room, 0))]
			room -= len(t.Hits)
		}
	}
	f.Stores = append(f.Stores, s)
}

// Count is how many messages were found, and shown of them.
func (f *Findings) Count() (count int) {
	for _, s := range f.Stores {
		for _, t := range s.Trees {
			count += t.Count
		}
	}
	return count
}

// First is the store and the session of the first message, "" for none.
func (f *Findings) First() (store, id string) {
	for _, s := range f.Stores {
		for _, t := range s.Trees {
			if len(t.Hits) > 0 {
				return s.Path, t.Hits[0].Session
			}
		}
	}
	return "", ""
}

// PrintFound prints what was found for people.
func PrintFound(format string, screen *ui.Screen, f *Findings) error {
	printer := document.NewPrinter(format, screen)
	shown, sessions := 0, 0
	if f.Sessions || f.Counts {
		if err := f.printTable(printer); err != nil {
			return err
		}
	}
	for _, s := range f.Stores {
		for i := range s.Trees {
			t := &s.Trees[i]
			sessions++
			if len(t.Hits) == 0 || f.Sessions || f.Counts {
				continue
			}
			shown += len(t.Hits)
			if err := printer(f.treeBlocks(&s, t, screen.Width)); err != nil {
				return err
			}
		}
	}
	if f.Quiet {
		return nil
	}
	count := f.Count()
	said := fmt.Sprintf("%s in %s", ui.Count(count, "message"), ui.Count(sessions, "session"))
	switch {
	case count == 0:
		said = "Nothing was found."
	case shown < count && !f.Sessions && !f.Counts:
		said += fmt.Sprintf("; the newest %s shown, --limit 0 shows all", ui.Number(shown)+rules.VerbForm(shown, " is", " are"))
	}
	doc := document.Document{Say(said)}
	if f.Next != "" {
		doc = append(doc, document.Commands{Lead: "Next:", List: []Command{{Line: f.Next, Why: "the first of these sessions"}}})
	}
	return printer(doc)
}

// printTable prints the sessions in place of the messages that were found in them.
func (f *Findings) printTable(printer document.Printer) error {
	columns := []document.Column{{Name: "ID"}, {Name: "DATE"}, {Name: "STORE"}, {Name: "TITLE", Give: document.Cut}, {Name: "MESSAGES", Right: true}}
	if !f.Counts {
		columns = columns[:len(columns)-1]
	}
	var rows [][]document.Text
	for _, s := range f.Stores {
		for _, t := range s.Trees {
			cells := Cells(Span(document.Strong, ui.Clean(rules.ShortID(t.ID))), Date(t.Last), NameOf(s.Store, f.Home), Title(t.Title), ui.Number(t.Count))
			rows = append(rows, cells[:len(columns)])
		}
	}
	for part := range slices.Chunk(rows, rowsOfTable) {
		if err := printer(document.Document{document.Table{Columns: columns, Rows: part}}); err != nil {
			return err
		}
	}
	return nil
}

// treeBlocks are the session of a tree and the messages that were found in it.
func (f *Findings) treeBlocks(s *FoundStore, t *FoundTree, width int) document.Document {
	head := Entry(Span(document.Strong, ui.Clean(rules.ShortID(t.ID))), "  "+Date(t.Last)+"  ", NameOf(s.Store, f.Home), "  "+Title(t.Title))
	var list document.List
	in := t.ID
	for i := range t.Hits {
		hit := &t.Hits[i]
		if in != hit.Session {
			in = hit.Session
			list = append(list, Entry(Span(document.Quiet, ui.Clean(strings.Join(hit.Path, " › ")))))
		}
		for _, near := range hit.Around {
			if near.Item < hit.Item {
				list = append(list, nearEntry(hit, &near, width))
			}
		}
		list = append(list, hitEntry(hit, width))
		for _, near := range hit.Around {
			if near.Item > hit.Item {
				list = append(list, nearEntry(hit, &near, width))
			}
		}
	}
	head.Below = []document.Block{list}
	return document.Document{document.List{head}, document.Gap{}}
}

// nearEntry is how a message begins that stands near one that was found.
func nearEntry(hit *find.Hit, near *find.Near, width int) document.Item {
	lead := fmt.Sprintf("%s-%d  %s  ", rules.ShortID(hit.Session), near.Item, ui.Clean(near.Agent))
	return Entry(Span(document.Quiet, lead+ui.Excerpt(near.Line, width-ui.Width(lead)-4)))
}

// hitEntry is a message that was found, with the first word of it in the middle where the line is
// longer than the screen.
func hitEntry(hit *find.Hit, width int) document.Item {
	place := rules.ShortID(hit.Session) + ":" + fmt.Sprint(hit.Item)
	what := map[string]string{find.InText: hit.Role.String(), find.InCalls: hit.Tool + " called with", find.InResults: hit.Tool + " gave"}[hit.Part]
	if what == "" {
		what = hit.Part
	}
	lead := document.Words(Span(document.Place, place), "  "+ui.Clean(strings.TrimSpace(hit.Agent+" "+what))+"  ")
	return Entry(append(lead, markedLine(hit, width-ui.Width(lead.String())-4)...))
}

// markedLine is the line of a message with what was found in brackets.
func markedLine(hit *find.Hit, width int) (line document.Text) {
	const widest = 2 // columns of a character
	text, marks := hit.Line, hit.Marks
	if len(marks) == 0 {
		return document.Words(ui.Truncate(ui.Clean(text), width))
	}
	from := marks[0][0]
	if room := max(width-(marks[0][1]-from)-4, 0); ui.Width(text) > width {
		from = beginAt(text, from-room/2)
	} else {
		from = 0
	}
	if from > 0 {
		line = append(line, document.Span{Text: "…"})
	}
	at := from
	for _, m := range marks {
		if m[0] < at {
			continue
		}
		line = append(line, document.Span{Text: flat(text[at:m[0]])}, Span(document.Strong, "["+flat(text[m[0]:m[1]])+"]"))
		at = m[1]
	}
	line = append(line, document.Span{Text: flat(text[at:])})
	return cutText(line, max(width, widest))
}

// flat is stored text on one line.
func flat(text string) string { return ui.Clean(strings.ReplaceAll(text, "\t", " ")) }

// beginAt is a place where a character begins, at or after another one.
func beginAt(text string, at int) int {
	for at = max(at, 0); at > 0 && at < len(text) && text[at]&0xC0 == 0x80; at++ {
	}
	return min(at, len(text))
}

// cutText is a text on so many columns.
func cutText(t document.Text, width int) (cut document.Text) {
	for _, s := range t {
		room := width - ui.Width(s.Text)
		if room < 0 {
			s.Text = ui.Truncate(s.Text, width)
			return append(cut, s)
		}
		width = room
		cut = append(cut, s)
	}
	return cut
}
