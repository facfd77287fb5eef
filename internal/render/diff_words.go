package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// diffLine is one line about a tree: a session, one of its fields, or an item.
type diffLine struct {
	session *diff.Session
	field   *diff.Field // nil for the session itself and for an item
	item    *diff.Item  // nil for the session itself and for a field
}

// diffLines lists what is to be said about a tree. Of a session that is new or gone as a
// whole, the items that came and went with it are counted, unless all are asked for.
func diffLines(tree *diff.Tree, full bool) []diffLine {
	var lines []diffLine
	for i := range tree.Sessions {
		s := &tree.Sessions[i]
		if s.Change != diff.Changed {
			lines = append(lines, diffLine{session: s})
		}
		for n := range s.Fields {
			lines = append(lines, diffLine{session: s, field: &s.Fields[n]})
		}
		for n := range s.Items {
			if it := &s.Items[n]; full || s.Change == diff.Changed || it.Change != s.Change {
				lines = append(lines, diffLine{session: s, item: it})
			}
		}
	}
	return lines
}

// parts are a line in the words of a repair's steps.
func (l *diffLine) parts(columns int) stepLine {
	if l.item != nil {
		return itemParts(l.item, columns)
	}
	p := stepLine{place: stepPlace(l.session.ID(), -1)}
	switch {
	case l.field != nil:
		p.mark, p.what = "~", fieldWords(l.field)
	case l.session.Change == diff.Added:
		p.mark, p.what = "+", "new "+wholeWords(l.session)
	default:
		p.mark, p.what = "−", wholeWords(l.session)
	}
	switch {
	case l.field != nil:
	case l.session.From != "":
		p.note = "from " + stepPlace(l.session.From, -1)
	case l.session.Into != "":
		p.note = "all items moved, to " + stepPlace(l.session.Into, -1)
	}
	return p
}

func itemParts(it *diff.Item, columns int) stepLine {
	p := stepLine{what: itemWords(stepOf(it.Now()), columns)}
	switch it.Change {
	case diff.Added:
		p.mark, p.place, p.note = "+", itemPlace(it.B), twinWords(it)
	case diff.Gone:
		p.mark, p.place, p.note = "−", itemPlace(it.A), twinWords(it)
	case diff.Moved:
		p.mark, p.place, p.note = "→", itemPlace(it.A), "to "+itemPlace(it.B)
		if len(it.Differences) > 0 {
			p.note += "; " + differenceWords(it)
		}
	case diff.Changed:
		p.mark, p.place, p.note = "~", itemPlace(it.B), differenceWords(it)
	}
	return p
}

func itemPlace(p *diff.Record) string { return stepPlace(p.Session, p.Item) }

func twinWords(it *diff.Item) string {
	if it.Twin == nil {
		return ""
	}
	return "the same stands in " + itemPlace(it.Twin)
}

// differenceWords name what changed in an item: "other time, /cost". Of very many names the
// first are shown: a record may have as many members as somebody gave it.
func differenceWords(it *diff.Item) string {
	const most = 8
	var names []string
	for _, name := range it.Differences[:min(most, len(it.Differences))] {
		if !strings.HasPrefix(name, "/") { // else a member of the stored record, as it is called there
			name = strings.ReplaceAll(name, "_", " ")
		}
		names = append(names, ui.Truncate(ui.Clean(name), widestExcerpt))
	}
	words := "other " + strings.Join(names, ", ")
	if more := len(it.Differences) - most; more > 0 {
		words += ", and " + ui.Number(more) + " more"
	}
	return words
}

// stepOf is an item as a step of a repair names it.
func stepOf(it *session.Item) *repair.Step {
	s := &repair.Step{Kind: it.Kind, Role: it.Role, Agent: it.Agent, Child: it.Child}
	for i := range it.Calls {
		s.Calls = append(s.Calls, it.Calls[i].Name)
	}
	if it.Body != nil {
		s.Text = it.Body.Text
	}
	if it.Answers() && len(it.Results) > 0 {
		s.Role, s.Text, s.Call = session.Tool, it.Results[0].Text, strings.Join(resultIDs(it), ", ")
	}
	return s
}

// wholeWords are a session that is new or gone.
func wholeWords(s *diff.Session) string {
	what := "session"
	if now := s.B; now != nil && now.Parent != "" || now == nil && s.A.Parent != "" {
		what = "sub-session"
	}
	return what + " with " + ui.Count(s.Stored(), "item")
}

// fieldWords say what a field was and is.
func fieldWords(f *diff.Field) string {
	name := strings.ReplaceAll(ui.Clean(f.Name), "_", " ")
	a, b := f.A, f.B
	if !fitsLine(f) {
		a, b = aroundDifference(a, b)
	}
	switch {
	case f.Name == "positions":
		return "the same order in other position numbers"
	case a == "" && b == "":
		return "something else in its record"
	case a == "":
		return name + " " + quotedValue(b) + ", none before"
	case b == "":
		return "no " + name + ", " + quotedValue(a) + " before"
	case f.Name == "agents" || f.Name == "runs":
		if words := listWords(f); words != "" {
			return name + ": " + words
		}
	}
	return name + " " + quotedValue(a) + " → " + quotedValue(b)
}

func quotedValue(v string) string { return `"` + ui.Excerpt(v, widestExcerpt) + `"` }

// fieldColumns are so many columns of each of two values as fit into a line.
const fieldColumns = 22

