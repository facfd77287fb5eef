package machine

import (
	"io"
	"slices"
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
	Schema  string        `json:"schema"`
	Store   viewStore     `json:"store"`
	Session viewSession   `json:"session"`
	Viewer  *viewViewer   `json:"viewer,omitzero"`   // with `--branch`, or `--agent` where that finds one viewer: whose view it is
	Viewers []keyedViewer `json:"viewers,omitempty"` // with `--all`, or where there are several viewers: each
	// with `--compare-visibility`: the two that are compared; `events` are then those on which they
	// disagree about a viewer
	Models []string `json:"models,omitempty"`
	// true where token sets were computed from paths: they are exact up to renaming only; else left
	// out
	Recomputed bool `json:"recomputed,omitzero"`
	// events whose path no set could be computed from, so that everybody sees them; left out when
	// there are none
	Unreadable int           `json:"unreadable,omitzero"`
	Tokens     []tokenHolder `json:"tokens,omitempty"` // with `--tokens`: who held which tokens in which run
	Events     []viewEvent   `json:"events"`           // in reading order: those of a sub-session come after the item that refers to it
	Lanes      *viewLanes    `json:"lanes,omitzero"`   // with `--lanes`: what happened between agents
	// with `--isolation`: what crossed the border of each delegation; `events` is empty then
	Borders []viewBorder  `json:"borders,omitzero"`
	Profile *recipient    `json:"profile,omitzero"`  // with `--model-input`: the provider whose request is shown
	Request []requestPart `json:"request,omitempty"` // with `--model-input`: what is sent, part by part
	Verdict *verdict      `json:"verdict,omitzero"`  // with `--model-input`: what becomes of the request as it is stored
}

type viewStore struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// `by index` if only this session's tree was read (docs/stores/docker-agent.md); else why the
	// store was read in full, left out where nothing else was possible
	Read string `json:"read,omitzero"`
}

type viewSession struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitzero"`  // left out when it has none
	Agent  string `json:"agent,omitzero"`  // its agent; left out when it is not known
	Parent string `json:"parent,omitzero"` // left out for a root session
}

type viewEvent struct {
	Item    int    `json:"item"`           // position in its session, from 0 in stored order
	ID      string `json:"id"`             // the record, as `key` of a finding
	Session string `json:"session"`        // the session that holds it
	Depth   int    `json:"depth"`          // delegations that were open: 0 for the session's own items
	Agent   string `json:"agent,omitzero"` // left out if the item has no agent
	Role    string `json:"role,omitzero"`  // `user`, `assistant`, `tool` or `system`; left out unless the item is a message
	// left out if the item is on no branch; an object if the store has a set of tokens or forks
	Branch     branchLabel `json:"branch,omitzero"`
	Tokens     branch.Set  `json:"tokens,omitzero"`     // the token set that was computed for it
	Invocation string      `json:"invocation,omitzero"` // left out if the item has no invocation
	Kind       string      `json:"kind"`                // `message`, `sub_session`, `summary` or `other`
	Child      string      `json:"child,omitzero"`      // id of the sub-session, for `sub_session`
	Calls      []string    `json:"calls,omitempty"`     // ids; left out if there are none
	Results    []string    `json:"results,omitempty"`   // ids of the calls answered; left out if there are none
	// with `--full` only: the text of a message or summary, or of a tool message's results
	Text lateText `json:"text,omitzero"`
	// with a viewer, and at most 50 of them. For `viewer`, a boolean; for `viewers`, an object from
	// their keys to `{"visible":…,"reason":…}`. With `models`, that is an object from the models
	// to such pairs, for `viewer` as well as inside the object of `viewers`
	Visible any `json:"visible,omitzero"`
	// for `viewer`: `root`, `ancestor`, `own`, `unbranched-viewer`, `other-invocation`, `sibling`,
	// `child`, `unrelated`, `archived`, `scope`, `rewound`, `compacted`, `hidden-kind`,
	// `token-subset`, `token-missing`, `fork-disjoint`, `own-session` or `other-session`
	Reason string   `json:"reason,omitzero"`
	Rules  []string `json:"rules,omitempty"` // rules whose findings name the item
}

// PrintView prints a view as one document.
func PrintView(w io.Writer, v *view.View, full bool) error { return JSON(w, viewDocumentOf(v, full)) }

