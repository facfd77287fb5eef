package render

import (
	"strings"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/session"
	"github.com/sessctl/sessctl/internal/view"
)

const viewSchema = "sessctl.view/1"

type viewDocument struct {
	Schema     string        `json:"schema"`
	Store      viewStore     `json:"store"`
	Session    viewSession   `json:"session"`
	Viewer     *viewViewer   `json:"viewer,omitzero"` // the only one that was asked for
	Viewers    []keyedViewer `json:"viewers,omitempty"`
	Models     []string      `json:"models,omitempty"`    // that are compared
	Recomputed bool          `json:"recomputed,omitzero"` // token sets were computed from paths
	Unreadable int           `json:"unreadable,omitzero"` // events for which that was not possible
	Tokens     []tokenHolder `json:"tokens,omitempty"`    // with --tokens
	Events     []viewEvent   `json:"events"`
	Borders    []viewBorder  `json:"borders,omitzero"` // with --isolation
	Profile    *recipient    `json:"profile,omitzero"`
	Request    []requestPart `json:"request,omitempty"`
	Verdict    *verdict      `json:"verdict,omitzero"`
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
	Item       int         `json:"item"`
	ID         string      `json:"id"`
	Session    string      `json:"session"`
	Depth      int         `json:"depth"`
	Agent      string      `json:"agent,omitzero"`
	Role       string      `json:"role,omitzero"`
	Branch     branchLabel `json:"branch,omitzero"`
	Tokens     branch.Set  `json:"tokens,omitzero"` // that were computed from the branch
	Invocation string      `json:"invocation,omitzero"`
	Kind       string      `json:"kind"`
	Child      string      `json:"child,omitzero"` // of sub_session
	Calls      []string    `json:"calls,omitempty"`
	Results    []string    `json:"results,omitempty"`
	Text       string      `json:"text,omitzero"`    // only with --full
	Visible    any         `json:"visible,omitzero"` // a boolean, or objects by viewer, by model, or by both
	Reason     string      `json:"reason,omitzero"`
	Rules      []string    `json:"rules,omitempty"`
}

func viewDocumentOf(v *view.View, full bool) *viewDocument {
	s := v.Shown
	d := &viewDocument{
		Schema:  viewSchema,
		Store:   viewStore{v.Store.Path, v.Store.Kind},
		Session: viewSession{s.ID, s.Title, s.Agent, s.Parent},
		Events:  events([]viewEvent{}, s, full),
	}
	if v.Visibility != nil {
		d.addVisibility(v, full)
	}
	if v.Borders != nil {
		d.addBorders(v, full)
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
			e := viewEventOf(s.ID, r.Stored)
			e.Item, e.ID, e.Depth, e.Rules = r.Item, r.Key, r.Depth, r.Rules()
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

func viewEventOf(in string, it *session.Item) viewEvent {
	e := viewEvent{
		Session: in, Agent: it.Agent, Role: it.Role.String(), Branch: branchLabel(it.Branch),
		Invocation: it.Invocation, Kind: it.Kind.String(), Child: it.Child,
	}
	e.Calls, e.Results = callIDs(it), resultIDs(it)
	return e
}

// callIDs are the ids of a message's calls; nil for what is no stored message.
func callIDs(it *session.Item) []string {
	if it == nil || it.Kind != session.Message {
		return nil
	}
	var ids []string
	for i := range it.Calls {
		ids = append(ids, it.Calls[i].ID)
	}
	return ids
}

func resultIDs(it *session.Item) []string {
	if it == nil || it.Kind != session.Message {
		return nil
	}
	var ids []string
	for i := range it.Results {
		ids = append(ids, it.Results[i].CallID)
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
