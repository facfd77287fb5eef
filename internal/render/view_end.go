package render

import (
	"github.com/sessctl/sessctl/internal/document"
	"github.com/sessctl/sessctl/internal/ui"
	"github.com/sessctl/sessctl/internal/view"
)

// end prints what is wrong with the sessions shown, and what to type next.
func (t *viewText) end() {
	v := t.v
	var doc document.Document
	if len(v.Shown.Rows) > 0 || v.Request != nil {
		doc = append(doc, document.Gap{})
	}
	switch {
	case len(v.Findings) > 0:
		doc = append(doc, document.Line(severities(v.Findings)))
	case v.Request == nil || v.Request.Refusal() == nil:
		doc = append(doc, document.Line{span(document.Good, healthy(v))})
	}
	for _, f := range v.Findings {
		doc = append(doc, findingOf(f, said(f), v.Request == nil))
	}
	if v.Others > 0 {
		doc = append(doc, document.Line(words(others(v))))
	}
	t.add(append(doc, t.next()...)...)
}

// next are the commands to type.
func (t *viewText) next() document.Document {
	if len(t.opts.Next) == 0 {
		return nil
	}
	return document.Document{document.Gap{}, document.Commands{Lead: "Next:", List: t.opts.Next}}
}

// add prints blocks.
func (t *viewText) add(doc ...document.Block) {
	t.out.WriteString(document.OnScreen(t.opts.Screen, doc...))
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
