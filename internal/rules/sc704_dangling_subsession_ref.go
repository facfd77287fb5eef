package rules

import "github.com/sessctl/sessctl/internal/session"

var danglingReference = Rule{
	ID: "SC704", Name: "dangling-subsession-ref", Severity: Warning, Safety: None, Scope: PerTree, Since: "0.1.0",
	Title: "a reference to a sub-session that is gone",
	Run: func(p *Pass) {
		for _, s := range p.Subjects {
			for i := range s.Items {
				if !s.Items[i].Flags.Has(session.Dangling) {
					continue
				}
				f := p.find(s.Session, i)
				f.Message = "the item refers to a sub-session that was deleted; readers skip it"
				if id := s.Items[i].Child; id != "" {
					f.Message = "the item refers to sub-session " + Short(id) + ", which does not exist; readers skip it"
				}
				f.Fixes = []Fix{{
					Title:  "take the reference out of the session; it stays in the receipt",
					Safety: Kept, Allow: []string{"prune"},
					Edits: []session.Edit{{Op: session.Quarantine, Ref: f.Ref}},
				}}
				p.Report(f)
			}
		}
	},
}
