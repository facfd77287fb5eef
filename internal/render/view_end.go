package render

import (
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
		t.out.WriteString(severities(v.Findings).Styled() + "\n")
	case v.Request == nil || v.Request.Refusal() == nil:
		t.out.WriteString(ui.Green.Render(healthy(v)) + "\n")
	}
	for _, f := range v.Findings {
		findingText(&t.out, f, place(f), said(f), t.paragraph)
		if v.Request == nil {
			t.out.WriteString(refusal(f, t.paragraph))
		}
	}
	if v.Others > 0 {
		t.out.WriteString(others(v) + "\n")
	}
	if len(t.opts.Next) > 0 {
		t.out.WriteString("\nNext:\n" + nextLines(t.opts.Next, t.width))
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
