package changes

import (
	"slices"
	"strings"

	"github.com/sessctl/sessctl/internal/diff"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/render"
	"github.com/sessctl/sessctl/internal/render/machine"
	"github.com/sessctl/sessctl/internal/repair"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// NewDiffWriter makes the writer of a format: text, json or markdown.
func NewDiffWriter(format string, opts render.DiffOptions) render.DiffWriter {
	if format == "json" {
		return machine.NewDiff(opts)
	}
	return &diffPage{DiffOptions: opts, print: document.NewPrinter(format, opts.Screen)}
}

// diffPage prints for people, tree by tree.
type diffPage struct {
	render.DiffOptions
	print  document.Printer
	headed bool
}

// headOnce names the stores, once.
func (d *diffPage) headOnce() document.Document {
	if d.headed || d.Quiet {
		return nil
	}
	d.headed = true
	var stores document.List
	for _, s := range []struct {
		label string
		store *render.DiffStore
	}{{"A", &d.A}, {"B", &d.B}} {
		name := document.Span{Role: document.Name, Text: render.StoreName(s.store.Store, d.Home)}
		facts := append(render.StoreFacts(s.store.Store), ui.Count(s.store.Trees, "session"))
		stores = append(stores, document.Item{Label: s.label, Text: document.Text{name}, More: document.Words(strings.Join(facts, ", "))})
	}
	return document.Document{document.Heading{Level: 1, Text: document.Words("Differences")}, stores, document.Gap{}}
}

func (d *diffPage) Tree(tree *diff.Tree) error {
	if d.Quiet {
		return nil
	}
	return d.print(append(d.headOnce(), render.SessionHeading(tree.Root.ID, tree.Root.Title), diffChanges(tree, d.Full), document.Gap{}))
}

func (d *diffPage) Close(end render.DiffEnd) error {
	doc := append(d.headOnce(), document.Paragraph(document.Words(tallySentence(&d.DiffOptions, &end.Tally))))
	if !d.Quiet {
		doc = append(doc, document.Commands{Lead: "Next:", List: end.Next})
	}
	return d.print(doc)
}

// diffChanges are what is to be said about a tree. Of a session that is new or gone as a
// whole, the items that came and went with it are counted, unless all are asked for.
func diffChanges(tree *diff.Tree, full bool) document.Changes {
	var list document.Changes
	for i := range tree.Sessions {
		s := &tree.Sessions[i]
		if s.Change != diff.Changed {
			list = append(list, sessionChange(s))
		}
		for n := range s.Fields {
			list = append(list, fieldChange(s, &s.Fields[n], full))
		}
		for n := range s.Items {
			if it := &s.Items[n]; full || s.Change == diff.Changed || it.Change != s.Change {
				list = append(list, itemChange(it, full))
			}
		}
	}
	return list
}

func sessionChange(s *diff.Session) document.Change {
	c := document.Change{Kind: document.Gone, Place: stepPlace(s.ID(), -1), What: document.Quote{Who: wholeWords(s)}}
	if s.Change == diff.Added {
		c.Kind, c.What.Who = document.Added, "new "+c.What.Who
	}
	switch {
	case s.From != "":
		c.Note = "from " + stepPlace(s.From, -1)
	case s.Into != "":
		c.Note = "all messages moved to " + stepPlace(s.Into, -1)
	}
	return c
}

func fieldChange(s *diff.Session, f *diff.Field, full bool) document.Change {
	c := document.Change{Place: stepPlace(s.ID(), -1), What: document.Quote{Who: fieldWords(f)}}
	if full && !fitsLine(f) {
		c.Below = sourceBlocks("before", f.A, "after", f.B)
	}
	return c
}

func itemChange(it *diff.Item, full bool) document.Change {
	c := document.Change{What: itemWords(stepOf(it.Now()), !full)}
	switch it.Change {
	case diff.Added:
		c.Kind, c.Place, c.Note = document.Added, itemPlace(it.B), twinWords(it)
	case diff.Gone:
		c.Kind, c.Place, c.Note = document.Gone, itemPlace(it.A), twinWords(it)
	case diff.Moved:
		c.Kind, c.Place, c.Note = document.Moved, itemPlace(it.A), "to "+itemPlace(it.B)
		if len(it.Differences) > 0 {
			c.Note += "; " + differenceWords(it)
		}
	case diff.Changed:
		c.Place, c.Note = itemPlace(it.B), differenceWords(it)
	}
	if full {
		c.Below = wholeTexts(it)
	}
	return c
}

func itemPlace(p *diff.Record) string { return stepPlace(p.Session, p.Item) }

func twinWords(it *diff.Item) string {
	if it.Twin == nil {
		return ""
	}
	return "also stored in " + itemPlace(it.Twin)
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
	s := &repair.Step{}
	s.DescribeItem(it)
	if it.IsAnswer() && len(it.Results) > 0 {
		s.Role, s.Text, s.Call = session.Tool, it.Results[0].Text, strings.Join(machine.ResultIDs(it), ", ")
	}
	return s
}

// wholeWords are a session that is new or gone.
func wholeWords(s *diff.Session) string {
	what := "session"
	if now := s.B; now != nil && now.Parent != "" || now == nil && s.A.Parent != "" {
		what = "sub-session"
	}
	return what + " with " + ui.Count(s.CountStored(), "message")
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
		return "the same order with other position numbers"
	case a == "" && b == "":
		return "its record differs"
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

// tallySentence sums a comparison up: "2 sessions differ: 1 item added, 3 gone; 210 sessions
// are equal." A session counts with its sub-sessions, as in a check.
func tallySentence(d *render.DiffOptions, t *diff.Tally) string {
	lost := ""
	if d.A.Orphans != d.B.Orphans {
		lost = "; records that belong to no session: " + ui.Number(d.A.Orphans) + " before, " + ui.Number(d.B.Orphans) + " after"
	}
	trees, items := &t.Trees, &t.Items
	if trees.CountDiffering() == 0 {
		if lost != "" {
			return areEqual(trees.Equal) + lost + "."
		}
		if trees.Equal == 0 {
			return "Nothing differs: there are no sessions."
		}
		return "Nothing differs: " + areEqual(trees.Equal) + "."
	}
	text := ui.Count(trees.CountDiffering(), "session") + " differ"
	if trees.CountDiffering() == 1 {
		text += "s"
	}
	if wholes := countWords("", []int{trees.Added, trees.Gone}, "new", "gone"); wholes != "" {
		text += " (" + wholes + ")"
	}
	if what := countWords("message", []int{items.Added, items.Moved, items.Changed, items.Gone}, "added", "moved", "changed", "gone"); what != "" {
		text += ": " + what
	}
	if trees.Equal > 0 {
		text += "; " + areEqual(trees.Equal)
	}
	return text + lost + "."
}

func areEqual(n int) string { return render.CountAre(n, "session") + " equal" }

// countWords counts "2 items added, 1 gone": the first number has the noun, and zeros are left
// out.
func countWords(noun string, counts []int, words ...string) string {
	text := ""
	for i, n := range counts {
		switch {
		case n == 0:
		case text == "" && noun != "":
			text = ui.Count(n, noun) + " " + words[i]
		default:
			text = strings.TrimPrefix(text+", ", ", ") + ui.Number(n) + " " + words[i]
		}
	}
	return text
}

// sourceBlocks are whole texts behind what they are.
func sourceBlocks(pairs ...string) []document.Block {
	var list []document.Block
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, document.Source{What: pairs[i], Text: pairs[i+1]})
	}
	return list
}

// wholeTexts are those that an item has now, and those it had where they differ.
func wholeTexts(it *diff.Item) []document.Block {
	now := textsOf(it.Now(), "")
	if it.Was == nil || it.Is == nil || slices.Equal(textsOf(it.Was, ""), now) {
		return sourceBlocks(now...)
	}
	return sourceBlocks(slices.Concat(textsOf(it.Was, " before"), textsOf(it.Is, " after"))...)
}

// textsOf are the texts of an item, each behind what it is.
func textsOf(it *session.Item, when string) []string {
	var list []string
	add := func(what, text string) {
		if text != "" {
			list = append(list, what+when, text)
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
