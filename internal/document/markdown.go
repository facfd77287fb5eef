package document

import (
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/ui"
)

// Columns is the length of an excerpt where no screen limits it.
const Columns = 100

// Markdown prints a page that is read elsewhere: what stored text could render as is
// escaped, and whole texts stand in code blocks.
func Markdown(w io.Writer) Printer {
	var p Page
	return func(doc Document) error {
		p.Reset()
		p.Add(doc...)
		_, err := io.WriteString(w, p.String())
		return err
	}
}

// Page is Markdown that is being written.
type Page struct {
	strings.Builder
	// Cells are the places in the text at which rows of tables begin.
	Cells []int

	last  Block // that was added, nil for none
	depth int   // of lists
}

// Add prints blocks. An empty line stands between two that are no lists.
func (p *Page) Add(list ...Block) {
	for _, b := range list {
		if isNothing(b) {
			continue
		}
		if p.depth == 0 && p.last != nil && (!isList(p.last) || !isList(b)) {
			p.line("")
		}
		p.last = b
		p.block(b)
	}
}

// isNothing reports whether a page has nothing of a block.
func isNothing(b Block) bool {
	switch b := b.(type) {
	case Gap, Commands, Viewers:
		return true
	case List:
		return len(b) == 0
	case Changes:
		return len(b) == 0
	case Facts:
		return len(b) == 0
	}
	return false
}

func isList(b Block) bool {
	switch b.(type) {
	case List, Finding, Changes:
		return true
	}
	return false
}

func (p *Page) block(b Block) {
	switch b := b.(type) {
	case Heading:
		p.line(strings.Repeat("#", b.Level) + " " + inline(b.Text))
		if b.ID != "" {
			p.line("")
			p.line(span(b.ID))
		}
	case Callout:
		p.line(inline(b.Text))
	case Fold:
		p.line(inline(b.Title))
		p.Add(b.Below...)
	case Facts:
		var facts []string
		for _, fact := range b {
			facts = append(facts, inline(fact))
		}
		p.line(strings.Join(facts, "; "))
	case Paragraph:
		p.line(inline(Text(b)))
	case Line:
		p.line(inline(Text(b)))
	case Quotation:
		p.line("> " + inline(Text(b)))
	case List:
		for i := range b {
			p.item(&b[i])
		}
	case Table:
		p.table(b)
	case Finding:
		head := Text{{Strong, b.Rule, ""}, {Text: " " + b.Name + " "}, {Code, b.Place, ""}, {Text: " "}}
		if b.Severity.Text != "" {
			head = append(Text{b.Severity, {Text: " "}}, head...)
		}
		var leads List
		for _, c := range b.Consequences {
			leads = append(leads, Item{Text: c})
		}
		p.item(&Item{Text: head.And(b.Message...), Below: []Block{leads}})
	case Changes:
		for i := range b {
			p.change(&b[i])
		}
	case Source:
		p.source(b)
	case Diagram:
		var code strings.Builder
		_ = Mermaid(&code)(Document{b}) // a builder takes everything
		p.line("```mermaid")
		p.WriteString(code.String())
		p.line("```")
	}
}

// line prints a line inside the lists that are open.
func (p *Page) line(text string) {
	if text != "" {
		p.WriteString(strings.Repeat("  ", p.depth))
	}
	p.WriteString(text + "\n")
}

// below prints what belongs to the list item printed last.
func (p *Page) below(list ...Block) {
	last := p.last
	p.depth++
	p.Add(list...)
	p.depth--
	p.last = last
}

func (p *Page) item(it *Item) {
	text := "- "
	if it.Label != "" {
		text += "**" + escaped(it.Label) + "** "
	}
	text += inline(it.Text)
	if len(it.More) > 0 {
		text += ", " + inline(it.More)
	}
	if it.Said != "" && !it.Whole {
		text += ": " + escaped(ui.Excerpt(it.Said, Columns))
	}
	p.line(text)
	if it.Whole {
		p.below(Source{Text: it.Said})
	}
	p.below(it.Below...)
}

func (p *Page) change(c *Change) {
	text := Text{{Code, c.Place, ""}, {Text: " "}, {Text: c.What.In(Columns)}}
	if c.Note != "" {
		text = text.And(Span{Text: ", "}, Span{Text: c.Note})
	}
	p.item(&Item{Label: kinds[c.Kind].word, Text: text, Below: c.Below})
}

func (p *Page) table(t Table) {
	names, rule := "", ""
	for _, c := range t.Columns {
		names += "| " + escaped(c.Name) + " "
		rule += "|---"
		if c.Right {
			rule = strings.TrimSuffix(rule, "---") + "--:"
		}
	}
	p.line(names + "|")
	p.line(rule + "|")
	for _, row := range t.Rows {
		p.Cells = append(p.Cells, p.Len())
		text := ""
		for _, cell := range row {
			text += "| " + inCell(cell) + " "
		}
		p.line(text + "|")
	}
}

// source is a whole text in a fence that it cannot end.
func (p *Page) source(s Source) {
	if s.Text == "" {
		return
	}
	if s.What != "" {
		p.line("- " + escaped(s.What))
		p.below(Source{Text: s.Text})
		return
	}
	fence := strings.Repeat("`", max(longestRun(s.Text, '`')+1, 3))
	p.line("")
	p.line(fence + "text")
	for _, l := range ui.Paragraphs(s.Text) {
		p.line(l)
	}
	p.line(fence)
	p.line("")
}
