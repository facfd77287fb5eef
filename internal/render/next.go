package render

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
)

// Command is a command to type, with the reason.
type Command = document.Command

// nextLines prints commands one below the other, whole, so that they can be
// copied. The reasons stand behind them, or below where that is too wide.
func nextLines(next []Command, width int) string {
	lines := make([]string, len(next))
	longest, widest := 0, 0
	for i, n := range next {
		lines[i] = ui.Clean(n.Line)
		longest, widest = max(longest, lipgloss.Width(lines[i])), max(widest, lipgloss.Width(n.Why))
	}
	var out strings.Builder
	for i, n := range next {
		gap := strings.Repeat(" ", longest-lipgloss.Width(lines[i])+2)
		if 2+longest+2+widest > width {
			gap = "\n    "
		}
		out.WriteString("  " + lines[i] + gap + ui.Dim.Render(n.Why) + "\n")
	}
	return out.String()
}
