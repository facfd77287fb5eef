package machine

import (
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessctl/sessctl/internal/branch"
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/render"
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
	Lanes      *viewLanes    `json:"lanes,omitzero"`   // with --lanes
	Borders    []viewBorder  `json:"borders,omitzero"` // with --isolation
	Profile    *recipient    `json:"profile,omitzero"`
	Request    []requestPart `json:"request,omitempty"`
	Verdict    *verdict      `json:"verdict,omitzero"`
}

type viewStore struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	Read string `json:"read,omitzero"` // how, where one session was asked for
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

// PrintView prints a view as one document.
func PrintView(w io.Writer, v *view.View, full bool) error { return JSON(w, viewDocumentOf(v, full)) }

func viewDocumentOf(v *view.View, full bool) *viewDocument {
	s := v.Shown
	d := &viewDocument{
		Schema:  viewSchema,
		Store:   viewStore{v.Store.Path, v.Store.Kind, v.Store.Read},
		Session: viewSession{s.ID, s.Title, s.Agent, s.Parent},
		Events:  appendEvents([]viewEvent{}, s, full),
	}
	if v.Visibility != nil {
		d.addVisibility(v, full)
	}
	if v.Lanes != nil {
		d.Lanes = viewLanesOf(v.Lanes)
	}
	if v.Borders != nil {
		d.Borders = lists.MapEach(v.Borders, func(b view.Border) viewBorder { return viewBorderOf(&b, full) })
	}
	if v.Request != nil {
		d.addRequest(v.Request, full)
	}
	return d
}

// appendEvents lists the items of a session, and those of a sub-session behind the
// item that refers to it.
func appendEvents(list []viewEvent, s *view.Session, full bool) []viewEvent {
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
			list = appendEvents(list, r.Child, full)
		}
	}
	return list
}

func viewEventOf(in string, it *session.Item) viewEvent {
	e := viewEvent{
		Session: in, Agent: it.Agent, Role: it.Role.String(), Branch: branchLabel(it.Branch),
		Invocation: it.Invocation, Kind: it.Kind.String(), Child: it.Child,
	}
	e.Calls, e.Results = callIDs(it), ResultIDs(it)
	return e
}

// callIDs are the ids of a message's calls; nil for what is no stored message.
func callIDs(it *session.Item) []string {
	if it == nil || it.Kind != session.Message {
		return nil
	}
	return lists.MapEach(it.Calls, func(c session.Call) string { return c.ID })
}

