package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/ui"
)

// findingsTable prints one line a finding. The message is cut where the screen
// ends: text and json have all of it.
func findingsTable(out *strings.Builder, o *CheckOptions, findings []*check.Finding) error {
	columns := []tableColumn{{name: "SEVERITY"}, {name: "RULE"}, {name: "NAME"}, {name: "PLACE"}, {name: "MESSAGE"}}
	rows := make([][]string, len(findings))
	for i, f := range findings {
		rows[i] = []string{
			styleOf(f.Severity).Render(f.Severity.String()), f.Rule.ID, f.Rule.Name, ui.Truncate(place(f), widestPlace), ui.Clean(said(f)),
		}
	}
	const message = 4
	fit(columns, rows, o.Screen.Width, message, ui.Truncate)
	err := writeTable(out, columns, rows)
	out.WriteString("\n")
	return err
}
