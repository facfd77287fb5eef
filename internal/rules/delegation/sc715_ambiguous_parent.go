package delegation

import (
	"fmt"

	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var ambiguousParent = rules.Rule{
	ID: "SC715", Name: "ambiguous-parent", Severity: rules.Warning, Safety: rules.Lossless, Scope: rules.PerTree, Since: "0.1.0",
	Title: "several items or sessions claim one sub-session",
	Run: func(p *rules.Pass) {
		refs := ListReferrers(p)
		for _, s := range p.Subjects {
			places := refs[s.ID]
			if len(places) == 0 || len(places) == 1 && places[0].Session == s.Parent {
				continue
			}
			if len(places) > 1 && toldBySharing(p, s.ID, places) {
				continue
			}
			f := p.FindSession(s.Session)
			f.Related = places
			switch {
			case len(places) > 1:
				f.Message = fmt.Sprintf("%d items refer to this sub-session, and only one call can have started it", len(places))
			case s.Parent == "":
				f.Message = "session " + rules.ShortID(places[0].Session) + " refers to this sub-session, which names no parent"
				f.AddSentence("Lists of sessions show it as a session of its own")
				f.SetFix(rules.Lossless, "record session "+rules.ShortID(places[0].Session)+" as its parent",
					session.Edit{Op: session.Set, Ref: s.Ref(), Field: "parent_id", Value: &places[0].Session})
			default:
				f.Message = "session " + rules.ShortID(places[0].Session) + " refers to this sub-session, but its recorded parent is " + rules.ShortID(s.Parent)
			}
			p.Report(f)
		}
	},
}
