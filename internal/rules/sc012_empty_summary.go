package rules

import "github.com/sessctl/sessctl/internal/session"

var emptySummary = Rule{
	ID: "SC012", Name: "empty-summary", Severity: Warning, Safety: Kept, Scope: PerTree | PerStore, Since: "0.1.0",
	Title: "a summary without text, or with usage that does not parse",
	Run: faults(session.BadSummary, func(found *Finding, f *session.Fault) {
		found.Message = f.Detail
		setDefault(found, f, Kept)
	}),
}
