package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var badUnicode = rules.Rule{
	ID: "SC606", Name: "bad-unicode", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a stored text is not Unicode, so that no request can hold it",
	Run: func(p *rules.Pass) {
		rules.Faults(session.BadUnicode, func(found *rules.Finding, f *session.Fault) {
			found.Message = f.Field + " is no Unicode text, which no provider can read: " + f.Detail
			s := p.Subject(found.Session)
			switch {
			case s == nil || found.Item < 0:
			case !s.InRequest(found.Item) && (s.Closed || found.Item != s.LastSummary()):
				found.Severity = rules.Info
				found.Message += s.Because(found.Item)
			default:
				found.Failing = func(profile *rules.Profile) string { return profile.Error("SC606", rules.Said{}) }
				found.Fixes = []rules.Fix{{
					Title:  "replace bytes that are not valid Unicode with U+FFFD; the receipt keeps the old record",
					Safety: rules.Kept,
					Edits:  []session.Edit{{Op: session.Scrub, Ref: found.Ref}},
				}}
			}
		})(p)
	},
}
