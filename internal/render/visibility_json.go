package render

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/view"
)

// branchLabel is a branch: a string, or the object that the store has.
type branchLabel string

// MarshalJSONTo implements json.MarshalerTo.
func (l branchLabel) MarshalJSONTo(enc *jsontext.Encoder) error {
	if l.isObject() {
		return enc.WriteValue(jsontext.Value(l))
	}
	return enc.WriteToken(jsontext.String(string(l)))
}

func (l branchLabel) isObject() bool {
	parsed := branch.Parse(string(l))
	return parsed.Tokens != nil || parsed.Forks != nil
}

type keyedViewer struct {
	Key *string `json:"key,omitzero"` // where a branch does not tell one from another
	viewViewer
}

type viewViewer struct {
	Branch  branchLabel `json:"branch,omitzero"`
	Agent   string      `json:"agent,omitzero"`
	Session string      `json:"session,omitzero"` // where it is not the one that is shown
	Scope   string      `json:"scope,omitzero"`
	Model   string      `json:"model,omitzero"` // where only one is asked
	Tokens  branch.Set  `json:"tokens,omitzero"`
}

type tokenHolder struct {
	Agent      string      `json:"agent,omitzero"`
	Branch     branchLabel `json:"branch,omitzero"`
	Invocation string      `json:"invocation,omitzero"`
	Tokens     branch.Set  `json:"tokens,omitzero"`
	Sees       []string    `json:"sees"`
}

// addVisibility adds who could see what.
func (d *viewDocument) addVisibility(v *view.View, full bool) {
	asked := v.Visibility
	keyed := false
	for i := range asked.Viewers {
		keyed = keyed || asked.Viewers[i].Key != asked.Viewers[i].Branch || branchLabel(asked.Viewers[i].Branch).isObject()
	}
	var viewers []keyedViewer
	for i := range asked.Viewers {
		viewer := &asked.Viewers[i]
		out := keyedViewer{viewViewer: viewViewer{
			Branch: branchLabel(viewer.Branch), Agent: viewer.Agent, Scope: viewer.Scope,
			Tokens: branch.Parse(viewer.Set).Tokens,
		}}
		if viewer.Session != v.Shown.Session {
			out.Session = viewer.Session.ID
		}
		if len(asked.Models) == 1 {
			out.Model = asked.Models[0].Name
		}
		if keyed {
			out.Key = &viewer.Key
		}
		viewers = append(viewers, out)
	}
	if asked.Single {
		d.Viewer = &viewers[0].viewViewer
	} else {
		d.Viewers = viewers
	}
	for _, m := range asked.Models {
		if len(asked.Models) == 2 {
			d.Models = append(d.Models, m.Name)
		}
		d.Recomputed = d.Recomputed || m.Recomputed
		d.Unreadable += m.Unreadable
	}
	for _, h := range asked.Holders {
		d.Tokens = append(d.Tokens, tokenHolder{h.Agent, branchLabel(h.Branch), h.Invocation, h.Tokens, h.Sees})
	}
	d.Events = make([]viewEvent, len(asked.Events))
	for i := range asked.Events {
		d.Events[i] = visibleEvent(asked, &asked.Events[i], full)
	}
}

func visibleEvent(v *view.Visibility, e *view.Event, full bool) viewEvent {
	out := viewEventOf(e.Session.ID, e.Stored())
	out.Item, out.ID, out.Depth, out.Rules = e.Item, e.Key(), e.Depth, e.Rules
	out.Tokens = branch.Parse(e.Set).Tokens
	if full {
		out.Text = e.Text()
	}
	if v.Single && len(v.Models) == 1 {
		cell := v.Cell(e, 0, 0)
		out.Visible, out.Reason = cell.Visible, cell.Reason.String()
	} else {
		out.Visible = verdicts{v, e}
	}
	return out
}

// verdicts are what several viewers see of an event, by their keys, or a single
// one under two models.
type verdicts struct {
	v *view.Visibility
	e *view.Event
}

// MarshalJSONTo implements json.MarshalerTo.
func (x verdicts) MarshalJSONTo(enc *jsontext.Encoder) error {
	if x.v.Single {
		return x.models(enc, 0)
	}
	return object(enc, len(x.v.Viewers), func(i int) string { return x.v.Viewers[i].Key }, func(i int) error {
		if len(x.v.Models) == 2 {
			return x.models(enc, i)
		}
		return verdictTo(enc, x.v.Cell(x.e, i, 0))
	})
}

// models are what one viewer sees under each of two models.
func (x verdicts) models(enc *jsontext.Encoder, viewer int) error {
	return object(enc, 2, func(m int) string { return x.v.Models[m].Name }, func(m int) error {
		return verdictTo(enc, x.v.Cell(x.e, viewer, m))
	})
}

func verdictTo(enc *jsontext.Encoder, cell view.Cell) error {
	values := []jsontext.Token{jsontext.Bool(cell.Visible), jsontext.String(cell.Reason.String())}
	return object(enc, 2, func(i int) string { return []string{"visible", "reason"}[i] }, func(i int) error {
		return enc.WriteToken(values[i])
	})
}

// object writes n members in their order.
func object(enc *jsontext.Encoder, n int, name func(i int) string, value func(i int) error) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range n {
		if err := enc.WriteToken(jsontext.String(name(i))); err != nil {
			return err
		}
		if err := value(i); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