// ResultIDs are the ids of the calls that a message answers.
func ResultIDs(it *session.Item) []string {
	if it == nil || it.Kind != session.Message {
		return nil
	}
	return lists.MapEach(it.Results, func(r session.Result) string { return r.CallID })
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

// requestPart is one part of what the next run sends.
type requestPart struct {
	Message  *int             `json:"message,omitzero"`
	Messages int              `json:"messages,omitzero"` // when it is several
	Role     string           `json:"role,omitzero"`
	Item     *int             `json:"item,omitzero"` // absent for what the runtime adds
	Kind     string           `json:"kind"`          // of the item, or instructions, summary, input
	Sent     bool             `json:"sent"`
	Calls    []string         `json:"calls,omitempty"`
	Results  []string         `json:"results,omitempty"`
	Text     string           `json:"text,omitzero"` // only with --full
	Rejected []view.Rejection `json:"rejected,omitempty"`
	Adjusted []adjustment     `json:"adjusted,omitempty"`
	Renamed  []view.Renaming  `json:"renamed,omitempty"`
}

type adjustment struct {
	Rule  string `json:"rule"`
	Sent  string `json:"sent"`
	By    string `json:"by"`
	Error string `json:"error,omitzero"`
}

// recipient says whose request it is.
type recipient struct {
	Name string `json:"name"`
	Why  string `json:"why,omitzero"`
	Mode string `json:"mode"`
}

type verdict struct {
	Verdict  string        `json:"verdict"`
	Accepted bool          `json:"accepted"`
	Voice    string        `json:"voice,omitzero"`
	Adjusted int           `json:"adjusted,omitzero"`
	Eased    int           `json:"eased,omitzero"`
	Error    string        `json:"error,omitzero"`
	Risk     string        `json:"risk,omitzero"`
	Closed   bool          `json:"closed,omitzero"`
	Invented []view.Masked `json:"invented,omitempty"`
	Dropped  []view.Masked `json:"dropped,omitempty"`
}

func (d *viewDocument) addRequest(r *view.Request, full bool) {
	d.Profile = &recipient{Name: r.Profile.Name, Why: r.Why, Mode: "resume"}
	if r.AsIs {
		d.Profile.Mode = "as-is"
	}
	d.Request = lists.MapEach(r.Parts, func(p view.Part) requestPart { return requestPartOf(&p, full) })
	d.Verdict = &verdict{
		Verdict: r.Answer.Verdict.String(), Accepted: r.Answer.Verdict != check.Reject, Voice: r.Answer.Viewer,
		Adjusted: r.Adjusted, Eased: r.Eased, Risk: r.Risk(), Closed: r.Closed,
	}
	if r.Answer.Verdict == check.Reject {
		d.Verdict.Error = r.Answer.Error
	}
	if r.Masking != nil {
		d.Verdict.Invented, d.Verdict.Dropped = r.Masking.Invented, r.Masking.Dropped
	}
}

func requestPartOf(p *view.Part, full bool) requestPart {
	out := requestPart{
		Message: itemIndex(p.Message), Role: p.Role, Item: itemIndex(p.Row.Item), Kind: p.Kind(), Sent: !p.Unsent,
		Calls: callIDs(p.Row.Stored), Results: ResultIDs(p.Row.Stored), Rejected: p.Rejected, Renamed: p.Renamed,
	}
	if p.Last > p.Message {
		out.Messages = p.Last - p.Message + 1
	}
	if full {
		out.Text = wholeText(&p.Row)
	}
	out.Adjusted = lists.MapEach(p.Adjusted, func(a view.Adjustment) adjustment {
		return adjustment{a.Rule, a.Sent, map[bool]string{false: "adapter", true: "runtime"}[a.Runtime], a.Error}
	})
	return out
}

// viewLanes are what happened between agents; the items are in events.
type viewLanes struct {
	Agents []string   `json:"agents"`
	Steps  []laneStep `json:"steps"`
}

type laneStep struct {
	Session string `json:"session"`
	Item    int    `json:"item"`
	Lane    int    `json:"lane"`
	To      *int   `json:"to,omitzero"`
	Kind    string `json:"kind"`
	Call    string `json:"call,omitzero"`
	More    int    `json:"more,omitzero"`
}

func viewLanesOf(l *view.Lanes) *viewLanes {
	step := func(s view.Step) laneStep {
		one := laneStep{Session: s.Session.ID, Item: s.Row.Item, Lane: s.Lane, Kind: "message", More: s.More}
		if s.To != s.Lane {
			one.To = &s.To
		}
		switch {
		case s.Leaked:
			one.Kind = "leaked"
		case s.Call != nil:
			one.Kind, one.Call = "call", s.Call.ID
		case s.Result != nil:
			one.Kind, one.Call = "result", s.Result.Call
		}
		return one
	}
	return &viewLanes{lists.MapEach(l.List, func(lane view.Lane) string { return lane.Name }), lists.MapEach(l.Steps, step)}
}

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
	}
	if b.Child != nil {
		out.Child, out.Shared = b.Child.ID, b.Shared
	}
	if b.Goal != "" {
		goal := said(b.Goal)
		out.Goal = &goal
	}
	out.In = lists.MapEach(b.Given, func(i int) borderGiven {
		it := &b.Child.Items[i]
		given := borderGiven{Item: i, Kind: it.Kind.String(), Role: it.Role.String(), Implicit: it.Flags.Has(session.Implicit)}
		if it.Body != nil {
			given.borderText = said(it.Body.Text)
		}
		return given
	})
	if o := b.Out; o != nil {
		out.Out = &borderOut{o.Item, o.Answer, o.Result.IsError, o.Result.Pending, said(o.Result.Text)}
	}
	out.Besides = lists.MapEach(b.Crossed, func(f *check.Finding) borderFound {
		return borderFound{f.Rule.ID, f.Severity.String(), render.FindingPlace(f), f.Message}
	})
	return out
}

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
	parsed := branch.ParseLabel(string(l))
	return parsed.Names != nil || parsed.Tokens != nil || parsed.Forks != nil
}

