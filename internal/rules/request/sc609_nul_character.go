package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var nulCharacter = rules.Rule{
	ID: "SC609", Name: "nul-character", Severity: rules.Warning, Safety: rules.None, Allow: lossy, Scope: rules.PerTree, Since: "0.1.0",
	Title: "a text of the next request has the character U+0000", Profiled: true,
	Run: rules.ReportFaults(session.NulCharacter, func(p *rules.Pass, found *rules.Finding, _ *session.Fault) {
		found.Message = "a text has the character U+0000"
		s := p.SubjectOf(found.Session)
		switch {
		case s == nil || found.Item < 0:
		case !s.InRequest(found.Item):
			found.Severity = rules.Info
			found.AddSentence(s.HistoryReason(found.Item))
		default:
			found.AddSentence("Some clients cut the request off there")
			found.Failing = func(profile *rules.Profile) string { return profile.ErrorText("SC609", rules.Said{}) }
			if p.Store.Omits {
				found.Fixes = []rules.Fix{{
					Title:  `show each U+0000 as the text \u0000; the receipt keeps the old record`,
					Safety: rules.Kept, Allow: []string{lossy},
					Edits: []session.Edit{{Op: session.Scrub, Ref: found.Ref, Field: session.FieldNUL}},
				}}
			}
		}
	}),
}
