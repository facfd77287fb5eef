package render

import (
	"strings"
	"time"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

// Title is a session's title for people.
func Title(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no title)"
	}
	return ui.Clean(text)
}

// Date is a local day, "" when it is not known.
func Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// StoreName is what people call a store.
func StoreName(s *session.Store, home string) string {
	if s.Path == "-" {
		return "standard input"
	}
	return ui.Clean(ui.Tilde(s.Path, home))
}

// Writer says who is writing to the store, "" when nobody is known to.
func Writer(s *session.Store) string {
	switch {
	case s.Writer != session.WriterLive:
		return ""
	case s.WriterName == "":
		return "in use by another process"
	}
	return "in use by " + ui.Clean(s.WriterName)
}

// SessionHeading begins what is said about a session.
func SessionHeading(id, name string) document.Heading {
	return document.Heading{Level: 2, ID: id, Short: rules.Short(id), Text: document.Words(Title(name))}
}

// Are is a number with its noun and its verb: "1 session is", "2 sessions are".
func Are(n int, noun string) string {
	return ui.Count(n, noun) + map[bool]string{true: " is", false: " are"}[n == 1]
}

// Say makes a paragraph of pieces: strings, texts and spans.
func Say(pieces ...any) document.Paragraph { return document.Paragraph(document.Words(pieces...)) }

// Span is a piece of text that is one thing.
func Span(role document.Role, text string) document.Span {
	return document.Span{Role: role, Text: text}
}

// Entry is an item of a list, of pieces as words takes them.
func Entry(pieces ...any) document.Item { return document.Item{Text: document.Words(pieces...)} }

// roleOf is how a severity stands out.
func roleOf(severity rules.Severity) document.Role {
	return [...]document.Role{rules.Info: document.Info, rules.Warning: document.Notice, rules.Error: document.Bad}[severity]
}

// SeverityOf is a severity in its colour.
func SeverityOf(s rules.Severity) document.Span { return Span(roleOf(s), s.String()) }

// NameOf is what people call a store, as what it is.
func NameOf(s *session.Store, home string) document.Text {
	return document.Text{Span(document.Name, StoreName(s, home))}
}

// StoreFacts are what a store is.
func StoreFacts(s *session.Store) []string {
	facts := []string{ui.Clean(s.Title)}
	if s.Generation != "" {
		facts = append(facts, "schema "+ui.Clean(s.Generation))
	}
	if s.Bytes > 0 {
		facts = append(facts, ui.Bytes(s.Bytes))
	}
	return facts
}

// Cells are a row of a table.
func Cells(pieces ...any) []document.Text {
	row := make([]document.Text, len(pieces))
	for i, piece := range pieces {
		row[i] = document.Words(piece)
	}
	return row
}
