package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/view"
)

const viewSchema = "sessctl.view/1"

type viewDocument struct {
	Schema  string        `json:"schema"`
	Store   viewStore     `json:"store"`
	Session viewSession   `json:"session"`
	Events  []viewEvent   `json:"events"`
	Profile *recipient    `json:"profile,omitzero"`
	Request []requestPart `json:"request,omitempty"`
	Verdict *verdict      `json:"verdict,omitzero"`
}

type viewStore struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

type viewSession struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitzero"`
	Agent  string `json:"agent,omitzero"`
	Parent string `json:"parent,omitzero"`
}

type viewEvent struct {
	Item       int      `json:"item"`
	ID         string   `json:"id"`
	Session    string   `json:"session"`
	Depth      int      `json:"depth"`
	Agent      string   `json:"agent,omitzero"`
	Role       string   `json:"role,omitzero"`
	Branch     string   `json:"branch,omitzero"`
	Invocation string   `json:"invocation,omitzero"`
	Kind       string   `json:"kind"`
	Child      string   `json:"child,omitzero"` // of sub_session
	Calls      []string `json:"calls,omitempty"`
	Results    []string `json:"results,omitempty"`
	Text       string   `json:"text,omitzero"` // only with --full
	Rules      []string `json:"rules,omitempty"`
}

func viewDocumentOf(v *view.View, full bool) *viewDocument {
	s := v.Shown
	d := &viewDocument{
		Schema:  viewSchema,
		Store:   viewStore{v.Store.Path, v.Store.Kind},
		Session: viewSession{s.ID, s.Title, s.Agent, s.Parent},
		Events:  events([]viewEvent{}, s, full),
	}
	if v.Request != nil {
		d.addRequest(v.Request, full)
	}
	return d
}

// events lists the items of a session, and those of a sub-session behind the
// item that refers to it.
func events(list []viewEvent, s *view.Session, full bool) []viewEvent {
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Stored != nil {
			e := viewEvent{
				Item: r.Item, ID: r.Key, Session: s.ID, Depth: r.Depth,
				Agent: r.Stored.Agent, Role: r.Stored.Role.String(), Branch: r.Stored.Branch, Invocation: r.Stored.Invocation,
				Kind: r.Stored.Kind.String(), Child: r.Stored.Child,
				Calls: callIDs(r), Results: resultIDs(r), Rules: r.Rules(),
			}
			if full {
				e.Text = wholeText(r)
			}
			list = append(list, e)
		}
		if r.Child != nil {
			list = events(list, r.Child, full)
		}
	}
	return list
}

func callIDs(r *view.Row) []string {
	var ids []string
	for _, c := range r.Calls {
		ids = append(ids, c.ID)
	}
	return ids
}

func resultIDs(r *view.Row) []string {
	var ids []string
	for _, result := range r.Results {
		ids = append(ids, result.Call)
	}
	return ids
}

// wholeText is what a row says: its text, or the texts of its results.
func wholeText(r *view.Row) string {
	var parts []string
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	for _, result := range r.Results {
		parts = append(parts, result.Answer.Text)
	}
	return strings.Join(parts, "\n")
}