func viewDocumentOf(v *view.View, full bool) *viewDocument {
	s := v.Shown
	d := &viewDocument{
		Schema:  viewSchema,
		Store:   viewStore{v.Store.Path, v.Store.Kind, v.Store.Read},
		Session: viewSession{s.ID, s.Title, s.Agent, s.Parent},
		Events:  appendEvents([]viewEvent{}, s, full, v.Err),
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
func appendEvents(list []viewEvent, s *view.Session, full bool, failed func() error) []viewEvent {
	list = slices.Grow(list, len(s.Rows))
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Stored != nil {
			e := viewEventOf(s.ID, r.Stored)
			e.Item, e.ID, e.Depth, e.Rules = r.Item, r.Key(), r.Depth, r.Rules()
			if full {
				e.Text = func() (string, error) { return wholeText(s.WholeRow(r)), failed() }
			}
			list = append(list, e)
		}
		if r.Child != nil {
			list = appendEvents(list, r.Child, full, failed)
		}
	}
	return list
}

func viewEventOf(in string, it *session.Item) viewEvent {
	e := viewEvent{
		Session: in, Agent: it.Agent(), Role: it.Role.String(), Branch: branchLabel(it.Branch()),
		Invocation: it.Invocation(), Kind: it.Kind.String(), Child: it.Child(),
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

// lateText is a text that is loaded when it is printed.
type lateText func() (string, error)

// IsZero reports whether there is none.
func (t lateText) IsZero() bool {
	if t == nil {
		return true
	}
	text, err := t()
	return text == "" && err == nil
}

// MarshalText implements encoding.TextMarshaler.
func (t lateText) MarshalText() ([]byte, error) {
	text, err := t()
	return []byte(text), err
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
	// number of the first message that it becomes; left out for instructions, for what is not sent,
	// and for system messages where they are none
	Message  *int `json:"message,omitzero"`
	Messages int  `json:"messages,omitzero"` // how many it becomes; left out when it is one
	// on the wire, of the first message: `system`, `user`, `assistant` or `tool`; for Gemini
	// `systemInstruction`, `user` or `model`; for Responses also `function_call` and
	// `function_call_output`; left out if the part is not sent
	Role string `json:"role,omitzero"`
	Item *int   `json:"item,omitzero"` // the stored item; left out for what the runtime adds
	// the kind of the item; or `instructions` (the agent's own, not stored), `summary` (the text of
	// the last summary), `input` (your next message)
	Kind     string           `json:"kind"`
	Sent     bool             `json:"sent"`
	Calls    []string         `json:"calls,omitempty"`    // as in `events`: the stored ids
	Results  []string         `json:"results,omitempty"`  // as in `events`: the stored ids
	Text     string           `json:"text,omitzero"`      // with `--full` only
	Rejected []view.Rejection `json:"rejected,omitempty"` // why the provider refuses the request here; left out where it does not
	Adjusted []adjustment     `json:"adjusted,omitempty"` // what is sent in place of what is stored; left out where nothing is
	Renamed  []view.Renaming  `json:"renamed,omitempty"`  // ids and names that are sent otherwise; left out where none is
}

type adjustment struct {
	// a rule whose finding names the item, or the request as a whole (at the first part), and that
	// does not fail if something else is sent
	Rule string `json:"rule"`
	Sent string `json:"sent"` // what is sent instead; of a runtime, what it does
	By   string `json:"by"`   // `adapter`: an adapter for the provider has to see to it; `runtime`: the runtime does it by itself
	// what the provider answers to what is stored; left out when it accepts it, and when its words are
	// not known
	Error string `json:"error,omitzero"`
}

// recipient says whose request it is.
type recipient struct {
	Name string `json:"name"`         // as `--profile` names it
	Why  string `json:"why,omitzero"` // why this one; left out when it was asked for
	Mode string `json:"mode"`         // `resume` (with your next message) or `as-is`
}

type verdict struct {
	// `accept`, `risk` or `reject`: what becomes of the request as it is stored, the same as
	// `requests[].verdict` of check
	Verdict  string `json:"verdict"`
	Accepted bool   `json:"accepted"` // whether `verdict` is not `reject`
	// where several agents share the session: whose request is refused, if not the one that is shown;
	// else left out
	Voice string `json:"voice,omitzero"`
	// defects with which the request is refused, or may be, and that an adapter can send otherwise;
	// left out if there are none
	Adjusted int    `json:"adjusted,omitzero"`
	Eased    int    `json:"eased,omitzero"` // adjustments that the runtime makes by itself; left out if there are none
	Error    string `json:"error,omitzero"` // the first error, of what is refused; left out when its words are not known
	// what some models or servers of the provider answer: their words, or a rule; left out when there
	// is no such thing
	Risk     string        `json:"risk,omitzero"`
	Closed   bool          `json:"closed,omitzero"`    // true for a sub-session that is never sent to a model again, else left out
	Invented []view.Masked `json:"invented,omitempty"` // docker agent only: calls that get an invented result
	Dropped  []view.Masked `json:"dropped,omitempty"`  // docker agent only: results that are left out
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
	Agents []string   `json:"agents"` // in the order in which they take part, and `user`
	Steps  []laneStep `json:"steps"`  // results of tools are left out where nothing is wrong with them
}

type laneStep struct {
	Session string `json:"session"` // the session of the item that the step is of; a message with two calls has three steps
	Item    int    `json:"item"`    // as in `events`
	// the place in `agents` of who says it, from 0; of a leaked item, of the agent whose session holds
	// it
	Lane int `json:"lane"`
	// the agent that a call asks, that a result goes back to, or that a leaked item belongs to; left
	// out where there is none
	To   *int   `json:"to,omitzero"`
	Kind string `json:"kind"`          // `message`, `call`, `result` or `leaked`
	Call string `json:"call,omitzero"` // id, of a call or a result
	// calls of the same tool after it that have no step of their own; left out if there are none
	More int `json:"more,omitzero"`
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
	Session string `json:"session"` // the session that delegates
	Item    int    `json:"item"`    // the item with the call
	Call    string `json:"call"`    // its id
	Tool    string `json:"tool"`
	Agent   string `json:"agent,omitzero"`  // who was asked; left out when nothing says so
	Child   string `json:"child,omitzero"`  // the session that the call started; left out when it is not known or not stored
	Shared  int    `json:"shared,omitzero"` // how many calls have this child: 1 as a rule
	// the task as the call words it, else as the child was told it; left out when neither is known
	Goal *borderText `json:"goal,omitzero"`
	// what the call gave the child: its items before its agent first spoke. Of a child that several
	// calls share, those of this call's request; none where nothing tells them apart
	In      []borderGiven `json:"in"`
	Out     *borderOut    `json:"out,omitzero"` // the result of the call; left out if the call has none
	Besides []borderFound `json:"besides"`      // what else crossed the border, as the rules SC7xx and SC8xx find it
}

type borderText struct {
	// the task as the call words it, else as the child was told it; `goal` is left out when neither is
	// known
	Bytes int    `json:"bytes"`
	Text  string `json:"text,omitzero"` // with `--full` only
}

type borderGiven struct {
	Item     int    `json:"item"`
	Kind     string `json:"kind"` // as in `events`
	Role     string `json:"role,omitzero"`
	Implicit bool   `json:"implicit,omitzero"` // true where the runtime wrote it, hidden from people
	borderText
}

type borderOut struct {
	Item    int  `json:"item"`            // the item with the result
	Answer  bool `json:"answer,omitzero"` // true where it is the child's last answer
	Error   bool `json:"error,omitzero"`
	Pending bool `json:"pending,omitzero"` // it waits for approval
	borderText
}

type borderFound struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Place    string `json:"place"` // SESSION:ITEMS
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
	// its name in `events[].visible`. Left out of all of them when each one's branch is a text that
	// does that; of viewers with the same branch, the later ones have `branch (agent)`; under the
	// model `session`, it is the id of the session
	Key *string `json:"key,omitzero"`
	viewViewer
	// of more than 50 viewers, in place of `events[].visible`: the events that it sees, as their
	// `item` in its session (`0-2,7`); with `models`, an object from the models to such texts, of the
	// events that are listed
	Sees any `json:"sees,omitzero"`
}

type viewViewer struct {
	// an object where the store has a set of tokens or forks; left out for the viewer without a branch
	Branch  branchLabel `json:"branch,omitzero"`
	Agent   string      `json:"agent,omitzero"`   // left out when several agents ran on the branch, or nothing says which
	Session string      `json:"session,omitzero"` // its session, where that is not the one that is shown
	Scope   string      `json:"scope,omitzero"`   // its isolation scope; left out when it has none
	// how it was decided: `path`, `raw-prefix`, `tokens`, `forks`, `names` or `session`; left out with
	// `--compare-visibility`
	Model  string     `json:"model,omitzero"`
	Tokens branch.Set `json:"tokens,omitzero"` // the token set that was computed for its last event; see `recomputed`
}

type tokenHolder struct {
	Agent      string      `json:"agent,omitzero"`
	Branch     branchLabel `json:"branch,omitzero"`
	Invocation string      `json:"invocation,omitzero"` // the run
	Tokens     branch.Set  `json:"tokens,omitzero"`     // left out when its branch is no token set
	Sees       []string    `json:"sees"`                // the user and agents of the run, each with an event that it sees
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
		out.Text = func() (string, error) { return e.Text(), nil }
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
