package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/check"
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

// reject puts what is wrong with the calls and results at their parts.
func reject(s *rules.Subject, r *Request, found []*check.Finding) explained {
	said := explained{map[*check.Finding]bool{}, map[string]bool{}}
	objections := s.Objections(r.Profile)
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Unsent || p.Row.Item < 0 {
			continue
		}
		for ; len(objections) > 0 && objections[0].Item <= p.Row.Item; objections = objections[1:] {
			if objections[0].Item == p.Row.Item {
				said.reject(s, r, p, &objections[0], found)
			}
		}
	}
	return said
}

// reject adds a rejection at a part, with the rules of the findings that are
// about it.
func (said *explained) reject(s *rules.Subject, r *Request, p *Part, o *rules.Objection, found []*check.Finding) {
	rejection := Rejection{Error: o.Error}
	for _, f := range found {
		if f.Session != s.ID || !f.IsAbout(r.Profile, o, p.Row.Item) {
			continue
		}
		said.findings[f] = true
		if !slices.Contains(rejection.Rules, f.Rule.ID) {
			rejection.Rules = append(rejection.Rules, f.Rule.ID)
		}
	}
	said.texts[o.Error], said.texts[o.Told] = true, true
	p.Rejected = append(p.Rejected, rejection)
}
