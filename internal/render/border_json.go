package render

import (
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/view"
)

type viewBorder struct {
	Session string        `json:"session"`
	Item    int           `json:"item"`
	Call    string        `json:"call"`
	Tool    string        `json:"tool"`
	Agent   string        `json:"agent,omitzero"`
	Child   string        `json:"child,omitzero"`
	Shared  int           `json:"shared,omitzero"`
	Goal    *borderText   `json:"goal,omitzero"`
	In      []borderGiven `json:"in"`
	Out     *borderOut    `json:"out,omitzero"`
	Besides []borderFound `json:"besides"`
}

type borderText struct {
	Bytes int    `json:"bytes"`
	Text  string `json:"text,omitzero"` // only with --full
}

type borderGiven struct {
	Item     int    `json:"item"`
	Kind     string `json:"kind"`
	Role     string `json:"role,omitzero"`
	Implicit bool   `json:"implicit,omitzero"`
	borderText
}

type borderOut struct {
	Item    int  `json:"item"`
	Answer  bool `json:"answer,omitzero"`
	Error   bool `json:"error,omitzero"`
	Pending bool `json:"pending,omitzero"`
	borderText
}

type borderFound struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Place    string `json:"place"`
	Message  string `json:"message"`
}

// addBorders adds what passed between sessions and their children.
func (d *viewDocument) addBorders(v *view.View, full bool) {
	d.Borders = make([]viewBorder, len(v.Borders))
	for i := range v.Borders {
		d.Borders[i] = viewBorderOf(&v.Borders[i], full)
	}
}

func viewBorderOf(b *view.Border, full bool) viewBorder {
	said := func(text string) borderText {
		t := borderText{Bytes: len(text)}
		if full {
			t.Text = text
		}
		return t
	}
	out := viewBorder{
		Session: b.Caller.ID, Item: b.Item, Call: b.Call.ID, Tool: b.Call.Name, Agent: b.Agent,
		In: []borderGiven{}, Besides: []borderFound{},
	}
	if b.Child != nil {
		out.Child, out.Shared = b.Child.ID, b.Shared
	}
	if b.Goal != "" {
		goal := said(b.Goal)
		out.Goal = &goal
	}
	for _, i := range b.Given {
		it := &b.Child.Items[i]
		given := borderGiven{Item: i, Kind: it.Kind.String(), Role: it.Role.String(), Implicit: it.Flags.Has(session.Implicit)}
		if it.Body != nil {
			given.borderText = said(it.Body.Text)
		}
		out.In = append(out.In, given)
	}
	if o := b.Out; o != nil {
		out.Out = &borderOut{o.Item, o.Answer, o.Result.IsError, o.Result.Pending, said(o.Result.Text)}
	}
	for _, f := range b.Crossed {
		out.Besides = append(out.Besides, borderFound{f.Rule.ID, f.Severity.String(), place(f), f.Message})
	}
	return out
}