// fitsLine reports whether both values of a field can stand in one line.
func fitsLine(f *diff.Field) bool { return len(f.A)+len(f.B) <= 2*fieldColumns }

// aroundDifference cuts two values so that the place where they begin to differ stays.
func aroundDifference(a, b string) (string, string) {
	was, is := []rune(a), []rune(b)
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	const context = 6
	cut := func(value []rune) string {
		if same <= context || len(value) <= fieldColumns {
			return ui.Excerpt(string(value), fieldColumns)
		}
		return ui.Excerpt("…"+string(value[same-context:]), fieldColumns)
	}
	return cut(was), cut(is)
}

// listWords say what was added to a list and what is gone from it, "" where only the order
// is another one.
func listWords(f *diff.Field) string {
	was, is := strings.Split(f.A, ", "), strings.Split(f.B, ", ")
	var words []string
	for _, part := range []struct {
		list, other []string
		word        string
	}{{is, was, "added"}, {was, is, "gone"}} {
		only := slices.DeleteFunc(slices.Clone(part.list), func(one string) bool { return slices.Contains(part.other, one) })
		if len(only) > 0 {
			words = append(words, quotedValue(strings.Join(only, ", "))+" "+part.word)
		}
	}
	return strings.Join(words, ", ")
}

// tally sums a comparison up: "2 sessions differ: 1 item added, 3 gone; 210 sessions
// are equal." A session counts with its sub-sessions, as in a check.
func (d *DiffOptions) tally(t *diff.Tally) string {
	lost := ""
	if d.A.Orphans != d.B.Orphans {
		lost = "; records of no session: " + ui.Number(d.A.Orphans) + " before, " + ui.Number(d.B.Orphans) + " after"
	}
	trees, items := &t.Trees, &t.Items
	if trees.Differ() == 0 {
		if lost != "" {
			return areEqual(trees.Equal) + lost + "."
		}
		if trees.Equal == 0 {
			return "Nothing differs: there are no sessions."
		}
		return "Nothing differs: " + areEqual(trees.Equal) + "."
	}
	text := ui.Count(trees.Differ(), "session") + " differ"
	if trees.Differ() == 1 {
		text += "s"
	}
	text += wholes(trees)
	var what []string
	for _, part := range []struct {
		count int
		word  string
	}{{items.Added, "added"}, {items.Moved, "moved"}, {items.Changed, "changed"}, {items.Gone, "gone"}} {
		switch {
		case part.count == 0:
		case len(what) == 0:
			what = append(what, ui.Count(part.count, "item")+" "+part.word)
		default:
			what = append(what, ui.Number(part.count)+" "+part.word)
		}
	}
	if len(what) > 0 {
		text += ": " + strings.Join(what, ", ")
	}
	if trees.Equal > 0 {
		text += "; " + areEqual(trees.Equal)
	}
	return text + lost + "."
}

func areEqual(n int) string {
	if n == 1 {
		return "1 session is equal"
	}
	return ui.Count(n, "session") + " are equal"
}

// wholes counts the sessions that are new or gone as a whole: " (1 new, 2 gone)".
func wholes(trees *diff.Counts) string {
	var what []string
	if trees.Added > 0 {
		what = append(what, fmt.Sprintf("%s new", ui.Number(trees.Added)))
	}
	if trees.Gone > 0 {
		what = append(what, fmt.Sprintf("%s gone", ui.Number(trees.Gone)))
	}
	if len(what) == 0 {
		return ""
	}
	return " (" + strings.Join(what, ", ") + ")"
}

// diffStoreFacts are what a head line says of a store besides its name.
func diffStoreFacts(s *DiffStore) string {
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	if s.Bytes > 0 {
		facts = append(facts, ui.Bytes(s.Bytes))
	}
	return strings.Join(append(facts, ui.Count(s.Trees, "session")), ", ")
}

// saidBlock is one whole text of an item with a word for what it is.
type saidBlock struct{ what, text string }

// blocks are the whole texts of a line: of an item, or of a field that has no room in one.
func (l *diffLine) blocks() []saidBlock {
	switch {
	case l.item != nil:
		return saidBlocks(l.item)
	case l.field != nil && !fitsLine(l.field):
		return []saidBlock{{"before", l.field.A}, {"after", l.field.B}}
	}
	return nil
}

// saidBlocks are the whole texts that an item has now, and those it had where they differ.
func saidBlocks(it *diff.Item) []saidBlock {
	now := blocksOf(it.Now())
	if it.Was == nil || it.Is == nil {
		return now
	}
	before := blocksOf(it.Was)
	if fmt.Sprint(before) == fmt.Sprint(now) {
		return now
	}
	var list []saidBlock
	for _, b := range before {
		list = append(list, saidBlock{b.what + " before", b.text})
	}
	for _, b := range now {
		list = append(list, saidBlock{b.what + " after", b.text})
	}
	return list
}

func blocksOf(it *session.Item) []saidBlock {
	var list []saidBlock
	add := func(what, text string) {
		if text != "" {
			list = append(list, saidBlock{what, text})
		}
	}
	if it.Body != nil {
		add("reasoning", it.Body.Reasoning)
		add("text", it.Body.Text)
	}
	for i := range it.Calls {
		add("call "+it.Calls[i].ID+" of "+it.Calls[i].Name, it.Calls[i].Args)
	}
	for i := range it.Results {
		add("result of "+it.Results[i].CallID, it.Results[i].Text)
	}
	return list
}
