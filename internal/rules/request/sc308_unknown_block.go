package request

import (
	"cmp"

	"github.com/sessctl/sessctl/internal/lists"
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var unknownBlock = rules.Rule{
	ID: "SC308", Name: "unknown-block", Severity: rules.Warning, Safety: rules.None, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "an unknown role or part of a message",
	Run: func(p *rules.Pass) {
		rules.ReportFaults(session.UnknownPart, func(_ *rules.Pass, found *rules.Finding, f *session.Fault) {
			found.Message = rules.QuoteText(f.Field) + " is an unknown role or part of a message, so the model may never see it"
			found.Message = cmp.Or(f.Detail, found.Message)
			found.Discreet = rules.WithoutValues(found.Message)
		})(p)
		for _, s := range p.Subjects {
			reportUnknownBlocks(p, s)
		}
	},
}

// reportUnknownBlocks reports the parts that no fault tells of.
func reportUnknownBlocks(p *rules.Pass, s *rules.Subject) {
	var items []int
	var names []string
	told := s.FaultyItems(session.UnknownPart)
	for i := range s.Items {
		if !s.Items[i].HasBlock(session.UnknownBlock) || told[i] {
			continue
		}
		items = append(items, i)
		for n := range s.Items[i].Blocks {
			if b := &s.Items[i].Blocks[n]; b.Kind == session.UnknownBlock {
				names = lists.AppendNew(names, rules.QuoteText(b.Name))
			}
		}
	}
	p.ReportItems(s.Session, items, func(f *rules.Finding) {
		f.Message = rules.CountedNoun(len(items), "message") + rules.VerbForm(len(items), " has", " have") + " parts of an unknown type (" + rules.JoinWords(names) + "), which the model may never see"
		f.Discreet = rules.WithoutValues(f.Message)
	})
}
