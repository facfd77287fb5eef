package view

import (
	"slices"

	"github.com/sessctl/sessctl/internal/check"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/rules/catalogue"
	"github.com/sessctl/sessctl/internal/session"
)

// Adjustment is something that is sent otherwise than it is stored.
type Adjustment struct {
	Rule     string
	Severity rules.Severity // how much the provider minds it as it is stored
	Runtime  bool           // the runtime does it by itself; else an adapter for the provider has to
	Sent     string         // what is sent: "the two messages as one"; of a runtime, what it does: "joins them"
	Error    string         // what the provider answers to what is stored, "" when that is not known
}

// asked are the findings with the profile of the session named: what its runtime
// sees to by itself is reported then too.
func (b *builder) asked(s *rules.Subject) []*check.Finding {
	if len(b.in.Judge.Profiles) > 0 {
		return b.in.Findings
	}
	return check.Tree(b.in.Store, b.in.Tree, catalogue.Usual(), rules.Judge{Profiles: s.Profiles, AsIs: b.in.Judge.AsIs})
}

// object puts what the provider minds of the request, beside the pairs that are
// explained already, at the parts that the findings name.
func (b *builder) object(s *rules.Subject, r *Request, found []*check.Finding, said explained) {
	for _, f := range found {
		j := judgement(f, r.Profile)
		if f.Session != s.ID || j == nil || said.findings[f] || said.texts[j.Error] {
			continue
		}
		parts := r.about(f)
		if len(parts) == 0 {
			continue
		}
		// The other findings are about pairs, and whether those are refused was said
		// before.
		_, minded := r.Profile.Levels[f.Rule.ID]
		does := ""
		if f.Rule.Profiled {
			does = b.in.Store.Adaptation(f.Rule.ID, r.Profile.Name)
		}
		switch {
		case does != "":
			r.Eased++
			adjust(parts, Adjustment{Rule: f.Rule.ID, Severity: j.Severity, Runtime: true, Sent: does})
		case f.Sent != "":
			if j.Severity > rules.Info {
				r.Adjusted++
			}
			adjust(parts, Adjustment{Rule: f.Rule.ID, Severity: j.Severity, Sent: f.Sent, Error: j.Error})
		case minded && j.Severity == rules.Error:
			parts[0].refuse(f.Rule.ID, j.Error, r.Profile)
		}
	}
}

// judgement is what a profile makes of a finding, nil when it was not asked.
func judgement(f *check.Finding, profile *rules.Profile) *rules.Judgement {
	for i := range f.Judged {
		if f.Judged[i].Profile == profile {
			return &f.Judged[i]
		}
	}
	return nil
}

// about are the parts that a finding names: the first one, if it is about the
// session. A finding about history that is not sent names none.
func (r *Request) about(f *check.Finding) []*Part {
	if len(f.Items) == 0 {
		return []*Part{&r.Parts[0]}
	}
	var parts []*Part
	for i := range r.Parts {
		if item := r.Parts[i].Row.Item; item >= 0 && slices.Contains(f.Items, item) {
			parts = append(parts, &r.Parts[i])
		}
	}
	return parts
}

// adjust says of parts what is sent instead. That the rule has a finding there,
// and why the runtime leaves a part out, needs no other word.
func adjust(parts []*Part, a Adjustment) {
	for _, p := range parts {
		if a.Runtime && p.Unsent {
			p.Why = ""
		}
		p.Adjusted = append(p.Adjusted, a)
		p.Row.Notes = slices.DeleteFunc(slices.Clone(p.Row.Notes), func(n Note) bool { return n.Rule == a.Rule })
	}
}

// refuse adds a rejection that is not about pairs. A blank message that is
// refused is one that was sent.
func (p *Part) refuse(rule, text string, profile *rules.Profile) {
	if p.Unsent && p.Row.Stored.Flags.Has(session.Blank) {
		p.Unsent, p.Role = false, wireRoles[profile.Shape].of(p.Row.Stored)
	}
	for i := range p.Rejected {
		if known := &p.Rejected[i]; text != "" && known.Error == text {
			if !slices.Contains(known.Rules, rule) {
				known.Rules = append(known.Rules, rule)
			}
			return
		}
	}
	p.Rejected = append(p.Rejected, Rejection{Rules: []string{rule}, Error: text})
}
