package render

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// title is a session's title for people.
func title(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no title)"
	}
	return ui.Clean(text)
}

// date is a local day, "" when it is not known.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// storeName is what people call a store.
func storeName(s *session.Store, home string) string {
	if s.Path == "-" {
		return "standard input"
	}
	return ui.Clean(ui.Tilde(s.Path, home))
}

// writer says who is writing to the store, "" when nobody is known to.
func writer(s *session.Store) string {
	switch {
	case s.Writer != session.WriterLive:
		return ""
	case s.WriterName == "":
		return "in use by another process"
	}
	return "in use by " + ui.Clean(s.WriterName)
}

// sessionHeading begins what is said about a session.
func sessionHeading(id, name string) document.Heading {
	return document.Heading{Level: 2, ID: id, Short: rules.Short(id), Text: document.Words(title(name))}
}

// say makes a paragraph of pieces: strings, texts and spans.
func say(pieces ...any) document.Paragraph { return document.Paragraph(words(pieces...)) }

// words makes a text of pieces: strings, texts and spans.
func words(pieces ...any) document.Text {
	var t document.Text
	for _, piece := range pieces {
		switch piece := piece.(type) {
		case string:
			t = append(t, document.Span{Text: piece})
		case document.Span:
			t = append(t, piece)
		case document.Text:
			t = append(t, piece...)
		}
	}
	return t
}

func span(role document.Role, text string) document.Span {
	return document.Span{Role: role, Text: text}
}

// entry is an item of a list, of pieces as words takes them.
func entry(pieces ...any) document.Item { return document.Item{Text: words(pieces...)} }

// roleOf is how a severity stands out.
func roleOf(severity rules.Severity) document.Role {
	return [...]document.Role{rules.Info: document.Info, rules.Warning: document.Notice, rules.Error: document.Bad}[severity]
}

func severityOf(s rules.Severity) document.Span { return span(roleOf(s), s.String()) }

// nameOf is what people call a store, as what it is.
func nameOf(s *session.Store, home string) document.Text {
	return document.Text{span(document.Name, storeName(s, home))}
}

// storeFacts are what a store is.
func storeFacts(s *session.Store) []string {
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	if s.Bytes > 0 {
		facts = append(facts, ui.Bytes(s.Bytes))
	}
	return facts
}

// cells are a row of a table.
func cells(pieces ...any) []document.Text {
	row := make([]document.Text, len(pieces))
	for i, piece := range pieces {
		row[i] = words(piece)
	}
	return row
}
