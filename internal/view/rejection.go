package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/pairing"
	"github.com/sessctl/sessctl/internal/rules"
)

// Rejection is a place where a provider refuses the request.
type Rejection struct {
	Rules []string // of the findings that are about the place
	Error string   // in the words of the provider, "" when they are not known
}

// explained are the findings about pairs that a rejection speaks for, and the
// texts of these rejections.
type explained struct {
	findings map[*check.Finding]bool
	texts    map[string]bool
}

// byItem groups occurrences by their item.
func byItem(list []pairing.Occurrence) map[int][]int {
	items := map[int][]int{}
	for _, at := range list {
		items[at.Item] = append(items[at.Item], at.Nth)
	}
	return items
}

// reject puts what is wrong with the calls and results at their parts.
func reject(s *rules.Subject, r *Request, found []*check.Finding) explained {
	said := explained{map[*check.Finding]bool{}, map[string]bool{}}
	refused := s.Refused(r.Profile)
	calls, results := byItem(refused.Calls), byItem(refused.Results)
	message, blocks := -1, 0 // blocks counts the results of the message so far
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Unsent || p.Row.Item < 0 {
			continue
		}
		if p.Message != message {
			message, blocks = p.Message, 0
		}
		it := &s.Items[p.Row.Item]
		var open []string
		for _, n := range calls[p.Row.Item] {
			open = append(open, it.Calls[n].ID)
		}
		if open != nil {
			said.reject(s, r, p, open, s.UnansweredError(r.Profile, message, open), found)
		}
		for _, n := range results[p.Row.Item] {
			id, repeated := it.Results[n].CallID, refused.Repeated[pairing.Occurrence{Item: p.Row.Item, Nth: n}]
			said.texts[s.SurplusError(r.Profile, message, 0, id, repeated)] = true // findings do not count blocks
			said.reject(s, r, p, []string{id}, s.SurplusError(r.Profile, message, blocks+n, id, repeated), found)
		}
		blocks += len(p.Row.Results)
	}
	return said
}

// reject adds a rejection at a part, with the rules of the findings that are
// about it.
func (said *explained) reject(s *rules.Subject, r *Request, p *Part, calls []string, text string, found []*check.Finding) {
	rejection := Rejection{Error: text}
	for _, f := range found {
		if f.Session != s.ID || !concerns(f, p.Row.Item, calls) || f.Rule.Profiled && !answersWith(f, r.Profile, text) {
			continue
		}
		said.findings[f] = true
		if !slices.Contains(rejection.Rules, f.Rule.ID) {
			rejection.Rules = append(rejection.Rules, f.Rule.ID)
		}
	}
	said.texts[text] = true
	p.Rejected = append(p.Rejected, rejection)
}

// concerns reports whether the finding names the item or one of its calls.
func concerns(f *check.Finding, item int, calls []string) bool {
	return slices.Contains(f.Items, item) || f.Call != "" && slices.Contains(calls, f.Call)
}

// answersWith reports whether the text is what the profile answers to a finding.
func answersWith(f *check.Finding, profile *rules.Profile, text string) bool {
	j := judgement(f, profile)
	return j != nil && j.Error == text
}
