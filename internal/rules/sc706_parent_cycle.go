package rules

import "github.com/sessctl/sessctl/internal/session"

var parentCycle = Rule{
	ID: "SC706", Name: "parent-cycle", Severity: Error, Safety: Lossless, Scope: PerTree, Since: "0.1.0",
	Title: "sessions that are each other's parents or refer to each other",
	Run: func(p *Pass) {
		faults(session.ParentCycle, parentLoop)(p)
		for _, s := range p.Subjects {
			for i := range s.Items {
				if s.Items[i].Kind == session.SubSession && p.leadsUp(s.Session, s.Items[i].Child) {
					p.Report(p.referenceLoop(s, i))
				}
			}
		}
	},
}

// parentLoop words a loop of recorded parents. Only a session that names itself
// can be told what to do.
func parentLoop(found *Finding, f *session.Fault) {
	found.Message = "the parents form a loop (" + f.Detail + "): readers that follow it never end, and deleting one deletes all"
	found.Fixes = []Fix{{Title: "decide which session is the root", Safety: Manual}}
	if s := found.Session; s != nil && s.Parent == s.ID {
		found.Message = "the session is its own parent: readers that follow the link never end"
		found.Fixes = []Fix{{
			Title: "clear the link", Safety: Lossless,
			Edits: []session.Edit{{Op: session.Set, Ref: s.Ref(), Field: "parent_id"}},
		}}
	}
}

// referenceLoop words an item whose reference leads back up.
func (p *Pass) referenceLoop(s *Subject, item int) Finding {
	f := p.find(s.Session, item)
	f.Message = "the item refers to session " + Short(s.Items[item].Child) + ", which this one belongs to: readers that load it never end"
	if s.Items[item].Child == s.ID {
		f.Message = "the item refers to its own session: readers that load it never end"
	}
	f.Fixes = []Fix{{Title: "decide which reference is wrong", Safety: Manual}}
	return f
}
