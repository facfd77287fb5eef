package render

import (
	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/view"
)

// requestPart is one part of what the next run sends.
type requestPart struct {
	Message  *int          `json:"message,omitzero"`
	Messages int           `json:"messages,omitzero"` // when it is several
	Role     string        `json:"role,omitzero"`
	Item     *int          `json:"item,omitzero"` // absent for what the runtime adds
	Kind     string        `json:"kind"`          // of the item, or instructions, summary, input
	Sent     bool          `json:"sent"`
	Calls    []string      `json:"calls,omitempty"`
	Results  []string      `json:"results,omitempty"`
	Text     string        `json:"text,omitzero"` // only with --full
	Rejected []requestFlaw `json:"rejected,omitempty"`
	Adjusted []adjustment  `json:"adjusted,omitempty"`
	Renamed  []renaming    `json:"renamed,omitempty"`
}

type requestFlaw struct {
	Rules []string `json:"rules,omitempty"`
	Error string   `json:"error,omitzero"`
}

type adjustment struct {
	Rule  string `json:"rule"`
	Sent  string `json:"sent"`
	By    string `json:"by"`
	Error string `json:"error,omitzero"`
}

type renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// recipient says whose request it is.
type recipient struct {
	Name string `json:"name"`
	Why  string `json:"why,omitzero"`
	Mode string `json:"mode"`
}

type verdict struct {
	Verdict  string       `json:"verdict"`
	Accepted bool         `json:"accepted"`
	Voice    string       `json:"voice,omitzero"`
	Adjusted int          `json:"adjusted,omitzero"`
	Eased    int          `json:"eased,omitzero"`
	Error    string       `json:"error,omitzero"`
	Risk     string       `json:"risk,omitzero"`
	Closed   bool         `json:"closed,omitzero"`
	Invented []maskedCall `json:"invented,omitempty"`
	Dropped  []maskedCall `json:"dropped,omitempty"`
}

type maskedCall struct {
	Item int    `json:"item"`
	Call string `json:"call"`
}

func (d *viewDocument) addRequest(r *view.Request, full bool) {
	d.Profile = &recipient{Name: r.Profile.Name, Why: r.Why, Mode: "resume"}
	if r.AsIs {
		d.Profile.Mode = "as-is"
	}
	for i := range r.Parts {
		d.Request = append(d.Request, requestPartOf(&r.Parts[i], full))
	}
	d.Verdict = &verdict{
		Verdict: r.Answer.Verdict.String(), Accepted: r.Answer.Verdict != check.Reject, Voice: r.Answer.Voice,
		Adjusted: r.Adjusted, Eased: r.Eased, Risk: r.Risk(), Closed: r.Closed,
	}
	if r.Answer.Verdict == check.Reject {
		d.Verdict.Error = r.Answer.Error
	}
	if r.Masking != nil {
		d.Verdict.Invented, d.Verdict.Dropped = masked(r.Masking.Invented), masked(r.Masking.Dropped)
	}
}

func requestPartOf(p *view.Part, full bool) requestPart {
	out := requestPart{
		Message: item(p.Message), Role: p.Role, Item: item(p.Row.Item), Kind: p.Kind(), Sent: !p.Unsent,
		Calls: callIDs(p.Row.Stored), Results: resultIDs(p.Row.Stored),
	}
	if p.Last > p.Message {
		out.Messages = p.Last - p.Message + 1
	}
	if full {
		out.Text = wholeText(&p.Row)
	}
	for _, flaw := range p.Rejected {
		out.Rejected = append(out.Rejected, requestFlaw{flaw.Rules, flaw.Error})
	}
	for _, a := range p.Adjusted {
		by := "adapter"
		if a.Runtime {
			by = "runtime"
		}
		out.Adjusted = append(out.Adjusted, adjustment{a.Rule, a.Sent, by, a.Error})
	}
	for _, name := range p.Renamed {
		out.Renamed = append(out.Renamed, renaming{name.From, name.To})
	}
	return out
}

func masked(list []view.Masked) []maskedCall {
	out := make([]maskedCall, len(list))
	for i, m := range list {
		out[i] = maskedCall{m.Item, m.Call}
	}
	return out
}
