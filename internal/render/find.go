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

// Findings is the result of find, which is printed as it comes.
type Findings struct {
	Tool     Tool
	Home     string // the folder that ~ stands for
	Limit    int    // of messages that are shown, 0 for none
	Quiet    bool
	Sessions bool // without the messages
	Counts   bool // how many messages, in place of them
	Redact   bool
	Next     string // the command that shows the first session
	ExitCode int
	// Print prints the trees that are shown, one after another.
	Print func(*FoundTree) error

	Messages, Shown int    // that were found, and shown of them
	sessions        int    // in so many
	Store, Session  string // of the first message that is shown, "" for none
	taken           map[session.Digest]bool
	rows            [][]document.Text // of the table of sessions
}

// FoundTree is what was found in a tree of a store; Count is how many messages, with those that are
// not kept.
type FoundTree struct {
	*session.Store
	find.Tree
	Count int
}

// Waiting are trees of a store that does not give the newest first.
type Waiting struct {
	Trees []FoundTree // the newest first
	kept  int
}

// Add adds what was found in a tree. No more messages are kept than a limit, if there is one:
// those of the newest sessions.
func (w *Waiting) Add(one FoundTree, limit int) {
	if one.Count == 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(w.Trees, one, func(a, b FoundTree) int { return b.Last.Compare(a.Last) })
	for at < len(w.Trees) && w.Trees[at].Last.Equal(one.Last) {
		at++
	}
	w.Trees = slices.Insert(w.Trees, at, one)
	w.kept += one.Count
	for i := len(w.Trees) - 1; i >= 0 && limit > 0 && w.kept > limit; i-- {
		t := &w.Trees[i]
		drop := min(w.kept-limit, len(t.Hits))
		t.Hits = t.Hits[:len(t.Hits)-drop]
		w.kept -= drop
	}
}

// Leave leaves out the messages that were there before, where a store is read once more.
func (f *Findings) Leave(one *FoundTree) {
	if f.taken == nil {
		f.taken = map[session.Digest]bool{}
	}
	one.Hits = slices.DeleteFunc(one.Hits, func(hit find.Hit) bool {
		key := session.DigestOf(fmt.Sprint(one.Path, "\x00", hit.Session, "\x00", hit.Item))
		before := f.taken[key]
		f.taken[key] = true
		return before
	})
	one.Count = len(one.Hits)
}

// Take takes what was found in a tree, and prints what is not above the limit.
func (f *Findings) Take(one FoundTree) error {
	if one.Count == 0 {
		return nil
	}
	if f.Limit > 0 {
		one.Hits = one.Hits[:min(len(one.Hits), max(f.Limit-f.Shown, 0))]
	}
	if f.Session == "" && len(one.Hits) > 0 {
		f.Store, f.Session = one.Path, one.Hits[0].Session
	}
	f.Messages, f.Shown, f.sessions = f.Messages+one.Count, f.Shown+len(one.Hits), f.sessions+1
	for i := range one.Hits {
		if hit := &one.Hits[i]; f.Redact {
			hit.Line, hit.Marks, hit.Around = "", nil, nil
		}
	}
	if len(one.Hits) == 0 && !f.Sessions && !f.Counts {
		return nil
	}
	return f.Print(&one)
}

// PrintTree prints a tree for people, or keeps its row of the table of sessions for the end.
func (f *Findings) PrintTree(printer document.Printer, width int) func(*FoundTree) error {
	return func(t *FoundTree) error {
		if f.Sessions || f.Counts {
			f.rows = append(f.rows, Cells(Span(document.Strong, ui.Clean(rules.ShortID(t.ID))), Date(t.Last), NameOf(t.Store, f.Home), Title(t.Tree.Title), ui.Number(t.Count)))
			return nil
		}
		return printer(f.treeBlocks(t, width))
	}
}

// PrintEnd prints the table of sessions, if one is asked for, and how much was found.
func (f *Findings) PrintEnd(printer document.Printer) error {
	if err := f.printTable(printer); err != nil {
		return err
	}
	if f.Quiet {
		return nil
	}
	said := fmt.Sprintf("%s in %s", ui.Count(f.Messages, "message"), ui.Count(f.sessions, "session"))
	switch {
	case f.Messages == 0:
		said = "Nothing was found."
	case f.Shown < f.Messages && !f.Sessions && !f.Counts:
		said += fmt.Sprintf("; the newest %s shown, --limit 0 shows all", ui.Number(f.Shown)+rules.VerbForm(f.Shown, " is", " are"))
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
	for part := range slices.Chunk(f.rows, rowsOfTable) {
		for i, cells := range part {
			part[i] = cells[:len(columns)]
		}
		if err := printer(document.Document{document.Table{Columns: columns, Rows: part}}); err != nil {
			return err
		}
	}
	return nil
}

// treeBlocks are the session of a tree and the messages that were found in it.
func (f *Findings) treeBlocks(t *FoundTree, width int) document.Document {
	head := Entry(Span(document.Strong, ui.Clean(rules.ShortID(t.ID))), "  "+Date(t.Last)+"  ", NameOf(t.Store, f.Home), "  "+Title(t.Tree.Title))
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
	lead := document.Words(Span(document.Place, place), "  "+ui.Clean(strings.TrimSpace(hit.Agent+" "+what)))
	if hit.Line != "" { // not left out
		lead = append(append(lead, document.Span{Text: "  "}), markedLine(hit, width-ui.Width(lead.String())-6)...)
	}
	return Entry(lead)
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
