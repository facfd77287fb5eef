package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
)

// Rejection is a place where a provider refuses the request.
type Rejection struct {
	Rules []string // of the findings that are about the place
	Error string   // in the words of the provider
}

// reject puts what is wrong with the request at its parts.
func (b *builder) reject(s *rules.Subject, r *Request, w *wire) {
	message, blocks := -1, 0 // blocks counts the results of the message so far
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Unsent || p.Row.Item < 0 {
			continue
		}
		if p.Message != message {
			message, blocks = p.Message, 0
		}
		var open []string
		for _, n := range w.unanswered[p.Row.Item] {
			open = append(open, s.Items[p.Row.Item].Calls[n].ID)
		}
		if open != nil {
			b.refuse(s, p, open, s.UnansweredError(message, open))
		}
		for _, r := range w.surplus[p.Row.Item] {
			id := s.Items[p.Row.Item].Results[r.nth].CallID
			text := s.ForeignResultError(message, blocks+r.nth, id)
			if r.repeated {
				text = s.RepeatedResultError(message, blocks+r.nth, id)
			}
			b.refuse(s, p, []string{id}, text)
		}
		blocks += len(p.Row.Results)
	}
}

// refuse adds a rejection at a part, with the rules of the findings that are
// about it.
func (b *builder) refuse(s *rules.Subject, p *Part, calls []string, text string) {
	r := Rejection{Error: text}
	for _, f := range b.in.Findings {
		if f.Session == s.ID && concerns(f, p.Row.Item, calls) && !slices.Contains(r.Rules, f.Rule.ID) {
			r.Rules = append(r.Rules, f.Rule.ID)
		}
	}
	p.Rejected = append(p.Rejected, r)
}

// concerns reports whether the finding names the item or one of its calls.
func concerns(f *check.Finding, item int, calls []string) bool {
	return slices.Contains(f.Items, item) || f.Call != "" && slices.Contains(calls, f.Call)
}
