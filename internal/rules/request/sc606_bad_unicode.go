package request

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var badUnicode = rules.Rule{
	ID: "SC606", Name: "bad-unicode", Severity: rules.Error, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a stored text is not valid Unicode, so no request can contain it",
	Run: rules.ReportFaults(session.BadUnicode, func(p *rules.Pass, found *rules.Finding, f *session.Fault) {
		found.Message = f.Field + " is not valid Unicode: " + f.Detail
		s, lost := p.SubjectOf(found.Session), p.Store.Loses["SC606"] != ""
		if !lost {
			found.AddSentence("No provider can read such text")
		}
		switch {
		case lost && found.Item < 0: // a title
			found.Severity = rules.Info
		case s == nil || found.Item < 0:
		case !s.InRequest(found.Item) && (s.Closed || found.Item != s.LastSummary()):
			found.Severity = rules.Info
			found.AddSentence(s.HistoryReason(found.Item))
		default:
			found.Failing = func(profile *rules.Profile) string { return profile.ErrorText("SC606", rules.Said{}) }
			if lost { // a repair could store only what is read already
				return
			}
			found.SetFix(rules.Kept, "replace bytes that are not valid Unicode with U+FFFD; the receipt keeps the old record",
				session.Edit{Op: session.Scrub, Ref: found.Ref})
		}
	}),
}
