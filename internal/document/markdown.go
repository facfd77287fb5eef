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
			p.printLine("")
		}
		p.last = b
		p.printBlock(b)
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

func (p *Page) printBlock(b Block) {
	switch b := b.(type) {
	case Heading:
		p.printLine(strings.Repeat("#", b.Level) + " " + inlineMarkdown(b.Text))
		if b.ID != "" {
			p.printLine("")
			p.printLine(codeSpan(b.ID))
		}
	case Callout:
		p.printLine(inlineMarkdown(b.Text))
	case Fold:
		p.printLine(inlineMarkdown(b.Title))
		p.Add(b.Below...)
	case Facts:
		var facts []string
		for _, fact := range b {
			facts = append(facts, inlineMarkdown(fact))
		}
		p.printLine(strings.Join(facts, "; "))
	case Paragraph:
		p.printLine(inlineMarkdown(Text(b)))
	case Line:
		p.printLine(inlineMarkdown(Text(b)))
	case Quotation:
		p.printLine("> " + inlineMarkdown(Text(b)))
	case List:
		for i := range b {
			p.printItem(&b[i])
		}
	case Table:
		p.printTable(b)
	case Finding:
		head := Text{{Strong, b.Rule, ""}, {Text: " " + b.Name + " "}, {Code, b.Place, ""}, {Text: " "}}
		if b.Severity.Text != "" {
			head = append(Text{b.Severity, {Text: " "}}, head...)
		}
		var leads List
		for _, c := range b.Consequences {
			leads = append(leads, Item{Text: c})
		}
		p.printItem(&Item{Text: head.And(b.Message...), Below: []Block{leads}})
	case Changes:
		for i := range b {
			p.printChange(&b[i])
		}
	case Source:
		p.printSource(b)
	case Diagram:
		var code strings.Builder
		_ = Mermaid(&code)(Document{b}) // a builder takes everything
		p.printLine("```mermaid")
		p.WriteString(code.String())
		p.printLine("```")
	}
}

// printLine prints a line inside the lists that are open.
func (p *Page) printLine(text string) {
	if text != "" {
		p.WriteString(strings.Repeat("  ", p.depth))
	}
	p.WriteString(text + "\n")
}

// printBelow prints what belongs to the list item printed last.
func (p *Page) printBelow(list ...Block) {
	last := p.last
	p.depth++
	p.Add(list...)
	p.depth--
	p.last = last
}

func (p *Page) printItem(it *Item) {
	text := "- "
	if it.Label != "" {
		text += "**" + escapeText(it.Label) + "** "
	}
	text += inlineMarkdown(it.Text)
	if len(it.More) > 0 {
		text += ", " + inlineMarkdown(it.More)
	}
	if it.Said != "" && !it.Whole {
		text += ": " + escapeText(ui.Excerpt(it.Said, Columns))
	}
	p.printLine(text)
	if it.Whole {
		p.printBelow(Source{Text: it.Said})
	}
	p.printBelow(it.Below...)
}

func (p *Page) printChange(c *Change) {
	text := Text{{Code, c.Place, ""}, {Text: " "}, {Text: c.What.In(Columns)}}
	if c.Note != "" {
		text = text.And(Span{Text: ", "}, Span{Text: c.Note})
	}
	p.printItem(&Item{Label: kinds[c.Kind].word, Text: text, Below: c.Below})
}

func (p *Page) printTable(t Table) {
	names, rule := "", ""
	for _, c := range t.Columns {
		names += "| " + escapeText(c.Name) + " "
		rule += "|---"
		if c.Right {
			rule = strings.TrimSuffix(rule, "---") + "--:"
		}
	}
	p.printLine(names + "|")
	p.printLine(rule + "|")
	for _, row := range t.Rows {
		p.Cells = append(p.Cells, p.Len())
		text := ""
		for _, cell := range row {
			text += "| " + inCell(cell) + " "
		}
		p.printLine(text + "|")
	}
}

// printSource prints a whole text in a fence that it cannot end.
func (p *Page) printSource(s Source) {
	if s.Text == "" {
		return
	}
	if s.What != "" {
		p.printLine("- " + escapeText(s.What))
		p.printBelow(Source{Text: s.Text})
		return
	}
	fence := strings.Repeat("`", max(longestRun(s.Text, '`')+1, 3))
	p.printLine("")
	p.printLine(fence + "text")
	for _, l := range ui.CleanLines(s.Text) {
		p.printLine(l)
	}
	p.printLine(fence)
	p.printLine("")
}
