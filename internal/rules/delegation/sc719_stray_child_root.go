package delegation

import (
	"slices"

	"github.com/sessctl/sessctl/internal/rules"
)

var strayChildRoot = rules.Rule{
	ID: "SC719", Name: "stray-child-root", Severity: rules.Warning, Safety: rules.Manual, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a session without a parent that looks like a sub-session",
	Run: func(p *rules.Pass) {
		refs := ListReferrers(p)
		for _, s := range p.Subjects {
			if s.Parent != "" || len(refs[s.ID]) > 0 || s.Caller != nil {
				continue
			}
			f := p.FindSession(s.Session)
			switch {
			case s.LooksDelegated():
				f.Message = "the session " + rules.QuoteText(s.Title) + " begins like a sub-session but has no parent. Its parent was deleted, or an old version stored it twice."
			case s.Delegated && !isNamedByCall(p, s.ID):
				f.Severity = rules.Info
				f.Message = "a call of another agent started this session, and that call is not stored. Its conversation was deleted, or is stored elsewhere."
			default:
				continue
			}
			p.Report(f)
		}
	},
}

// isNamedByCall reports whether any call of the tree leads to a session, whether it can have
// started it or not: one that leads back up is SC706.
func isNamedByCall(p *rules.Pass, id string) bool {
	return slices.ContainsFunc(p.Subjects, func(s *rules.Subject) bool { return namedIn(s.Session, id) })
}