type keyedViewer struct {
	Key *string `json:"key,omitzero"` // where a branch does not tell one from another
	viewViewer
	Sees any `json:"sees,omitzero"` // of many viewers, in place of what events say
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
			Tokens: branch.ParseLabel(viewer.Set).Tokens,
		}}
		if viewer.Session != v.Shown.Session {
			out.Session = viewer.Session.ID
		}
		if len(asked.Models) == 1 {
			out.Model = asked.Models[0].Name
		}
		if asked.IsCrowd() {
			out.Sees = perModel(asked, func(m int) any {
				return view.RunWords(asked.RunsWhere(i, func(e *view.Event) bool { return asked.Cell(e, i, m).Visible }), "-", ",")
			})
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
	d.Tokens = lists.MapEach(asked.Holders, func(h view.Holder) tokenHolder {
		return tokenHolder{h.Agent, branchLabel(h.Branch), h.Invocation, h.Tokens, h.Sees}
	})
	d.Events = lists.MapEach(asked.Events, func(e view.Event) viewEvent { return visibleEvent(asked, &e, full) })
}

func visibleEvent(v *view.Visibility, e *view.Event, full bool) viewEvent {
	out := viewEventOf(e.Session.ID, e.Stored())
	out.Item, out.ID, out.Depth, out.Rules = e.Item, e.Key(), e.Depth, e.Rules
	out.Tokens = branch.ParseLabel(e.Set).Tokens
	if full {
		out.Text = e.Text()
	}
	switch {
	case v.IsCrowd(): // each viewer says what it sees
	case v.Single && len(v.Models) == 1:
		cell := v.Cell(e, 0, 0)
		out.Visible, out.Reason = cell.Visible, cell.Reason.String()
	default:
		out.Visible = viewerVerdicts(v, e)
	}
	return out
}

// viewerVerdicts are what viewers see of an event, by their keys, and of two models by their
// names.
func viewerVerdicts(v *view.Visibility, e *view.Event) any {
	seen := func(viewer, model int) any {
		cell := v.Cell(e, viewer, model)
		return visible{cell.Visible, cell.Reason.String()}
	}
	of := func(viewer int) any { return perModel(v, func(m int) any { return seen(viewer, m) }) }
	if v.Single {
		return of(0)
	}
	return object{len(v.Viewers), func(i int) string { return v.Viewers[i].Key }, of}
}

// perModel is a value, or those of both models that are compared, by their names.
func perModel(v *view.Visibility, of func(model int) any) any {
	if len(v.Models) == 1 {
		return of(0)
	}
	return object{2, func(m int) string { return v.Models[m].Name }, of}
}

type visible struct {
	Visible bool   `json:"visible"`
	Reason  string `json:"reason"`
}

// object has members in an order, each made when it is printed.
type object struct {
	members int
	name    func(i int) string
	value   func(i int) any
}

// MarshalJSONTo implements json.MarshalerTo.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range o.members {
		for _, value := range []any{o.name(i), o.value(i)} {
			if err := json.MarshalEncode(enc, value); err != nil {
				return err
			}
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
