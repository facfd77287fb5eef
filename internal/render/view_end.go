package render

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// end prints what is wrong with the sessions shown, and what to type next.
func (t *viewText) end() {
	v := t.v
	if len(v.Shown.Rows) > 0 || v.Request != nil {
		t.out.WriteString("\n")
	}
	switch {
	case len(v.Findings) > 0:
		t.out.WriteString(severities(v.Findings) + "\n")
	case v.Request == nil || v.Request.Error() == "":
		t.out.WriteString(ui.Green.Render(healthy(v)) + "\n")
	}
	for _, f := range v.Findings {
		fmt.Fprintf(&t.out, "  %s %s %s  %s\n", styleOf(f.Severity).Render(f.Severity.String()),
			ui.Bold.Render(f.Rule.ID), f.Rule.Name, ui.Cyan.Render(place(f)))
		t.out.WriteString(ui.Hang("    ", "    ", ui.Ended(ui.Clean(f.Message)), t.paragraph))
		if f.ProviderError != "" && v.Request == nil {
			t.out.WriteString(providerError(f.ProviderError, t.paragraph))
		}
	}
	if v.Others > 0 {
		t.out.WriteString(others(v) + "\n")
	}
	t.next()
}

// next lists what to type, each with its reason: beside it where all fit on a
// line, else below it.
func (t *viewText) next() {
	line, why := 0, 0
	for _, c := range t.opts.Next {
		line, why = max(line, lipgloss.Width(c.Line)), max(why, lipgloss.Width(c.Why))
	}
	for i, c := range t.opts.Next {
		if i == 0 {
			t.out.WriteString("\nNext:\n")
		}
		between := strings.Repeat(" ", line-lipgloss.Width(c.Line)+2)
		if line+why+4 > t.width {
			between = "\n      "
		}
		t.out.WriteString("  " + c.Line + between + ui.Dim.Render(c.Why) + "\n")
	}
}

// healthy is what is said where nothing is wrong.
func healthy(v *view.View) string {
	if v.Shown.Below > 0 {
		return "Nothing is wrong with this session and its sub-sessions."
	}
	return "Nothing is wrong with this session."
}

func others(v *view.View) string {
	return ui.Count(v.Others, "finding") + " in other sessions of the same tree."
}
