package rules

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/session"
)

var ambiguousParent = Rule{
	ID: "SC715", Name: "ambiguous-parent", Severity: Warning, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "several items or sessions claim one sub-session",
	Run: func(p *Pass) {
		refs := p.referrers()
		for _, s := range p.Subjects {
			places := refs[s.ID]
			if len(places) == 0 || len(places) == 1 && places[0].Session == s.Parent {
				continue
			}
			if len(places) > 1 && p.toldBySharing(s.ID, places) {
				continue
			}
			f := p.findSession(s.Session)
			f.Related = places
			switch {
			case len(places) > 1:
				f.Message = fmt.Sprintf("%d items refer to this sub-session; only one delegation can have started it", len(places))
			case s.Parent == "":
				f.Message = "session " + Short(places[0].Session) + " refers to this one as its sub-session, but it names no parent: " +
					"lists show it as a session of its own"
				f.Fixes = []Fix{{
					Title: "record the session that refers to it as its parent", Safety: Lossless,
					Edits: []session.Edit{{Op: session.Set, Ref: s.Ref(), Field: "parent_id", Value: &places[0].Session}},
				}}
			default:
				f.Message = "session " + Short(places[0].Session) + " refers to this sub-session, but its recorded parent is " + Short(s.Parent)
			}
			p.Report(f)
		}
	},
}
