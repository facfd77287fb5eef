package render

import "github.com/sessctl/sessctl/internal/view"

// requestPart is one part of what the next run sends.
type requestPart struct {
	Message  *int          `json:"message,omitzero"`
	Role     string        `json:"role,omitzero"`
	Item     *int          `json:"item,omitzero"` // absent for what the runtime adds
	Kind     string        `json:"kind"`          // of the item, or instructions, summary, input
	Sent     bool          `json:"sent"`
	Calls    []string      `json:"calls,omitempty"`
	Results  []string      `json:"results,omitempty"`
	Text     string        `json:"text,omitzero"` // only with --full
	Rejected []requestFlaw `json:"rejected,omitempty"`
}

type requestFlaw struct {
	Rules []string `json:"rules,omitempty"`
	Error string   `json:"error"`
}

type verdict struct {
	Accepted bool         `json:"accepted"`
	Error    string       `json:"error,omitzero"`
	Closed   bool         `json:"closed,omitzero"`
	Invented []maskedCall `json:"invented,omitempty"`
	Dropped  []maskedCall `json:"dropped,omitempty"`
}

type maskedCall struct {
	Item int    `json:"item"`
	Call string `json:"call"`
}

func (d *viewDocument) addRequest(r *view.Request, full bool) {
	for i := range r.Parts {
		p := &r.Parts[i]
		out := requestPart{
			Message: item(p.Message), Role: p.Role, Item: item(p.Row.Item), Kind: p.Kind(), Sent: !p.Unsent,
			Calls: callIDs(&p.Row), Results: resultIDs(&p.Row),
		}
		if full {
			out.Text = wholeText(&p.Row)
		}
		for _, flaw := range p.Rejected {
			out.Rejected = append(out.Rejected, requestFlaw{flaw.Rules, flaw.Error})
		}
		d.Request = append(d.Request, out)
	}
	d.Verdict = &verdict{Accepted: r.Error() == "", Error: r.Error(), Closed: r.Closed}
	if r.Masking != nil {
		d.Verdict.Invented, d.Verdict.Dropped = masked(r.Masking.Invented), masked(r.Masking.Dropped)
	}
}

func masked(list []view.Masked) []maskedCall {
	out := make([]maskedCall, len(list))
	for i, m := range list {
		out[i] = maskedCall{m.Item, m.Call}
	}
	return out
}
