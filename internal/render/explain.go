package render

import (
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/ui"
)

// Page is a rule with its page.
type Page struct {
	Rule     *rules.Rule
	Markdown string // "" in lists
}

// ExplainMarkdown prints pages as they are.
func ExplainMarkdown(w io.Writer, pages []Page) error {
	var out strings.Builder
	for i, p := range pages {
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(p.Markdown)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// ExplainText prints pages for a screen with colour: headings are bold instead
// of marked, and code stands out. The lines stay as they were written.
func ExplainText(screen *ui.Screen, pages []Page) error {
	var out strings.Builder
	for i, p := range pages {
		if i > 0 {
			out.WriteString("\n")
		}
		inCode := false
		for text := range strings.Lines(p.Markdown) {
			text = strings.TrimSuffix(text, "\n")
			heading := strings.TrimLeft(text, "#")
			switch {
			case strings.HasPrefix(text, "```"):
				inCode = !inCode
				continue
			case inCode:
				text = "  " + ui.Cyan.Render(text)
			case heading != text && strings.HasPrefix(heading, " "):
				text = ui.Bold.Render(strings.TrimSpace(heading))
			default:
				text = inlineCode(text)
			}
			out.WriteString(text + "\n")
		}
	}
	_, err := io.WriteString(screen, out.String())
	return err
}

// inlineCode colours what stands between backticks. A line with an odd number
// of them stays as it is: its code goes on in the next line.
func inlineCode(text string) string {
	parts := strings.Split(text, "`")
	if len(parts)%2 == 0 {
		return text
	}
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ui.Cyan.Render(parts[i])
	}
	return strings.Join(parts, "")
}

// RulesText lists rules. Titles are wrapped where the screen ends.
func RulesText(screen *ui.Screen, list []*rules.Rule) error {
	table := document.Table{Columns: []document.Column{{Name: "RULE"}, {Name: "SEVERITY"}, {Name: "REPAIR"}, {Name: "WHAT IT FINDS", Give: document.Break}}}
	for _, r := range list {
		table.Rows = append(table.Rows, Cells(r.ID, SeverityOf(r.Severity), r.Repair(), r.Title))
	}
	return document.Lines(screen)(document.Document{table})
}

// RulesMarkdown lists rules as a table.
func RulesMarkdown(w io.Writer, list []*rules.Rule) error {
	table := document.Table{Columns: []document.Column{{Name: "Id"}, {Name: "Name"}, {Name: "Severity"}, {Name: "Repair"}, {Name: "What it finds"}}}
	for _, r := range list {
		table.Rows = append(table.Rows, Cells(r.ID, r.Name, SeverityOf(r.Severity), r.Repair(), Span(document.Marked, r.Title)))
	}
	return document.Markdown(w)(document.Document{table})
}
