package damage

import (
	"github.com/sessctl/sessctl/internal/rules"
	"github.com/sessctl/sessctl/internal/session"
)

var emptySummary = rules.Rule{
	ID: "SC012", Name: "empty-summary", Severity: rules.Warning, Safety: rules.Kept, Scope: rules.PerTree | rules.PerStore, Since: "0.1.0",
	Title: "a summary without text, or with usage that cannot be parsed",
	Run: rules.Faults(session.BadSummary, func(found *rules.Finding, f *session.Fault) {
		found.Message = f.Detail
		rules.SetDefault(found, f, rules.Kept)
	}),
}
