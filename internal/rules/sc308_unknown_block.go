package rules

import "github.com/sessctl/sessctl/internal/session"

var unknownBlock = Rule{
	ID: "SC308", Name: "unknown-block", Severity: Warning, Safety: None, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a role or a part of a message that nobody knows",
	Run: func(p *Pass) {
		faults(session.UnknownPart, func(found *Finding, f *session.Fault) {
			found.Message = quoted(f.Field) + " is no known role or part of a message, so the model may never see what it says"
			if f.Detail != "" {
				found.Message = f.Detail
			}
			found.Discreet = withoutValues(found.Message)
		})(p)
		for _, s := range p.Subjects {
			p.reportUnknownBlocks(s)
		}
	},
}

// reportUnknownBlocks reports the parts that no fault tells of.
func (p *Pass) reportUnknownBlocks(s *Subject) {
	var items []int
	var names []string
	told, seen := s.faulty(session.UnknownPart), map[string]bool{}
	for i := range s.Items {
		if !s.Items[i].Has(session.UnknownBlock) || told[i] {
			continue
		}
		items = append(items, i)
		for n := range s.Items[i].Blocks {
			if b := &s.Items[i].Blocks[n]; b.Kind == session.UnknownBlock && !seen[b.Name] {
				seen[b.Name] = true
				names = append(names, quoted(b.Name))
			}
		}
	}
	if len(items) == 0 {
		return
	}
	f := p.find(s.Session, items[0])
	f.Items = items
	f.Message = count(len(items), "message") + " with parts of a type that is not known (" + list(names) + "), so the model may never see what they say"
	f.Discreet = withoutValues(f.Message)
	p.Report(f)
}
