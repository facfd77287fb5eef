package render

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/ui"
)

func styleOf(severity rules.Severity) lipgloss.Style {
	return [...]lipgloss.Style{rules.Info: ui.Blue, rules.Warning: ui.Yellow, rules.Error: ui.Red}[severity]
}

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
