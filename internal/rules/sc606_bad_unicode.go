package rules

import "github.com/sessctl/sessctl/internal/session"

var badUnicode = Rule{
	ID: "SC606", Name: "bad-unicode", Severity: Error, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a stored text is not Unicode, so that no request can hold it",
	Run: func(p *Pass) {
		faults(session.BadUnicode, func(found *Finding, f *session.Fault) {
			found.Message = f.Field + " is no Unicode text, which no provider can read: " + f.Detail
			s := p.subject(found.Session)
			switch {
			case s == nil || found.Item < 0:
			case !s.inRequest(found.Item) && (s.Closed || found.Item != s.LastSummary()):
				found.Severity = Info
				found.Message += s.because(found.Item)
			default:
				found.failing = func(profile *Profile) string { return profile.Error("SC606", Said{}) }
				found.Fixes = []Fix{{
					Title:  "put U+FFFD in place of what is no Unicode; the record as it was stays in the receipt",
					Safety: Kept,
					Edits:  []session.Edit{{Op: session.Scrub, Ref: found.Ref}},
				}}
			}
		})(p)
	},
}
