package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/sessctl/sessctl/internal/config"
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Page is a rule with its page.
type Page struct {
	Rule     *rules.Rule
	Markdown string // "" in lists
}

// PrintRules prints pages as they are or, coloured, for a screen with colour.
func PrintRules(w io.Writer, pages []Page, coloured bool) error {
	texts := make([]string, len(pages))
	for i, p := range pages {
		if texts[i] = p.Markdown; coloured {
			texts[i] = inColour(p.Markdown)
		}
	}
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

// inColour is a page with bold headings instead of marked ones, and with code that
// stands out. The lines stay as they were written.
func inColour(markdown string) string {
	var out strings.Builder
	inCode := false
	for text := range strings.Lines(markdown) {
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
	return out.String()
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
		table.Rows = append(table.Rows, Cells(r.ID, SeverityOf(r.Severity), r.RepairText(), r.Title))
	}
	return document.Lines(screen)(document.Document{table})
}

// RulesMarkdown lists rules as a table.
func RulesMarkdown(w io.Writer, list []*rules.Rule) error {
	table := document.Table{Columns: []document.Column{{Name: "Id"}, {Name: "Name"}, {Name: "Severity"}, {Name: "Repair"}, {Name: "What it finds"}}}
	for _, r := range list {
		table.Rows = append(table.Rows, Cells(r.ID, r.Name, SeverityOf(r.Severity), r.RepairText(), Span(document.Marked, r.Title)))
	}
	return document.Markdown(w)(document.Document{table})
}

// PrintConfig prints settings with their sources. file is the configuration
// file, "" if none of places exists.
func PrintConfig(format string, screen *ui.Screen, file string, places []string, settings []config.Setting) error {
	var from document.Block = document.Line(document.Words("Configuration file: " + file))
	if file == "" {
		from = document.List{Entry("No configuration file (looked for " + strings.Join(places, " and ") + ").")}
	}
	table := document.Table{Columns: []document.Column{{Name: "SETTING"}, {Name: "VALUE"}, {Name: "SOURCE"}}}
	for _, s := range settings {
		table.Rows = append(table.Rows, Cells(s.Key, settingText(s.Value), s.Source))
	}
	return document.NewPrinter(format, screen)(document.Document{from, document.Gap{}, table})
}

func settingText(value any) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(value)
}

// Receipt is what a list says of the receipt of a repair.
type Receipt struct {
	Path, Store, Time string
	State             string // as the receipt says it, or "damaged"
	Sessions, Made    int    // that the repair changed, and made
}

// PrintReceipts lists receipts for people.
func PrintReceipts(screen *ui.Screen, home string, list []Receipt) error {
	if len(list) == 0 {
		return document.NewPrinter("text", screen)(document.Document{document.Line(document.Words("No receipt of a repair was found."))})
	}
	table := document.Table{Columns: []document.Column{
		{Name: "REPAIRED"}, {Name: "SESSIONS", Right: true}, {Name: "STATE"}, {Name: "STORE"}, {Name: "RECEIPT"},
	}}
	for _, r := range list {
		table.Rows = append(table.Rows, Cells(r.Time, ui.Number(r.Sessions), r.State, ui.Tilde(r.Store, home), ui.Tilde(r.Path, home)))
	}
	return document.NewPrinter("text", screen)(document.Document{table})
}

// KnownKind is a kind of store with the places where it is looked for.
type KnownKind struct {
	Name, Title string
	Stream      bool // can be read from standard input
	Folder      bool // a store is a folder
	Places      []KnownPlace
}

// KnownPlace is such a place.
type KnownPlace struct {
	Path  string
	Found bool
	Store *session.Store // nil when there is none, or it cannot be read
	Error string         // why it cannot be read
}

// PrintStores prints the kinds and what was found.
func PrintStores(format string, screen *ui.Screen, home string, kinds []KnownKind) error {
	var doc document.Document
	for i, k := range kinds {
		if i > 0 {
			doc = append(doc, document.Gap{})
		}
		kind := Entry(Span(document.Strong, k.Title), "  --store "+k.Name)
		if len(k.Places) == 0 {
			what := map[bool]string{true: "folder", false: "file"}[k.Folder]
			kind.Below = []document.Block{Say("has no usual place: name the " + what + map[bool]string{true: ", or - for standard input"}[k.Stream])}
		}
		for _, p := range k.Places {
			var facts document.Facts
			if p.Error != "" {
				facts = append(facts, document.Words(ui.EndSentence(p.Error)))
			}
			if p.Store != nil && p.Store.Versions != "" {
				facts = append(facts, document.Words(p.Store.Versions))
			}
			kind.Below = append(kind.Below, document.Line(document.Words(ui.Tilde(p.Path, home)+"  ", p.summaryText())), facts)
		}
		doc = append(doc, document.List{kind})
	}
	return document.NewPrinter(format, screen)(doc)
}

func (p *KnownPlace) summaryText() document.Text {
	switch {
	case p.Store != nil:
		facts := []string{"schema " + p.Store.Generation, ui.Bytes(p.Store.Bytes)}
		if live := WriterNote(p.Store); live != "" {
			facts = append(facts, live)
		}
		return document.Words(Span(document.Good, "found"), ", "+strings.Join(facts, ", "))
	case p.Found:
		return document.Words(Span(document.Notice, "found, but it cannot be read as a store"))
	}
	return document.Words(Span(document.Quiet, "nothing there"))
}
